import type { FieldSpec } from './field-paths.ts'

// Fields that kustomize edits in Kubernetes objects, as tables. The differential vectors in the tests compare them with
// the real program.

/** The pod specification of each kind. */
const POD_SPECS = {
  Pod: 'spec',
  PodTemplate: 'template/spec',
  Deployment: 'spec/template/spec',
  ReplicaSet: 'spec/template/spec',
  DaemonSet: 'spec/template/spec',
  StatefulSet: 'spec/template/spec',
  ReplicationController: 'spec/template/spec',
  Job: 'spec/template/spec',
  CronJob: 'spec/jobTemplate/spec/template/spec',
} as const
type PodKind = keyof typeof POD_SPECS

const GROUPED: Readonly<Record<string, { readonly group?: string; readonly version?: string }>> = {
  StatefulSet: { group: 'apps' },
  Job: { group: 'batch' },
  CronJob: { group: 'batch' },
  ReplicationController: { version: 'v1' },
}

const TEMPLATED = ['ReplicationController', 'Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet', 'Job'] as const

const templateRows = (what: 'labels' | 'annotations'): readonly FieldSpec[] => [
  { path: `metadata/${what}`, create: true },
  ...TEMPLATED.map((kind) => ({
    path: `spec/template/metadata/${what}`,
    kind,
    create: true,
    // Annotations reach the StatefulSets of every group, labels those of apps alone.
    ...(what === 'annotations' && kind === 'StatefulSet' ? {} : GROUPED[kind]),
  })),
  { path: `spec/jobTemplate/metadata/${what}`, kind: 'CronJob', group: 'batch', create: true },
  { path: `spec/jobTemplate/spec/template/metadata/${what}`, kind: 'CronJob', group: 'batch', create: true },
]

/** `labels` with `includeTemplates`. */
export const TEMPLATE_LABELS = templateRows('labels')
export const ANNOTATIONS = templateRows('annotations')
export const CLAIM_TEMPLATE_LABELS: readonly FieldSpec[] = [
  { path: 'spec/volumeClaimTemplates[]/metadata/labels', kind: 'StatefulSet', group: 'apps', create: true },
]

const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels'
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels'
const AFFINITIES = [
  `affinity/podAffinity/${PREFERRED}`,
  `affinity/podAffinity/${REQUIRED}`,
  `affinity/podAntiAffinity/${PREFERRED}`,
  `affinity/podAntiAffinity/${REQUIRED}`,
  'topologySpreadConstraints/labelSelector/matchLabels',
]

/** `commonLabels`, and `labels` with `includeSelectors`: labels, selectors and templates. */
export const SELECTOR_LABELS: readonly FieldSpec[] = [
  ...['Service', 'ReplicationController'].map((kind) => ({ path: 'spec/selector', kind, version: 'v1', create: true })),
  ...['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet'].map((kind) => ({
    path: 'spec/selector/matchLabels',
    kind,
    create: true,
    ...GROUPED[kind],
  })),
  ...['Deployment', 'StatefulSet'].flatMap((kind) =>
    AFFINITIES.map((path) => ({ path: `spec/template/spec/${path}`, kind, group: 'apps' })),
  ),
  { path: 'spec/selector/matchLabels', kind: 'Job', group: 'batch' },
  { path: 'spec/jobTemplate/spec/selector/matchLabels', kind: 'CronJob', group: 'batch' },
  { path: 'spec/selector/matchLabels', kind: 'PodDisruptionBudget', group: 'policy' },
  ...['podSelector', 'ingress/from/podSelector', 'egress/to/podSelector'].map((path) => ({
    path: `spec/${path}/matchLabels`,
    kind: 'NetworkPolicy',
    group: 'networking.k8s.io',
  })),
  ...TEMPLATE_LABELS,
  ...CLAIM_TEMPLATE_LABELS,
]

export const REPLICAS: readonly FieldSpec[] = ['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet'].map(
  (kind) => ({ path: 'spec/replicas', kind, create: true }),
)

