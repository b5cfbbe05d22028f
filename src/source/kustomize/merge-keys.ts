import { groupVersionOf } from './field-paths.ts'

/** The merge keys of lists in a strategic merge. Other lists are replaced. */
export interface MergeSchema {
  readonly fields?: Readonly<Record<string, MergeSchema>>
  /** A list whose items are identified by these fields; empty: a list of plain values, merged as a set. */
  readonly keys?: readonly string[]
  readonly items?: MergeSchema
}

const by = (...keys: readonly string[]): MergeSchema => ({ keys })
const listOf = (items: Readonly<Record<string, MergeSchema>>, ...keys: readonly string[]): MergeSchema => ({
  keys,
  items: { fields: items },
})

const CONTAINERS = listOf(
  {
    env: by('name'),
    ports: by('containerPort', 'protocol'),
    volumeMounts: by('mountPath'),
    volumeDevices: by('devicePath'),
  },
  'name',
)

const POD: MergeSchema = {
  fields: {
    containers: CONTAINERS,
    initContainers: CONTAINERS,
    ephemeralContainers: CONTAINERS,
    volumes: by('name'),
    imagePullSecrets: by('name'),
    hostAliases: by('ip'),
    topologySpreadConstraints: by('topologyKey', 'whenUnsatisfiable'),
    schedulingGates: by('name'),
    resourceClaims: by('name'),
  },
}

const METADATA: MergeSchema = { fields: { finalizers: by(), ownerReferences: by('uid') } }
const TEMPLATE: MergeSchema = { fields: { metadata: METADATA, spec: POD } }
const spec = (fields: Readonly<Record<string, MergeSchema>>): Readonly<Record<string, MergeSchema>> => ({
  spec: { fields },
})

/** Kinds of Kubernetes with lists that are merged, by group and kind. All have the usual metadata. */
const KINDS: Readonly<Record<string, Readonly<Record<string, MergeSchema>>>> = {
  '/Pod': { spec: POD },
  '/PodTemplate': { template: TEMPLATE },
  '/ReplicationController': spec({ template: TEMPLATE }),
  '/Service': spec({ ports: by('port', 'protocol') }),
  '/ServiceAccount': { secrets: by('name') },
  'apps/Deployment': spec({ template: TEMPLATE }),
  'apps/ReplicaSet': spec({ template: TEMPLATE }),
  'apps/DaemonSet': spec({ template: TEMPLATE }),
  'apps/StatefulSet': spec({ template: TEMPLATE }),
  'batch/Job': spec({ template: TEMPLATE }),
  'batch/CronJob': spec({ jobTemplate: { fields: { metadata: METADATA, spec: { fields: { template: TEMPLATE } } } } }),
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': {
    webhooks: listOf({ matchConditions: by('name') }, 'name'),
  },
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': {
    webhooks: listOf({ matchConditions: by('name') }, 'name'),
  },
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': spec({
    matchConditions: by('name'),
    variables: by('name'),
  }),
}

/** Returns the merge schema of an object's kind; undefined for kinds that are not built in. */
export function shapeOf(object: Readonly<Record<string, unknown>>): MergeSchema | undefined {
  const { group } = groupVersionOf(object.apiVersion)
  const kind = typeof object.kind === 'string' ? object.kind : ''
  const known = Object.hasOwn(KINDS, `${group}/${kind}`) ? KINDS[`${group}/${kind}`] : undefined
  if (known !== undefined) return { fields: { metadata: METADATA, ...known } }
  return BUILT_IN_GROUP.test(group) ? { fields: { metadata: METADATA } } : undefined
}

const BUILT_IN_GROUP = /^(?:|apps|batch|autoscaling|policy|[a-z]+\.k8s\.io|[a-z.]+\.authorization\.k8s\.io)$/
