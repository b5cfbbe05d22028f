/*
 * Fields and types of the objects that every cluster of Kubernetes 1.36 knows. Written by scripts/kubernetes-facts.ts.
 * s: text, i: whole number, n: number, b: true or false, *: anything, []: list of, {}: map to; else the name of a block.
 */

export const KUBERNETES_KINDS = `
apps/v1 ControllerRevision: data *, revision i
apps/v1 DaemonSet: spec DaemonSetSpec, status DaemonSetStatus
apps/v1 Deployment: spec DeploymentSpec, status DeploymentStatus
apps/v1 ReplicaSet: spec ReplicaSetSpec, status ReplicaSetStatus
apps/v1 StatefulSet: spec StatefulSetSpec, status StatefulSetStatus
autoscaling/v1 HorizontalPodAutoscaler: spec HorizontalPodAutoscalerSpec, status HorizontalPodAutoscalerStatus
autoscaling/v2 HorizontalPodAutoscaler: spec autoscaling-HorizontalPodAutoscalerSpec, status autoscaling-HorizontalPodAutoscalerStatus
batch/v1 CronJob: spec CronJobSpec, status CronJobStatus
batch/v1 Job: spec JobSpec, status JobStatus
networking.k8s.io/v1 IPAddress: spec IPAddressSpec
networking.k8s.io/v1 Ingress: spec IngressSpec, status IngressStatus
networking.k8s.io/v1 IngressClass: spec IngressClassSpec
networking.k8s.io/v1 NetworkPolicy: spec NetworkPolicySpec
networking.k8s.io/v1 ServiceCIDR: spec ServiceCIDRSpec, status ServiceCIDRStatus
policy/v1 PodDisruptionBudget: spec PodDisruptionBudgetSpec, status PodDisruptionBudgetStatus
rbac.authorization.k8s.io/v1 ClusterRole: aggregationRule AggregationRule, rules []PolicyRule
rbac.authorization.k8s.io/v1 ClusterRoleBinding: roleRef RoleRef, subjects []Subject
rbac.authorization.k8s.io/v1 Role: rules []PolicyRule
rbac.authorization.k8s.io/v1 RoleBinding: roleRef RoleRef, subjects []Subject
scheduling.k8s.io/v1 PriorityClass: description s, globalDefault b, preemptionPolicy s, value i
storage.k8s.io/v1 CSIDriver: spec CSIDriverSpec
storage.k8s.io/v1 CSINode: spec CSINodeSpec
storage.k8s.io/v1 CSIStorageCapacity: capacity *, maximumVolumeSize *, nodeTopology LabelSelector, storageClassName s
storage.k8s.io/v1 StorageClass: allowVolumeExpansion b, allowedTopologies []TopologySelectorTerm, mountOptions []s, parameters {}s, provisioner s, reclaimPolicy s, volumeBindingMode s
storage.k8s.io/v1 VolumeAttachment: spec VolumeAttachmentSpec, status VolumeAttachmentStatus
storage.k8s.io/v1 VolumeAttributesClass: driverName s, parameters {}s
v1 Binding: target ObjectReference
v1 ComponentStatus: conditions []ComponentCondition
v1 ConfigMap: binaryData {}s, data {}s, immutable b
v1 Endpoints: subsets []EndpointSubset
v1 Event: action s, count i, eventTime s, firstTimestamp s, involvedObject ObjectReference, lastTimestamp s, message s, reason s, related ObjectReference, reportingComponent s, reportingInstance s, series EventSeries, source EventSource, type s
v1 LimitRange: spec LimitRangeSpec
v1 Namespace: spec NamespaceSpec, status NamespaceStatus
v1 Node: spec NodeSpec, status NodeStatus
v1 PersistentVolume: spec PersistentVolumeSpec, status PersistentVolumeStatus
v1 PersistentVolumeClaim: spec PersistentVolumeClaimSpec, status PersistentVolumeClaimStatus
v1 Pod: spec PodSpec, status PodStatus
v1 PodTemplate: template PodTemplateSpec
v1 ReplicationController: spec ReplicationControllerSpec, status ReplicationControllerStatus
v1 ResourceQuota: spec ResourceQuotaSpec, status ResourceQuotaStatus
v1 Secret: data {}s, immutable b, stringData {}s, type s
v1 Service: spec ServiceSpec, status ServiceStatus
v1 ServiceAccount: automountServiceAccountToken b, imagePullSecrets []LocalObjectReference, secrets []ObjectReference
v1 Status: code i, details StatusDetails, message s, reason s, status s
`