/** Beside `metadata.namespace` of what is in a namespace. */
export const NAMESPACES: readonly FieldSpec[] = [
  { path: 'metadata/name', kind: 'Namespace', group: '', version: 'v1', create: true },
  { path: 'spec/service/namespace', kind: 'APIService', group: 'apiregistration.k8s.io', create: true },
  {
    path: 'spec/conversion/webhook/clientConfig/service/namespace',
    kind: 'CustomResourceDefinition',
    group: 'apiextensions.k8s.io',
  },
]

/** Fields that hold the name of another object. */
export interface ReferenceTable {
  readonly kind: string
  readonly group?: string
  readonly version?: string
  readonly fields: readonly FieldSpec[]
}

const MOST: readonly PodKind[] = [
  'Pod',
  'PodTemplate',
  'Deployment',
  'ReplicaSet',
  'DaemonSet',
  'StatefulSet',
  'Job',
  'CronJob',
]
const SOME: readonly PodKind[] = [
  'Pod',
  'StatefulSet',
  'Deployment',
  'ReplicationController',
  'CronJob',
  'Job',
  'DaemonSet',
]

const inPods = (kinds: readonly PodKind[], paths: readonly string[]): readonly FieldSpec[] =>
  kinds.flatMap((kind) => paths.map((path) => ({ path: `${POD_SPECS[kind]}/${path}`, kind })))

const inContainers = (path: string) => [`containers/${path}`, `initContainers/${path}`]
const RBAC = 'rbac.authorization.k8s.io'
const HOOKS = 'admissionregistration.k8s.io'
const NGINX = 'metadata/annotations/nginx.ingress.kubernetes.io\\/'

