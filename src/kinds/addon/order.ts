import type { ResourceKey } from '../../model/key.ts'
import { builtInKind } from '../../model/kube-kinds.ts'
import { type KubeObject, objectId } from '../../model/kube-object.ts'
import { groupOf } from './objects.ts'

/** An object with the key under which it is kept. */
export interface Keyed {
  readonly key: ResourceKey
  readonly object: KubeObject
  readonly addon: string
  readonly keeper?: true
}

/** Whose coming to rest says that an add-on works. */
const CARRIERS: ReadonlySet<string> = new Set([
  'HelmChart',
  'Deployment',
  'DaemonSet',
  'StatefulSet',
  'Job',
  'CustomResourceDefinition',
])

/** Made first and needing nothing but their place: what others read when they start. */
const GROUND: ReadonlySet<string> = new Set([
  'Namespace',
  'CustomResourceDefinition',
  'Secret',
  'ConfigMap',
  'ServiceAccount',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'PriorityClass',
])

/**
 * What must be there before an object: its namespace, the definition of its kind, whoever answers for it at the door,
 * the secrets of its add-on, and the add-ons that its own needs.
 */
export function needsOf(
  one: Keyed,
  all: readonly Keyed[],
  cluster: ResourceKey,
  addonNeeds: readonly string[],
): readonly ResourceKey[] {
  const needs = new Set<ResourceKey>([cluster])
  const { object } = one
  const own = all.filter((other) => other.addon === one.addon && other.key !== one.key)
  for (const other of all) {
    if (other.key === one.key) continue
    if (other.object.kind === 'Namespace' && other.object.metadata.name === object.metadata.namespace)
      needs.add(other.key)
    if (defines(other.object, object)) needs.add(other.key)
  }
  if (!GROUND.has(object.kind)) for (const other of own) if (other.object.kind === 'Secret') needs.add(other.key)
  if (builtInKind(object) === undefined) {
    // A chart may bring the kind, and a webhook may have to agree.
    for (const other of own) if (other.object.kind === 'HelmChart') needs.add(other.key)
    for (const key of doorkeepers(object, all)) if (key !== one.key) needs.add(key)
  }
  if (one.keeper === true) for (const other of own) if (other.keeper !== true) needs.add(other.key)
  if (object.kind !== 'Namespace')
    for (const name of addonNeeds)
      for (const key of carriersOf(all.filter(({ addon }) => addon === name))) needs.add(key)
  return [...needs].sort()
}

/** What must be well for an add-on to be: its workloads and charts; where it has none, everything. */
function carriersOf(objects: readonly Keyed[]): readonly ResourceKey[] {
  const meant = objects.filter(({ keeper }) => keeper !== true)
  const carrying = meant.filter(({ object }) => CARRIERS.has(object.kind) || builtInKind(object) === undefined)
  return (carrying.length > 0 ? carrying : meant).map(({ key }) => key)
}

function defines(definition: KubeObject, object: KubeObject): boolean {
  if (definition.kind !== 'CustomResourceDefinition') return false
  const { group, names } = (definition.spec ?? {}) as { group?: unknown; names?: { kind?: unknown } }
  return group === groupOf(object) && names?.kind === object.kind
}

interface Webhook {
  readonly clientConfig?: { readonly service?: { readonly namespace?: string } }
  readonly rules?: readonly { readonly apiGroups?: readonly string[] }[]
}

/** Deployments behind the webhooks that an object must pass. */
function doorkeepers(object: KubeObject, all: readonly Keyed[]): readonly ResourceKey[] {
  const group = groupOf(object)
  return all
    .filter(
      ({ object: { kind } }) => kind === 'ValidatingWebhookConfiguration' || kind === 'MutatingWebhookConfiguration',
    )
    .flatMap((configuration) => {
      const hooks = (configuration.object.webhooks ?? []) as readonly Webhook[]
      return hooks
        .filter(({ rules = [] }) =>
          rules.some(({ apiGroups = [] }) => apiGroups.includes(group) || apiGroups.includes('*')),
        )
        .flatMap(({ clientConfig }) =>
          all.filter(
            ({ addon, object: other }) =>
              addon === configuration.addon &&
              other.kind === 'Deployment' &&
              other.metadata.namespace === clientConfig?.service?.namespace,
          ),
        )
    })
    .map(({ key }) => key)
}

/** `Addon/cilium@HelmChart.helm.cattle.io/kube-system/cilium`. */
export function objectKey(addon: ResourceKey, object: KubeObject): ResourceKey {
  return `${addon}@${objectId(object)}`
}
