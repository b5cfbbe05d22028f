/**
 * How kubectl writes objects in Protocol Buffers: the number of each field and what is in it. Only what kubectl itself
 * makes is here (`kubectl create …`, `kubectl auth …`, evictions, deletions): everything else it sends as JSON. A field that is not here is
 * refused as a format that the server does not know, and never left out in silence.
 *
 * string, int, bool, bytes; flag and count are those that are always sent and mean nothing when they are false or zero.
 */
const MESSAGES = {
  ObjectMeta:
    'name 1 string, generateName 2 string, namespace 3 string, selfLink 4 string, uid 5 string, resourceVersion 6 string, generation 7 count, creationTimestamp 8 Time, labels 11 map string, annotations 12 map string, ownerReferences 13 list OwnerReference, finalizers 14 list string',
  OwnerReference:
    'kind 1 string, name 3 string, uid 4 string, apiVersion 5 string, controller 6 bool, blockOwnerDeletion 7 bool',
  Time: 'seconds 1 int, nanos 2 int',
  Quantity: 'string 1 string',
  IntOrString: 'type 1 int, intVal 2 int, strVal 3 string',
  LabelSelector: 'matchLabels 1 map string, matchExpressions 2 list LabelSelectorRequirement',
  LabelSelectorRequirement: 'key 1 string, operator 2 string, values 3 list string',
  ConfigMap: 'metadata 1 ObjectMeta, data 2 map string, binaryData 3 map bytes, immutable 4 bool',
  Secret: 'metadata 1 ObjectMeta, data 2 map bytes, type 3 string, stringData 4 map string, immutable 5 bool',
  Namespace: 'metadata 1 ObjectMeta, spec 2 NamespaceSpec, status 3 Nothing',
  NamespaceSpec: 'finalizers 1 list string',
  ServiceAccount:
    'metadata 1 ObjectMeta, imagePullSecrets 3 list LocalObjectReference, automountServiceAccountToken 4 bool',
  LocalObjectReference: 'name 1 string',
  Service: 'metadata 1 ObjectMeta, spec 2 ServiceSpec, status 3 Nothing',
  ServiceSpec:
    'ports 1 list ServicePort, selector 2 map string, clusterIP 3 string, type 4 string, externalIPs 5 list string, sessionAffinity 7 string, loadBalancerIP 8 string, externalName 10 string, externalTrafficPolicy 11 string, healthCheckNodePort 12 count, publishNotReadyAddresses 13 flag, clusterIPs 18 list string',
  ServicePort:
    'name 1 string, protocol 2 string, port 3 int, targetPort 4 IntOrString, nodePort 5 count, appProtocol 6 string',
  Deployment: 'metadata 1 ObjectMeta, spec 2 DeploymentSpec, status 3 Nothing',
  DeploymentSpec:
    'replicas 1 int, selector 2 LabelSelector, template 3 PodTemplateSpec, strategy 4 DeploymentStrategy, minReadySeconds 5 count, revisionHistoryLimit 6 int, paused 7 flag, progressDeadlineSeconds 9 int',
  DeploymentStrategy: 'type 1 string, rollingUpdate 2 RollingUpdateDeployment',
  RollingUpdateDeployment: 'maxUnavailable 1 IntOrString, maxSurge 2 IntOrString',
  PodTemplateSpec: 'metadata 1 ObjectMeta, spec 2 PodSpec',
  PodSpec:
    'containers 2 list Container, restartPolicy 3 string, terminationGracePeriodSeconds 4 int, activeDeadlineSeconds 5 int, dnsPolicy 6 string, nodeSelector 7 map string, serviceAccountName 8 string, serviceAccount 9 string, nodeName 10 string, hostNetwork 11 flag, hostPID 12 flag, hostIPC 13 flag, imagePullSecrets 15 list LocalObjectReference, hostname 16 string, subdomain 17 string, schedulerName 19 string, priorityClassName 24 string',
  Container:
    'name 1 string, image 2 string, command 3 list string, args 4 list string, workingDir 5 string, ports 6 list ContainerPort, env 7 list EnvVar, resources 8 ResourceRequirements, terminationMessagePath 13 string, imagePullPolicy 14 string, stdin 16 flag, stdinOnce 17 flag, tty 18 flag, terminationMessagePolicy 20 string',
  ContainerPort: 'name 1 string, hostPort 2 count, containerPort 3 int, protocol 4 string, hostIP 5 string',
  EnvVar: 'name 1 string, value 2 string',
  ResourceRequirements: 'limits 1 map Quantity, requests 2 map Quantity',
  Job: 'metadata 1 ObjectMeta, spec 2 JobSpec, status 3 Nothing',
  JobSpec:
    'parallelism 1 int, completions 2 int, activeDeadlineSeconds 3 int, selector 4 LabelSelector, manualSelector 5 bool, template 6 PodTemplateSpec, backoffLimit 7 int, ttlSecondsAfterFinished 8 int, completionMode 9 string, suspend 10 bool',
  CronJob: 'metadata 1 ObjectMeta, spec 2 CronJobSpec, status 3 Nothing',
  CronJobSpec:
    'schedule 1 string, startingDeadlineSeconds 2 int, concurrencyPolicy 3 string, suspend 4 bool, jobTemplate 5 JobTemplateSpec, successfulJobsHistoryLimit 6 int, failedJobsHistoryLimit 7 int, timeZone 8 string',
  JobTemplateSpec: 'metadata 1 ObjectMeta, spec 2 JobSpec',
  Role: 'metadata 1 ObjectMeta, rules 2 list PolicyRule',
  ClusterRole: 'metadata 1 ObjectMeta, rules 2 list PolicyRule, aggregationRule 3 AggregationRule',
  AggregationRule: 'clusterRoleSelectors 1 list LabelSelector',
  PolicyRule:
    'verbs 1 list string, apiGroups 2 list string, resources 3 list string, resourceNames 4 list string, nonResourceURLs 5 list string',
  RoleBinding: 'metadata 1 ObjectMeta, subjects 2 list Subject, roleRef 3 RoleRef',
  ClusterRoleBinding: 'metadata 1 ObjectMeta, subjects 2 list Subject, roleRef 3 RoleRef',
  RoleRef: 'apiGroup 1 string, kind 2 string, name 3 string',
  Subject: 'kind 1 string, apiGroup 2 string, name 3 string, namespace 4 string',
  Ingress: 'metadata 1 ObjectMeta, spec 2 IngressSpec, status 3 Nothing',
  IngressSpec:
    'defaultBackend 1 IngressBackend, tls 2 list IngressTLS, rules 3 list IngressRule, ingressClassName 4 string',
  IngressTLS: 'hosts 1 list string, secretName 2 string',
  IngressRule: 'host 1 string, ingressRuleValue 2 IngressRuleValue',
  IngressRuleValue: 'http 1 HTTPIngressRuleValue',
  HTTPIngressRuleValue: 'paths 1 list HTTPIngressPath',
  HTTPIngressPath: 'path 1 string, backend 2 IngressBackend, pathType 3 string',
  IngressBackend: 'service 4 IngressServiceBackend',
  IngressServiceBackend: 'name 1 string, port 2 ServiceBackendPort',
  ServiceBackendPort: 'name 1 string, number 2 count',
  ResourceQuota: 'metadata 1 ObjectMeta, spec 2 ResourceQuotaSpec, status 3 Nothing',
  ResourceQuotaSpec: 'hard 1 map Quantity, scopes 2 list string',
  PodDisruptionBudget: 'metadata 1 ObjectMeta, spec 2 PodDisruptionBudgetSpec, status 3 Nothing',
  PodDisruptionBudgetSpec:
    'minAvailable 1 IntOrString, selector 2 LabelSelector, maxUnavailable 3 IntOrString, unhealthyPodEvictionPolicy 4 string',
  PriorityClass:
    'metadata 1 ObjectMeta, value 2 int, globalDefault 3 flag, description 4 string, preemptionPolicy 5 string',
  Eviction: 'metadata 1 ObjectMeta, deleteOptions 2 DeleteOptions',
  DeleteOptions:
    'gracePeriodSeconds 1 int, preconditions 2 Preconditions, orphanDependents 3 bool, propagationPolicy 4 string, dryRun 5 list string',
  Preconditions: 'uid 1 string, resourceVersion 2 string',
  SelfSubjectReview: 'metadata 1 ObjectMeta, status 2 Nothing',
  SelfSubjectAccessReview: 'metadata 1 ObjectMeta, spec 2 SelfSubjectAccessReviewSpec, status 3 Nothing',
  SelfSubjectAccessReviewSpec: 'resourceAttributes 1 ResourceAttributes, nonResourceAttributes 2 NonResourceAttributes',
  ResourceAttributes:
    'namespace 1 string, verb 2 string, group 3 string, version 4 string, resource 5 string, subresource 6 string, name 7 string',
  NonResourceAttributes: 'path 1 string, verb 2 string',
  SelfSubjectRulesReview: 'metadata 1 ObjectMeta, spec 2 SelfSubjectRulesReviewSpec, status 3 Nothing',
  SelfSubjectRulesReviewSpec: 'namespace 1 string',
  TypeMeta: 'apiVersion 1 string, kind 2 string',
  Unknown: 'typeMeta 1 TypeMeta, raw 2 bytes, contentEncoding 3 string, contentType 4 string',
  Nothing: '',
} as const

/** What each field of a message is: `list Container`, `map string`, `int`. */
export type MessageField = { readonly name: string; readonly many: 'one' | 'list' | 'map'; readonly type: string }

const read = new Map<string, ReadonlyMap<number, MessageField>>()

/** Returns the fields of a message by number; undefined for an unknown message. */
export function fieldsOf(message: string): ReadonlyMap<number, MessageField> | undefined {
  const known = read.get(message)
  if (known !== undefined) return known
  if (!Object.hasOwn(MESSAGES, message)) return undefined
  const fields = new Map<number, MessageField>()
  for (const line of MESSAGES[message as keyof typeof MESSAGES].split(', ').filter((one) => one !== '')) {
    const [name = '', number, ...type] = line.split(' ')
    const many = type.length === 2 ? (type[0] as 'list' | 'map') : 'one'
    fields.set(Number(number), { name, many, type: type.at(-1) ?? '' })
  }
  read.set(message, fields)
  return fields
}