export const REFERENCES: readonly ReferenceTable[] = [
  ...['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet'].map((kind) => ({
    kind,
    fields: [{ path: 'spec/scaleTargetRef/name', kind: 'HorizontalPodAutoscaler' }],
  })),
  {
    kind: 'ConfigMap',
    version: 'v1',
    fields: [
      ...inPods(MOST, [
        'volumes/configMap/name',
        ...inContainers('env/valueFrom/configMapKeyRef/name'),
        ...inContainers('envFrom/configMapRef/name'),
        'volumes/projected/sources/configMap/name',
      ]),
      { path: 'spec/configSource/configMap', kind: 'Node' },
      { path: 'rules/resourceNames', kind: 'Role' },
      { path: 'rules/resourceNames', kind: 'ClusterRole' },
      { path: `${NGINX}fastcgi-params-configmap`, kind: 'Ingress' },
    ],
  },
  {
    kind: 'Secret',
    version: 'v1',
    fields: [
      ...inPods(MOST, [
        'volumes/secret/secretName',
        ...inContainers('env/valueFrom/secretKeyRef/name'),
        ...inContainers('envFrom/secretRef/name'),
        'imagePullSecrets/name',
        'volumes/projected/sources/secret/name',
      ]),
      { path: 'spec/tls/secretName', kind: 'Ingress' },
      { path: 'metadata/annotations/ingress.kubernetes.io\\/auth-secret', kind: 'Ingress' },
      { path: `${NGINX}auth-secret`, kind: 'Ingress' },
      { path: `${NGINX}auth-tls-secret`, kind: 'Ingress' },
      { path: 'imagePullSecrets/name', kind: 'ServiceAccount' },
      ...['secretName', 'adminSecretName', 'userSecretName', 'secretRef'].map((name) => ({
        path: `parameters/${name}`,
        kind: 'StorageClass',
      })),
      { path: 'rules/resourceNames', kind: 'Role' },
      { path: 'rules/resourceNames', kind: 'ClusterRole' },
      {
        path: 'spec/template/spec/containers/env/valueFrom/secretKeyRef/name',
        kind: 'Service',
        group: 'serving.knative.dev',
        version: 'v1',
      },
      { path: 'spec/azureFile/secretName', kind: 'PersistentVolume' },
    ],
  },
  {
    kind: 'Service',
    version: 'v1',
    fields: [
      { path: 'spec/serviceName', kind: 'StatefulSet', group: 'apps' },
      ...['rules/http/paths/backend/serviceName', 'backend/serviceName'].map((path) => ({
        path: `spec/${path}`,
        kind: 'Ingress',
      })),
      ...['rules/http/paths/backend/service/name', 'defaultBackend/service/name'].map((path) => ({
        path: `spec/${path}`,
        kind: 'Ingress',
      })),
      { path: 'spec/service/name', kind: 'APIService', group: 'apiregistration.k8s.io' },
      { path: 'webhooks/clientConfig/service', kind: 'ValidatingWebhookConfiguration', group: HOOKS },
      { path: 'webhooks/clientConfig/service', kind: 'MutatingWebhookConfiguration', group: HOOKS },
    ],
  },
  { kind: 'Role', group: RBAC, fields: [{ path: 'roleRef/name', kind: 'RoleBinding', group: RBAC }] },
  {
    kind: 'ClusterRole',
    group: RBAC,
    fields: [
      { path: 'roleRef/name', kind: 'RoleBinding', group: RBAC },
      { path: 'roleRef/name', kind: 'ClusterRoleBinding', group: RBAC },
    ],
  },
  {
    kind: 'ServiceAccount',
    version: 'v1',
    fields: [
      { path: 'subjects', kind: 'RoleBinding', group: RBAC },
      { path: 'subjects', kind: 'ClusterRoleBinding', group: RBAC },
      ...inPods(SOME, ['serviceAccountName']),
    ],
  },
  {
    kind: 'PersistentVolumeClaim',
    version: 'v1',
    fields: inPods(SOME, ['volumes/persistentVolumeClaim/claimName']),
  },
  {
    kind: 'PersistentVolume',
    version: 'v1',
    fields: [
      { path: 'spec/volumeName', kind: 'PersistentVolumeClaim' },
      { path: 'rules/resourceNames', kind: 'ClusterRole' },
    ],
  },
  {
    kind: 'StorageClass',
    version: 'v1',
    group: 'storage.k8s.io',
    fields: [
      { path: 'spec/storageClassName', kind: 'PersistentVolume' },
      { path: 'spec/storageClassName', kind: 'PersistentVolumeClaim' },
      { path: 'spec/volumeClaimTemplates/spec/storageClassName', kind: 'StatefulSet' },
    ],
  },
  {
    kind: 'PriorityClass',
    version: 'v1',
    group: 'scheduling.k8s.io',
    fields: inPods(SOME, ['priorityClassName']),
  },
  {
    kind: 'ValidatingAdmissionPolicy',
    group: HOOKS,
    fields: [{ path: 'spec/policyName', kind: 'ValidatingAdmissionPolicyBinding', group: HOOKS }],
  },
]

const RUNS: readonly PodKind[] = ['CronJob', 'DaemonSet', 'Deployment', 'Job', 'Pod', 'ReplicaSet', 'StatefulSet']

/** Fields in which `$(NAME)` of `vars` is substituted. */
export const VARIABLES: readonly FieldSpec[] = [
  ...inPods(RUNS, ['args', 'command', 'env/value', 'volumeMounts/mountPath'].flatMap(inContainers)),
  ...inPods(['DaemonSet', 'Deployment', 'Job', 'Pod', 'ReplicaSet'], ['volumes/nfs/server']),
  { path: 'spec/jobTemplate/spec/template/volumes/nfs/server', kind: 'CronJob' },
  { path: 'spec/volumeClaimTemplates/spec/nfs/server', kind: 'StatefulSet' },
  { path: 'spec/nfs/server', kind: 'PersistentVolume' },
  { path: 'spec/template/metadata/annotations', kind: 'Deployment' },
  ...['rules/host', 'tls/hosts', 'tls/secretName'].map((path) => ({ path: `spec/${path}`, kind: 'Ingress' })),
  ...['ports/port', 'ports/targetPort'].map((path) => ({ path: `spec/${path}`, kind: 'Service' })),
  { path: 'metadata/labels' },
  { path: 'metadata/annotations' },
]
