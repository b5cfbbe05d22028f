import { isRecord } from '../lib/is-record.ts'
import { wordSet } from '../lib/word-list.ts'
import type { SecretReference } from './secret.ts'

/** An object of the Kubernetes API as declared: croft manages its fields and ignores all others. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly [field: string]: unknown
  }
  readonly [field: string]: unknown
}

/** The tool that takes over an object from croft once its cluster is formed. */
export type HandoverTarget = 'argocd' | 'flux'

/** One object of a cluster, with its permissions. */
export interface WantedObject {
  /** Name of the Cluster. */
  readonly cluster: string
  readonly addon: string
  readonly object: KubeObject
  /** Its name in paths: `deployments`. Guessed for kinds that only the cluster knows, and read from it before use. */
  readonly plural: string
  /** Values of `data` of a Secret, by their keys: never part of the object itself. */
  readonly secrets?: Readonly<Record<string, SecretReference>>
  /** CEL over the object: what must hold in addition to its kind's readiness rules. */
  readonly ready?: string
  /** Take fields from their current owner. */
  readonly force?: true
  /** Take over an existing object that croft did not make. */
  readonly adopt?: true
  readonly deletion: 'Delete' | 'Orphan'
  /** Its chart may delete its definitions with it, and so all objects of those kinds. */
  readonly definitions?: 'Delete'
  readonly handover?: Handover
  readonly hook?: ObjectHook
}

/** For a chart that croft renders itself: an object that Helm would create before or after the others. */
export interface ObjectHook {
  readonly phase: 'pre' | 'post'
  /** For a Job or Pod: its rendering. If that changes, it is deleted and run again. */
  readonly run?: string
}

/** A chart that the local Helm installs, among the objects of its add-on. */
export const RELEASE = { apiVersion: 'helm.sh/v1', kind: 'Release' } as const

export function isRelease({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): boolean {
  return apiVersion === RELEASE.apiVersion && kind === RELEASE.kind
}

/** The annotation with the run of a hook. */
export const HOOK_RUN = 'croft.dev/run'

export interface Handover {
  readonly to: HandoverTarget
  /** The object by which the other tool manages it: an Application, a HelmRelease, a Kustomization. */
  readonly by: KubeObject
}

/** Returns the list of a kind's objects: `apps/v1 Deployment`. */
export function objectList({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): string {
  return `${apiVersion} ${kind}`
}

/** Returns `Deployment.apps/kube-system/coredns`: the object's name in its cluster, in every version of its kind. */
export function objectId({ apiVersion, kind, metadata }: KubeObject): string {
  const [group] = apiVersion.includes('/') ? apiVersion.split('/') : []
  const sort = group === undefined ? kind : `${kind}.${group}`
  return [sort, ...(metadata.namespace === undefined ? [] : [metadata.namespace]), metadata.name].join('/')
}

/** A kind's name in paths, and whether its objects are namespaced. */
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
  // No cluster serves this kind: it represents what Helm keeps in its own Secrets.
  'helm.sh/v1': '+releases Release',
  // K3s serves these from its first start.
  'helm.cattle.io/v1': '+helmcharts HelmChart, +helmchartconfigs HelmChartConfig',
}

/** Cluster-scoped kinds that are learnt later, and whose names do not show their scope. */
const WITHOUT_NAMESPACE = wordSet(`
  CiliumLoadBalancerIPPool CiliumL2AnnouncementPolicy CiliumBGPClusterConfig CiliumClusterwideNetworkPolicy
  ClusterIssuer GatewayClass
`)

const known: ReadonlyMap<string, KubeKind> = new Map(
  Object.entries(BUILT_IN).flatMap(([apiVersion, rows]) =>
    rows.split(',').map((row) => {
      const [plural = '', kind = ''] = row.trim().split(' ')
      const namespaced = plural.startsWith('+')
      return [`${apiVersion} ${kind}`, { plural: namespaced ? plural.slice(1) : plural, namespaced }] as const
    }),
  ),
)

/** Returns a kind that every cluster serves; undefined for others. */
export function builtInKind({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): KubeKind | undefined {
  return known.get(`${apiVersion} ${kind}`)
}

/** Returns a kind's most likely name: the cluster itself is asked before it matters. */
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

/** Converts `stringData` to `data`, as the server does: no one would own fields of `stringData`. */
export function withData(object: KubeObject): KubeObject {
  const { stringData, ...rest } = object
  if (object.kind !== 'Secret' || !isRecord(stringData)) return object
  const texts = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')])
  return {
    ...rest,
    data: { ...(isRecord(object.data) ? object.data : {}), ...Object.fromEntries(texts) },
  } as KubeObject
}