export const KUBERNETES_BLOCKS = `
AWSElasticBlockStoreVolumeSource: fsType s, partition i, readOnly b, volumeID s
Affinity: nodeAffinity NodeAffinity, podAffinity PodAffinity, podAntiAffinity PodAntiAffinity
AggregationRule: clusterRoleSelectors []LabelSelector
AppArmorProfile: localhostProfile s, type s
AttachedVolume: devicePath s, name s
AzureDiskVolumeSource: cachingMode s, diskName s, diskURI s, fsType s, kind s, readOnly b
AzureFilePersistentVolumeSource: readOnly b, secretName s, secretNamespace s, shareName s
AzureFileVolumeSource: readOnly b, secretName s, shareName s
CSIDriverSpec: attachRequired b, fsGroupPolicy s, nodeAllocatableUpdatePeriodSeconds i, podInfoOnMount b, preventPodSchedulingIfMissing b, requiresRepublish b, seLinuxMount b, serviceAccountTokenInSecrets b, storageCapacity b, tokenRequests []TokenRequest, volumeLifecycleModes []s
CSINodeDriver: allocatable VolumeNodeResources, name s, nodeID s, topologyKeys []s
CSINodeSpec: drivers []CSINodeDriver
CSIPersistentVolumeSource: controllerExpandSecretRef SecretReference, controllerPublishSecretRef SecretReference, driver s, fsType s, nodeExpandSecretRef SecretReference, nodePublishSecretRef SecretReference, nodeStageSecretRef SecretReference, readOnly b, volumeAttributes {}s, volumeHandle s
CSIVolumeSource: driver s, fsType s, nodePublishSecretRef LocalObjectReference, readOnly b, volumeAttributes {}s
Capabilities: add []s, drop []s
CephFSPersistentVolumeSource: monitors []s, path s, readOnly b, secretFile s, secretRef SecretReference, user s
CephFSVolumeSource: monitors []s, path s, readOnly b, secretFile s, secretRef LocalObjectReference, user s
CinderPersistentVolumeSource: fsType s, readOnly b, secretRef SecretReference, volumeID s
CinderVolumeSource: fsType s, readOnly b, secretRef LocalObjectReference, volumeID s
ClientIPConfig: timeoutSeconds i
ClusterTrustBundleProjection: labelSelector LabelSelector, name s, optional b, path s, signerName s
ComponentCondition: error s, message s, status s, type s
Condition: lastTransitionTime s, message s, observedGeneration i, reason s, status s, type s
ConfigMapEnvSource: name s, optional b
ConfigMapKeySelector: key s, name s, optional b
ConfigMapNodeConfigSource: kubeletConfigKey s, name s, namespace s, resourceVersion s, uid s
ConfigMapProjection: items []KeyToPath, name s, optional b
ConfigMapVolumeSource: defaultMode i, items []KeyToPath, name s, optional b
Container: args []s, command []s, env []EnvVar, envFrom []EnvFromSource, image s, imagePullPolicy s, lifecycle Lifecycle, livenessProbe Probe, name s, ports []ContainerPort, readinessProbe Probe, resizePolicy []ContainerResizePolicy, resources ResourceRequirements, restartPolicy s, restartPolicyRules []ContainerRestartRule, securityContext SecurityContext, startupProbe Probe, stdin b, stdinOnce b, terminationMessagePath s, terminationMessagePolicy s, tty b, volumeDevices []VolumeDevice, volumeMounts []VolumeMount, workingDir s
ContainerExtendedResourceRequest: containerName s, requestName s, resourceName s
ContainerImage: names []s, sizeBytes i
ContainerPort: containerPort i, hostIP s, hostPort i, name s, protocol s
ContainerResizePolicy: resourceName s, restartPolicy s
ContainerResourceMetricSource: container s, name s, target MetricTarget
ContainerResourceMetricStatus: container s, current MetricValueStatus, name s
ContainerRestartRule: action s, exitCodes ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: operator s, values []i
ContainerState: running ContainerStateRunning, terminated ContainerStateTerminated, waiting ContainerStateWaiting
ContainerStateRunning: startedAt s
ContainerStateTerminated: containerID s, exitCode i, finishedAt s, message s, reason s, signal i, startedAt s
ContainerStateWaiting: message s, reason s
ContainerStatus: allocatedResources {}*, allocatedResourcesStatus []ResourceStatus, containerID s, image s, imageID s, lastState ContainerState, name s, ready b, resources ResourceRequirements, restartCount i, started b, state ContainerState, stopSignal s, user ContainerUser, volumeMounts []VolumeMountStatus
ContainerUser: linux LinuxContainerUser
CronJobSpec: concurrencyPolicy s, failedJobsHistoryLimit i, jobTemplate JobTemplateSpec, schedule s, startingDeadlineSeconds i, successfulJobsHistoryLimit i, suspend b, timeZone s
CronJobStatus: active []ObjectReference, lastScheduleTime s, lastSuccessfulTime s
CrossVersionObjectReference: apiVersion s, kind s, name s
DaemonEndpoint: Port i
DaemonSetCondition: lastTransitionTime s, message s, reason s, status s, type s
DaemonSetSpec: minReadySeconds i, revisionHistoryLimit i, selector LabelSelector, template PodTemplateSpec, updateStrategy DaemonSetUpdateStrategy
DaemonSetStatus: collisionCount i, conditions []DaemonSetCondition, currentNumberScheduled i, desiredNumberScheduled i, numberAvailable i, numberMisscheduled i, numberReady i, numberUnavailable i, observedGeneration i, updatedNumberScheduled i
DaemonSetUpdateStrategy: rollingUpdate RollingUpdateDaemonSet, type s
DeploymentCondition: lastTransitionTime s, lastUpdateTime s, message s, reason s, status s, type s
DeploymentSpec: minReadySeconds i, paused b, progressDeadlineSeconds i, replicas i, revisionHistoryLimit i, selector LabelSelector, strategy DeploymentStrategy, template PodTemplateSpec
DeploymentStatus: availableReplicas i, collisionCount i, conditions []DeploymentCondition, observedGeneration i, readyReplicas i, replicas i, terminatingReplicas i, unavailableReplicas i, updatedReplicas i
DeploymentStrategy: rollingUpdate RollingUpdateDeployment, type s
DownwardAPIProjection: items []DownwardAPIVolumeFile
DownwardAPIVolumeFile: fieldRef ObjectFieldSelector, mode i, path s, resourceFieldRef ResourceFieldSelector
DownwardAPIVolumeSource: defaultMode i, items []DownwardAPIVolumeFile
EmptyDirVolumeSource: medium s, sizeLimit *
EndpointAddress: hostname s, ip s, nodeName s, targetRef ObjectReference
EndpointPort: appProtocol s, name s, port i, protocol s
EndpointSubset: addresses []EndpointAddress, notReadyAddresses []EndpointAddress, ports []EndpointPort
EnvFromSource: configMapRef ConfigMapEnvSource, prefix s, secretRef SecretEnvSource
EnvVar: name s, value s, valueFrom EnvVarSource
EnvVarSource: configMapKeyRef ConfigMapKeySelector, fieldRef ObjectFieldSelector, fileKeyRef FileKeySelector, resourceFieldRef ResourceFieldSelector, secretKeyRef SecretKeySelector
EphemeralContainer: args []s, command []s, env []EnvVar, envFrom []EnvFromSource, image s, imagePullPolicy s, lifecycle Lifecycle, livenessProbe Probe, name s, ports []ContainerPort, readinessProbe Probe, resizePolicy []ContainerResizePolicy, resources ResourceRequirements, restartPolicy s, restartPolicyRules []ContainerRestartRule, securityContext SecurityContext, startupProbe Probe, stdin b, stdinOnce b, targetContainerName s, terminationMessagePath s, terminationMessagePolicy s, tty b, volumeDevices []VolumeDevice, volumeMounts []VolumeMount, workingDir s
EphemeralVolumeSource: volumeClaimTemplate PersistentVolumeClaimTemplate
EventSeries: count i, lastObservedTime s
EventSource: component s, host s
ExecAction: command []s
ExternalMetricSource: metric MetricIdentifier, target MetricTarget
ExternalMetricStatus: current MetricValueStatus, metric MetricIdentifier
FCVolumeSource: fsType s, lun i, readOnly b, targetWWNs []s, wwids []s
FileKeySelector: key s, optional b, path s, volumeName s
FlexPersistentVolumeSource: driver s, fsType s, options {}s, readOnly b, secretRef SecretReference
FlexVolumeSource: driver s, fsType s, options {}s, readOnly b, secretRef LocalObjectReference
FlockerVolumeSource: datasetName s, datasetUUID s
GCEPersistentDiskVolumeSource: fsType s, partition i, pdName s, readOnly b
GRPCAction: port i, service s
GitRepoVolumeSource: directory s, repository s, revision s
GlusterfsPersistentVolumeSource: endpoints s, endpointsNamespace s, path s, readOnly b
GlusterfsVolumeSource: endpoints s, path s, readOnly b
HPAScalingPolicy: periodSeconds i, type s, value i
HPAScalingRules: policies []HPAScalingPolicy, selectPolicy s, stabilizationWindowSeconds i, tolerance *
HTTPGetAction: host s, httpHeaders []HTTPHeader, path s, port *, scheme s
HTTPHeader: name s, value s
HTTPIngressPath: backend IngressBackend, path s, pathType s
HTTPIngressRuleValue: paths []HTTPIngressPath
HorizontalPodAutoscalerBehavior: scaleDown HPAScalingRules, scaleUp HPAScalingRules
HorizontalPodAutoscalerCondition: lastTransitionTime s, message s, reason s, status s, type s
HorizontalPodAutoscalerSpec: maxReplicas i, minReplicas i, scaleTargetRef CrossVersionObjectReference, targetCPUUtilizationPercentage i
HorizontalPodAutoscalerStatus: currentCPUUtilizationPercentage i, currentReplicas i, desiredReplicas i, lastScaleTime s, observedGeneration i
HostAlias: hostnames []s, ip s
HostIP: ip s
HostPathVolumeSource: path s, type s
IPAddressSpec: parentRef ParentReference
IPBlock: cidr s, except []s
ISCSIPersistentVolumeSource: chapAuthDiscovery b, chapAuthSession b, fsType s, initiatorName s, iqn s, iscsiInterface s, lun i, portals []s, readOnly b, secretRef SecretReference, targetPortal s
ISCSIVolumeSource: chapAuthDiscovery b, chapAuthSession b, fsType s, initiatorName s, iqn s, iscsiInterface s, lun i, portals []s, readOnly b, secretRef LocalObjectReference, targetPortal s
ImageVolumeSource: pullPolicy s, reference s
ImageVolumeStatus: imageRef s
IngressBackend: resource TypedLocalObjectReference, service IngressServiceBackend
IngressClassParametersReference: apiGroup s, kind s, name s, namespace s, scope s
IngressClassSpec: controller s, parameters IngressClassParametersReference
IngressLoadBalancerIngress: hostname s, ip s, ports []IngressPortStatus
IngressLoadBalancerStatus: ingress []IngressLoadBalancerIngress
IngressPortStatus: error s, port i, protocol s
IngressRule: host s, http HTTPIngressRuleValue
IngressServiceBackend: name s, port ServiceBackendPort
IngressSpec: defaultBackend IngressBackend, ingressClassName s, rules []IngressRule, tls []IngressTLS
IngressStatus: loadBalancer IngressLoadBalancerStatus
IngressTLS: hosts []s, secretName s
JobCondition: lastProbeTime s, lastTransitionTime s, message s, reason s, status s, type s
JobSpec: activeDeadlineSeconds i, backoffLimit i, backoffLimitPerIndex i, completionMode s, completions i, managedBy s, manualSelector b, maxFailedIndexes i, parallelism i, podFailurePolicy PodFailurePolicy, podReplacementPolicy s, selector LabelSelector, successPolicy SuccessPolicy, suspend b, template PodTemplateSpec, ttlSecondsAfterFinished i
JobStatus: active i, completedIndexes s, completionTime s, conditions []JobCondition, failed i, failedIndexes s, ready i, startTime s, succeeded i, terminating i, uncountedTerminatedPods UncountedTerminatedPods
JobTemplateSpec: metadata ObjectMeta, spec JobSpec
KeyToPath: key s, mode i, path s
LabelSelector: matchExpressions []LabelSelectorRequirement, matchLabels {}s
LabelSelectorRequirement: key s, operator s, values []s
Lifecycle: postStart LifecycleHandler, preStop LifecycleHandler, stopSignal s
LifecycleHandler: exec ExecAction, httpGet HTTPGetAction, sleep SleepAction, tcpSocket TCPSocketAction
LimitRangeItem: default {}*, defaultRequest {}*, max {}*, maxLimitRequestRatio {}*, min {}*, type s
LimitRangeSpec: limits []LimitRangeItem
LinuxContainerUser: gid i, supplementalGroups []i, uid i
LoadBalancerIngress: hostname s, ip s, ipMode s, ports []PortStatus
LoadBalancerStatus: ingress []LoadBalancerIngress
LocalObjectReference: name s
LocalVolumeSource: fsType s, path s
ManagedFieldsEntry: apiVersion s, fieldsType s, fieldsV1 *, manager s, operation s, subresource s, time s
MetricIdentifier: name s, selector LabelSelector
MetricSpec: containerResource ContainerResourceMetricSource, external ExternalMetricSource, object ObjectMetricSource, pods PodsMetricSource, resource ResourceMetricSource, type s
MetricStatus: containerResource ContainerResourceMetricStatus, external ExternalMetricStatus, object ObjectMetricStatus, pods PodsMetricStatus, resource ResourceMetricStatus, type s
MetricTarget: averageUtilization i, averageValue *, type s, value *
MetricValueStatus: averageUtilization i, averageValue *, value *
ModifyVolumeStatus: status s, targetVolumeAttributesClassName s
NFSVolumeSource: path s, readOnly b, server s
NamespaceCondition: lastTransitionTime s, message s, reason s, status s, type s
NamespaceSpec: finalizers []s
NamespaceStatus: conditions []NamespaceCondition, phase s
NetworkPolicyEgressRule: ports []NetworkPolicyPort, to []NetworkPolicyPeer
NetworkPolicyIngressRule: from []NetworkPolicyPeer, ports []NetworkPolicyPort
NetworkPolicyPeer: ipBlock IPBlock, namespaceSelector LabelSelector, podSelector LabelSelector
NetworkPolicyPort: endPort i, port *, protocol s
NetworkPolicySpec: egress []NetworkPolicyEgressRule, ingress []NetworkPolicyIngressRule, podSelector LabelSelector, policyTypes []s
NodeAddress: address s, type s
NodeAffinity: preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm, requiredDuringSchedulingIgnoredDuringExecution NodeSelector
NodeAllocatableResourceClaimStatus: containers []s, resourceClaimName s, resources {}*
NodeCondition: lastHeartbeatTime s, lastTransitionTime s, message s, reason s, status s, type s
NodeConfigSource: configMap ConfigMapNodeConfigSource
NodeConfigStatus: active NodeConfigSource, assigned NodeConfigSource, error s, lastKnownGood NodeConfigSource
NodeDaemonEndpoints: kubeletEndpoint DaemonEndpoint
NodeFeatures: supplementalGroupsPolicy b
NodeRuntimeHandler: features NodeRuntimeHandlerFeatures, name s
NodeRuntimeHandlerFeatures: recursiveReadOnlyMounts b, userNamespaces b
NodeSelector: nodeSelectorTerms []NodeSelectorTerm
NodeSelectorRequirement: key s, operator s, values []s
NodeSelectorTerm: matchExpressions []NodeSelectorRequirement, matchFields []NodeSelectorRequirement
NodeSpec: configSource NodeConfigSource, externalID s, podCIDR s, podCIDRs []s, providerID s, taints []Taint, unschedulable b
NodeStatus: addresses []NodeAddress, allocatable {}*, capacity {}*, conditions []NodeCondition, config NodeConfigStatus, daemonEndpoints NodeDaemonEndpoints, declaredFeatures []s, features NodeFeatures, images []ContainerImage, nodeInfo NodeSystemInfo, phase s, runtimeHandlers []NodeRuntimeHandler, volumesAttached []AttachedVolume, volumesInUse []s
NodeSwapStatus: capacity i
NodeSystemInfo: architecture s, bootID s, containerRuntimeVersion s, kernelVersion s, kubeProxyVersion s, kubeletVersion s, machineID s, operatingSystem s, osImage s, swap NodeSwapStatus, systemUUID s
ObjectFieldSelector: apiVersion s, fieldPath s
ObjectMeta: annotations {}s, creationTimestamp s, deletionGracePeriodSeconds i, deletionTimestamp s, finalizers []s, generateName s, generation i, labels {}s, managedFields []ManagedFieldsEntry, name s, namespace s, ownerReferences []OwnerReference, resourceVersion s, selfLink s, uid s
ObjectMetricSource: describedObject autoscaling-CrossVersionObjectReference, metric MetricIdentifier, target MetricTarget
ObjectMetricStatus: current MetricValueStatus, describedObject autoscaling-CrossVersionObjectReference, metric MetricIdentifier
ObjectReference: apiVersion s, fieldPath s, kind s, name s, namespace s, resourceVersion s, uid s
OwnerReference: apiVersion s, blockOwnerDeletion b, controller b, kind s, name s, uid s
ParentReference: group s, name s, namespace s, resource s
PersistentVolumeClaim: apiVersion s, kind s, metadata ObjectMeta, spec PersistentVolumeClaimSpec, status PersistentVolumeClaimStatus
PersistentVolumeClaimCondition: lastProbeTime s, lastTransitionTime s, message s, reason s, status s, type s
PersistentVolumeClaimSpec: accessModes []s, dataSource TypedLocalObjectReference, dataSourceRef TypedObjectReference, resources VolumeResourceRequirements, selector LabelSelector, storageClassName s, volumeAttributesClassName s, volumeMode s, volumeName s
PersistentVolumeClaimStatus: accessModes []s, allocatedResourceStatuses {}s, allocatedResources {}*, capacity {}*, conditions []PersistentVolumeClaimCondition, currentVolumeAttributesClassName s, modifyVolumeStatus ModifyVolumeStatus, phase s
PersistentVolumeClaimTemplate: metadata ObjectMeta, spec PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource: claimName s, readOnly b
PersistentVolumeSpec: accessModes []s, awsElasticBlockStore AWSElasticBlockStoreVolumeSource, azureDisk AzureDiskVolumeSource, azureFile AzureFilePersistentVolumeSource, capacity {}*, cephfs CephFSPersistentVolumeSource, cinder CinderPersistentVolumeSource, claimRef ObjectReference, csi CSIPersistentVolumeSource, fc FCVolumeSource, flexVolume FlexPersistentVolumeSource, flocker FlockerVolumeSource, gcePersistentDisk GCEPersistentDiskVolumeSource, glusterfs GlusterfsPersistentVolumeSource, hostPath HostPathVolumeSource, iscsi ISCSIPersistentVolumeSource, local LocalVolumeSource, mountOptions []s, nfs NFSVolumeSource, nodeAffinity VolumeNodeAffinity, persistentVolumeReclaimPolicy s, photonPersistentDisk PhotonPersistentDiskVolumeSource, portworxVolume PortworxVolumeSource, quobyte QuobyteVolumeSource, rbd RBDPersistentVolumeSource, scaleIO ScaleIOPersistentVolumeSource, storageClassName s, storageos StorageOSPersistentVolumeSource, volumeAttributesClassName s, volumeMode s, vsphereVolume VsphereVirtualDiskVolumeSource
PersistentVolumeStatus: lastPhaseTransitionTime s, message s, phase s, reason s
PhotonPersistentDiskVolumeSource: fsType s, pdID s
PodAffinity: preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm, requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm
PodAffinityTerm: labelSelector LabelSelector, matchLabelKeys []s, mismatchLabelKeys []s, namespaceSelector LabelSelector, namespaces []s, topologyKey s
PodAntiAffinity: preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm, requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm
PodCertificateProjection: certificateChainPath s, credentialBundlePath s, keyPath s, keyType s, maxExpirationSeconds i, signerName s, userAnnotations {}s
PodCondition: lastProbeTime s, lastTransitionTime s, message s, observedGeneration i, reason s, status s, type s
PodDNSConfig: nameservers []s, options []PodDNSConfigOption, searches []s
PodDNSConfigOption: name s, value s
PodDisruptionBudgetSpec: maxUnavailable *, minAvailable *, selector LabelSelector, unhealthyPodEvictionPolicy s
PodDisruptionBudgetStatus: conditions []Condition, currentHealthy i, desiredHealthy i, disruptedPods {}s, disruptionsAllowed i, expectedPods i, observedGeneration i
PodExtendedResourceClaimStatus: requestMappings []ContainerExtendedResourceRequest, resourceClaimName s
PodFailurePolicy: rules []PodFailurePolicyRule
PodFailurePolicyOnExitCodesRequirement: containerName s, operator s, values []i
PodFailurePolicyOnPodConditionsPattern: status s, type s
PodFailurePolicyRule: action s, onExitCodes PodFailurePolicyOnExitCodesRequirement, onPodConditions []PodFailurePolicyOnPodConditionsPattern
PodIP: ip s
PodOS: name s
PodReadinessGate: conditionType s
PodResourceClaim: name s, resourceClaimName s, resourceClaimTemplateName s
PodResourceClaimStatus: name s, resourceClaimName s
PodSchedulingGate: name s
PodSchedulingGroup: podGroupName s
PodSecurityContext: appArmorProfile AppArmorProfile, fsGroup i, fsGroupChangePolicy s, runAsGroup i, runAsNonRoot b, runAsUser i, seLinuxChangePolicy s, seLinuxOptions SELinuxOptions, seccompProfile SeccompProfile, supplementalGroups []i, supplementalGroupsPolicy s, sysctls []Sysctl, windowsOptions WindowsSecurityContextOptions
PodSpec: activeDeadlineSeconds i, affinity Affinity, automountServiceAccountToken b, containers []Container, dnsConfig PodDNSConfig, dnsPolicy s, enableServiceLinks b, ephemeralContainers []EphemeralContainer, hostAliases []HostAlias, hostIPC b, hostNetwork b, hostPID b, hostUsers b, hostname s, hostnameOverride s, imagePullSecrets []LocalObjectReference, initContainers []Container, nodeName s, nodeSelector {}s, os PodOS, overhead {}*, preemptionPolicy s, priority i, priorityClassName s, readinessGates []PodReadinessGate, resourceClaims []PodResourceClaim, resources ResourceRequirements, restartPolicy s, runtimeClassName s, schedulerName s, schedulingGates []PodSchedulingGate, schedulingGroup PodSchedulingGroup, securityContext PodSecurityContext, serviceAccount s, serviceAccountName s, setHostnameAsFQDN b, shareProcessNamespace b, subdomain s, terminationGracePeriodSeconds i, tolerations []Toleration, topologySpreadConstraints []TopologySpreadConstraint, volumes []Volume
PodStatus: allocatedResources {}*, conditions []PodCondition, containerStatuses []ContainerStatus, ephemeralContainerStatuses []ContainerStatus, extendedResourceClaimStatus PodExtendedResourceClaimStatus, hostIP s, hostIPs []HostIP, initContainerStatuses []ContainerStatus, message s, nodeAllocatableResourceClaimStatuses []NodeAllocatableResourceClaimStatus, nominatedNodeName s, observedGeneration i, phase s, podIP s, podIPs []PodIP, qosClass s, reason s, resize s, resourceClaimStatuses []PodResourceClaimStatus, resources ResourceRequirements, startTime s
PodTemplateSpec: metadata ObjectMeta, spec PodSpec
PodsMetricSource: metric MetricIdentifier, target MetricTarget
PodsMetricStatus: current MetricValueStatus, metric MetricIdentifier
PolicyRule: apiGroups []s, nonResourceURLs []s, resourceNames []s, resources []s, verbs []s
PortStatus: error s, port i, protocol s
PortworxVolumeSource: fsType s, readOnly b, volumeID s
PreferredSchedulingTerm: preference NodeSelectorTerm, weight i
Probe: exec ExecAction, failureThreshold i, grpc GRPCAction, httpGet HTTPGetAction, initialDelaySeconds i, periodSeconds i, successThreshold i, tcpSocket TCPSocketAction, terminationGracePeriodSeconds i, timeoutSeconds i
ProjectedVolumeSource: defaultMode i, sources []VolumeProjection
QuobyteVolumeSource: group s, readOnly b, registry s, tenant s, user s, volume s
RBDPersistentVolumeSource: fsType s, image s, keyring s, monitors []s, pool s, readOnly b, secretRef SecretReference, user s
RBDVolumeSource: fsType s, image s, keyring s, monitors []s, pool s, readOnly b, secretRef LocalObjectReference, user s
ReplicaSetCondition: lastTransitionTime s, message s, reason s, status s, type s
ReplicaSetSpec: minReadySeconds i, replicas i, selector LabelSelector, template PodTemplateSpec
ReplicaSetStatus: availableReplicas i, conditions []ReplicaSetCondition, fullyLabeledReplicas i, observedGeneration i, readyReplicas i, replicas i, terminatingReplicas i
ReplicationControllerCondition: lastTransitionTime s, message s, reason s, status s, type s
ReplicationControllerSpec: minReadySeconds i, replicas i, selector {}s, template PodTemplateSpec
ReplicationControllerStatus: availableReplicas i, conditions []ReplicationControllerCondition, fullyLabeledReplicas i, observedGeneration i, readyReplicas i, replicas i
ResourceClaim: name s, request s
ResourceFieldSelector: containerName s, divisor *, resource s
ResourceHealth: health s, message s, resourceID s
ResourceMetricSource: name s, target MetricTarget
ResourceMetricStatus: current MetricValueStatus, name s
ResourceQuotaSpec: hard {}*, scopeSelector ScopeSelector, scopes []s
ResourceQuotaStatus: hard {}*, used {}*
ResourceRequirements: claims []ResourceClaim, limits {}*, requests {}*
ResourceStatus: name s, resources []ResourceHealth
RoleRef: apiGroup s, kind s, name s
RollingUpdateDaemonSet: maxSurge *, maxUnavailable *
RollingUpdateDeployment: maxSurge *, maxUnavailable *
RollingUpdateStatefulSetStrategy: maxUnavailable *, partition i
SELinuxOptions: level s, role s, type s, user s
ScaleIOPersistentVolumeSource: fsType s, gateway s, protectionDomain s, readOnly b, secretRef SecretReference, sslEnabled b, storageMode s, storagePool s, system s, volumeName s
ScaleIOVolumeSource: fsType s, gateway s, protectionDomain s, readOnly b, secretRef LocalObjectReference, sslEnabled b, storageMode s, storagePool s, system s, volumeName s
ScopeSelector: matchExpressions []ScopedResourceSelectorRequirement
ScopedResourceSelectorRequirement: operator s, scopeName s, values []s
SeccompProfile: localhostProfile s, type s
SecretEnvSource: name s, optional b
SecretKeySelector: key s, name s, optional b
SecretProjection: items []KeyToPath, name s, optional b
SecretReference: name s, namespace s
SecretVolumeSource: defaultMode i, items []KeyToPath, optional b, secretName s
SecurityContext: allowPrivilegeEscalation b, appArmorProfile AppArmorProfile, capabilities Capabilities, privileged b, procMount s, readOnlyRootFilesystem b, runAsGroup i, runAsNonRoot b, runAsUser i, seLinuxOptions SELinuxOptions, seccompProfile SeccompProfile, windowsOptions WindowsSecurityContextOptions
ServiceAccountTokenProjection: audience s, expirationSeconds i, path s
ServiceBackendPort: name s, number i
ServiceCIDRSpec: cidrs []s
ServiceCIDRStatus: conditions []Condition
ServicePort: appProtocol s, name s, nodePort i, port i, protocol s, targetPort *
ServiceSpec: allocateLoadBalancerNodePorts b, clusterIP s, clusterIPs []s, externalIPs []s, externalName s, externalTrafficPolicy s, healthCheckNodePort i, internalTrafficPolicy s, ipFamilies []s, ipFamilyPolicy s, loadBalancerClass s, loadBalancerIP s, loadBalancerSourceRanges []s, ports []ServicePort, publishNotReadyAddresses b, selector {}s, sessionAffinity s, sessionAffinityConfig SessionAffinityConfig, trafficDistribution s, type s
ServiceStatus: conditions []Condition, loadBalancer LoadBalancerStatus
SessionAffinityConfig: clientIP ClientIPConfig
SleepAction: seconds i
StatefulSetCondition: lastTransitionTime s, message s, reason s, status s, type s
StatefulSetOrdinals: start i
StatefulSetPersistentVolumeClaimRetentionPolicy: whenDeleted s, whenScaled s
StatefulSetSpec: minReadySeconds i, ordinals StatefulSetOrdinals, persistentVolumeClaimRetentionPolicy StatefulSetPersistentVolumeClaimRetentionPolicy, podManagementPolicy s, replicas i, revisionHistoryLimit i, selector LabelSelector, serviceName s, template PodTemplateSpec, updateStrategy StatefulSetUpdateStrategy, volumeClaimTemplates []PersistentVolumeClaim
StatefulSetStatus: availableReplicas i, collisionCount i, conditions []StatefulSetCondition, currentReplicas i, currentRevision s, observedGeneration i, readyReplicas i, replicas i, updateRevision s, updatedReplicas i
StatefulSetUpdateStrategy: rollingUpdate RollingUpdateStatefulSetStrategy, type s
StatusCause: field s, message s, reason s
StatusDetails: causes []StatusCause, group s, kind s, name s, retryAfterSeconds i, uid s
StorageOSPersistentVolumeSource: fsType s, readOnly b, secretRef ObjectReference, volumeName s, volumeNamespace s
StorageOSVolumeSource: fsType s, readOnly b, secretRef LocalObjectReference, volumeName s, volumeNamespace s
Subject: apiGroup s, kind s, name s, namespace s
SuccessPolicy: rules []SuccessPolicyRule
SuccessPolicyRule: succeededCount i, succeededIndexes s
Sysctl: name s, value s
TCPSocketAction: host s, port *
Taint: effect s, key s, timeAdded s, value s
TokenRequest: audience s, expirationSeconds i
Toleration: effect s, key s, operator s, tolerationSeconds i, value s
TopologySelectorLabelRequirement: key s, values []s
TopologySelectorTerm: matchLabelExpressions []TopologySelectorLabelRequirement
TopologySpreadConstraint: labelSelector LabelSelector, matchLabelKeys []s, maxSkew i, minDomains i, nodeAffinityPolicy s, nodeTaintsPolicy s, topologyKey s, whenUnsatisfiable s
TypedLocalObjectReference: apiGroup s, kind s, name s
TypedObjectReference: apiGroup s, kind s, name s, namespace s
UncountedTerminatedPods: failed []s, succeeded []s
Volume: awsElasticBlockStore AWSElasticBlockStoreVolumeSource, azureDisk AzureDiskVolumeSource, azureFile AzureFileVolumeSource, cephfs CephFSVolumeSource, cinder CinderVolumeSource, configMap ConfigMapVolumeSource, csi CSIVolumeSource, downwardAPI DownwardAPIVolumeSource, emptyDir EmptyDirVolumeSource, ephemeral EphemeralVolumeSource, fc FCVolumeSource, flexVolume FlexVolumeSource, flocker FlockerVolumeSource, gcePersistentDisk GCEPersistentDiskVolumeSource, gitRepo GitRepoVolumeSource, glusterfs GlusterfsVolumeSource, hostPath HostPathVolumeSource, image ImageVolumeSource, iscsi ISCSIVolumeSource, name s, nfs NFSVolumeSource, persistentVolumeClaim PersistentVolumeClaimVolumeSource, photonPersistentDisk PhotonPersistentDiskVolumeSource, portworxVolume PortworxVolumeSource, projected ProjectedVolumeSource, quobyte QuobyteVolumeSource, rbd RBDVolumeSource, scaleIO ScaleIOVolumeSource, secret SecretVolumeSource, storageos StorageOSVolumeSource, vsphereVolume VsphereVirtualDiskVolumeSource
VolumeAttachmentSource: inlineVolumeSpec PersistentVolumeSpec, persistentVolumeName s
VolumeAttachmentSpec: attacher s, nodeName s, source VolumeAttachmentSource
VolumeAttachmentStatus: attachError VolumeError, attached b, attachmentMetadata {}s, detachError VolumeError
VolumeDevice: devicePath s, name s
VolumeError: errorCode i, message s, time s
VolumeMount: mountPath s, mountPropagation s, name s, readOnly b, recursiveReadOnly s, subPath s, subPathExpr s
VolumeMountStatus: mountPath s, name s, readOnly b, recursiveReadOnly s, volumeStatus VolumeStatus
VolumeNodeAffinity: required NodeSelector
VolumeNodeResources: count i
VolumeProjection: clusterTrustBundle ClusterTrustBundleProjection, configMap ConfigMapProjection, downwardAPI DownwardAPIProjection, podCertificate PodCertificateProjection, secret SecretProjection, serviceAccountToken ServiceAccountTokenProjection
VolumeResourceRequirements: limits {}*, requests {}*
VolumeStatus: image ImageVolumeStatus
VsphereVirtualDiskVolumeSource: fsType s, storagePolicyID s, storagePolicyName s, volumePath s
WeightedPodAffinityTerm: podAffinityTerm PodAffinityTerm, weight i
WindowsSecurityContextOptions: gmsaCredentialSpec s, gmsaCredentialSpecName s, hostProcess b, runAsUserName s
autoscaling-CrossVersionObjectReference: apiVersion s, kind s, name s
autoscaling-HorizontalPodAutoscalerSpec: behavior HorizontalPodAutoscalerBehavior, maxReplicas i, metrics []MetricSpec, minReplicas i, scaleTargetRef autoscaling-CrossVersionObjectReference
autoscaling-HorizontalPodAutoscalerStatus: conditions []HorizontalPodAutoscalerCondition, currentMetrics []MetricStatus, currentReplicas i, desiredReplicas i, lastScaleTime s, observedGeneration i
`
