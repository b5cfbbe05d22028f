import type { KubeObject } from './kube-object.ts'

/** How a kind is named in paths, and whether its objects are in namespaces. */
export interface KubeKind {
  readonly plural: string
  readonly namespaced: boolean
}

/** Kinds that every cluster serves: `plural Kind`, with `+` before those in a namespace. */
const BUILT_IN: Readonly<Record<string, string>> = {
  v1: `+configmaps ConfigMap, +endpoints Endpoints, +limitranges LimitRange, namespaces Namespace, nodes Node,
    +persistentvolumeclaims PersistentVolumeClaim, persistentvolumes PersistentVolume, +pods Pod,
    +replicationcontrollers ReplicationController, +resourcequotas ResourceQuota, +secrets Secret,
    +serviceaccounts ServiceAccount, +services Service`,
  'apps/v1':
    '+daemonsets DaemonSet, +deployments Deployment, +replicasets ReplicaSet, +statefulsets StatefulSet, +controllerrevisions ControllerRevision',
  'batch/v1': '+cronjobs CronJob, +jobs Job',
  'autoscaling/v2': '+horizontalpodautoscalers HorizontalPodAutoscaler',
  'networking.k8s.io/v1': 'ingressclasses IngressClass, +ingresses Ingress, +networkpolicies NetworkPolicy',
  'policy/v1': '+poddisruptionbudgets PodDisruptionBudget',
  'rbac.authorization.k8s.io/v1':
    'clusterrolebindings ClusterRoleBinding, clusterroles ClusterRole, +rolebindings RoleBinding, +roles Role',
  'storage.k8s.io/v1': 'csidrivers CSIDriver, storageclasses StorageClass',
  'admissionregistration.k8s.io/v1': `mutatingwebhookconfigurations MutatingWebhookConfiguration,
    validatingwebhookconfigurations ValidatingWebhookConfiguration,
    validatingadmissionpolicies ValidatingAdmissionPolicy,
    validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding`,
  'apiextensions.k8s.io/v1': 'customresourcedefinitions CustomResourceDefinition',
  'apiregistration.k8s.io/v1': 'apiservices APIService',
  'scheduling.k8s.io/v1': 'priorityclasses PriorityClass',
  'coordination.k8s.io/v1': '+leases Lease',
  'node.k8s.io/v1': 'runtimeclasses RuntimeClass',
  'discovery.k8s.io/v1': '+endpointslices EndpointSlice',
  // K3s serves these from its first moment on.
  'helm.cattle.io/v1': '+helmcharts HelmChart, +helmchartconfigs HelmChartConfig',
}

/** Kinds that are learnt later and whose scope nobody could guess from their names. */
const WITHOUT_NAMESPACE: ReadonlySet<string> = new Set([
  'CiliumLoadBalancerIPPool',
  'CiliumL2AnnouncementPolicy',
  'CiliumBGPClusterConfig',
  'CiliumClusterwideNetworkPolicy',
  'ClusterIssuer',
  'GatewayClass',
])

const known: ReadonlyMap<string, KubeKind> = new Map(
  Object.entries(BUILT_IN).flatMap(([apiVersion, rows]) =>
    rows.split(',').map((row) => {
      const [plural = '', kind = ''] = row.trim().split(' ')
      const namespaced = plural.startsWith('+')
      return [`${apiVersion} ${kind}`, { plural: namespaced ? plural.slice(1) : plural, namespaced }] as const
    }),
  ),
)

/** A kind that every cluster serves; undefined for one that it has to learn. */
export function builtInKind({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): KubeKind | undefined {
  return known.get(`${apiVersion} ${kind}`)
}

/** What a kind is most likely called: the cluster itself is asked before it matters. */
export function likelyKind({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): KubeKind {
  const found = builtInKind({ apiVersion, kind })
  if (found !== undefined) return found
  const namespaced = !WITHOUT_NAMESPACE.has(kind) && !kind.startsWith('Cluster')
  return { plural: pluralOf(kind.toLowerCase()), namespaced }
}

function pluralOf(word: string): string {
  if (/(?:s|x|ch|sh)$/.test(word)) return `${word}es`
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`
  return `${word}s`
}
