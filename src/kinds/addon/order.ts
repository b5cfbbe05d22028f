import { LIMITS } from '../../lib/limits.ts'
import { wordSet } from '../../lib/word-list.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import { builtInKind, type KubeObject, objectId, RELEASE } from '../../model/kube-object.ts'
import { groupOf } from './objects.ts'
import { type ChartHook, type ChartObject, hooksInOrder } from './rendered-chart.ts'

/** An object with the key under which it is kept. */
export interface Keyed {
  readonly key: ResourceKey
  readonly object: KubeObject
  readonly addon: string
  readonly keeper?: true
  readonly ofChart?: Omit<ChartObject, 'object'>
}

/** Kinds whose readiness means that an add-on works. */
const CARRIERS = wordSet('HelmChart Release Deployment DaemonSet StatefulSet Job CustomResourceDefinition')

/** Kinds made first, which others read when they start: they only need their namespace. */
const GROUND = wordSet(`
  Namespace CustomResourceDefinition Secret ConfigMap ServiceAccount ClusterRole ClusterRoleBinding Role
  RoleBinding PriorityClass
`)

/** All objects of a cluster, indexed by dependency. */
export interface ObjectOrder {
  readonly namespaces: ReadonlyMap<string, readonly ResourceKey[]>
  readonly definitions: ReadonlyMap<string, readonly ResourceKey[]>
  readonly webhooks: readonly Keyed[]
  readonly byAddon: ReadonlyMap<string, AddonOrder>
}

interface AddonOrder {
  readonly all: readonly Keyed[]
  readonly secrets: readonly ResourceKey[]
  readonly charts: readonly ResourceKey[]
  readonly deployments: readonly Keyed[]
  readonly carriers: readonly ResourceKey[]
  /** Hooks of a chart that croft renders itself, each after the one before it. */
  readonly hooks: Readonly<Record<ChartHook['phase'], readonly ResourceKey[]>>
}

export function orderAmong(all: readonly Keyed[]): ObjectOrder {
  const namespaces = new Map<string, ResourceKey[]>()
  const definitions = new Map<string, ResourceKey[]>()
  const byAddon = new Map<string, Keyed[]>()
  for (const one of all) {
    const { object, key } = one
    put(byAddon, one.addon, one)
    if (object.kind === 'Namespace') put(namespaces, object.metadata.name, key)
    const defined = definedBy(object)
    if (defined !== undefined) put(definitions, defined, key)
  }
  return {
    namespaces,
    definitions,
    webhooks: all.filter(
      ({ object: { kind } }) => kind === 'ValidatingWebhookConfiguration' || kind === 'MutatingWebhookConfiguration',
    ),
    byAddon: new Map([...byAddon].map(([addon, objects]) => [addon, orderWithin(objects)])),
  }
}

function orderWithin(all: readonly Keyed[]): AddonOrder {
  // Objects of a rendered chart wait for its hooks, so hooks must not depend on them.
  const keysOf = (kind: string) =>
    all.flatMap(({ object, key, ofChart }) => (object.kind === kind && ofChart === undefined ? [key] : [])).sort()
  return {
    all,
    // Limit the dependencies: a thousand objects with a thousand each are a million. They only order the writes;
    // Kubernetes itself waits for missing ones.
    secrets: keysOf('Secret').slice(0, LIMITS.needsPerSort),
    charts: [...keysOf('HelmChart'), ...keysOf(RELEASE.kind)].slice(0, LIMITS.needsPerSort),
    deployments: all.filter(({ object }) => object.kind === 'Deployment').slice(0, LIMITS.needsPerSort),
    carriers: [...carriersOf(all)].sort().slice(0, LIMITS.needsPerSort),
    hooks: { pre: hooksInOrder(all, 'pre'), post: hooksInOrder(all, 'post') },
  }
}

function put<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const before = map.get(key)
  if (before === undefined) map.set(key, [value])
  else before.push(value)
}

/**
 * Returns the keys an object depends on: its namespace, the definition of its kind, its admission webhook, the secrets
 * of its add-on, and the add-ons that its own needs.
 */
export function needsOf(
  one: Keyed,
  order: ObjectOrder,
  cluster: ResourceKey,
  addonNeeds: readonly string[],
): readonly ResourceKey[] {
  const { object } = one
  const own = order.byAddon.get(one.addon)
  const needs = new Set<ResourceKey>()
  if (!GROUND.has(object.kind)) for (const key of own?.secrets ?? []) needs.add(key)
  for (const key of order.namespaces.get(object.metadata.namespace ?? '') ?? []) needs.add(key)
  for (const key of order.definitions.get(`${groupOf(object)} ${object.kind}`) ?? []) needs.add(key)
  if (builtInKind(object) === undefined) {
    // A chart may bring the kind, and a webhook may have to agree.
    for (const key of own?.charts ?? []) needs.add(key)
    for (const key of doorkeepers(object, order)) needs.add(key)
  }
  if (own !== undefined) for (const key of hookNeeds(one, own)) needs.add(key)
  if (one.keeper === true) for (const other of own?.all ?? []) if (other.keeper !== true) needs.add(other.key)
  if (object.kind !== 'Namespace')
    for (const name of addonNeeds) for (const key of order.byAddon.get(name)?.carriers ?? []) needs.add(key)
  needs.add(cluster)
  needs.delete(one.key)
  return [...needs].sort()
}

/**
 * Returns the order of a chart's hooks: those before it, the chart, those after it. Definitions and the namespace come
 * before all of them.
 */
function hookNeeds({ object, key, ofChart }: Keyed, { hooks, all }: AddonOrder): readonly ResourceKey[] {
  if (ofChart === undefined || object.kind === 'CustomResourceDefinition' || object.kind === 'Namespace') return []
  const { phase } = ofChart.hook ?? {}
  const before = phase === undefined ? -1 : hooks[phase].indexOf(key) - 1
  const previous = phase === undefined ? undefined : hooks[phase][before]
  if (previous !== undefined) return [previous]
  if (phase === 'pre') return all.filter((one) => one.object.kind === 'CustomResourceDefinition').map((one) => one.key)
  const [last] = hooks.pre.slice(-1)
  if (phase === undefined) return last === undefined ? [] : [last]
  return all.filter((one) => one.ofChart !== undefined && one.ofChart.hook === undefined).map((one) => one.key)
}

/** Returns the objects that must be ready for an add-on to be: workloads and charts, or all if it has none. */
function carriersOf(objects: readonly Keyed[]): readonly ResourceKey[] {
  const meant = objects.filter(({ keeper }) => keeper !== true)
  const carrying = meant.filter(({ object }) => CARRIERS.has(object.kind) || builtInKind(object) === undefined)
  return (carrying.length > 0 ? carrying : meant).map(({ key }) => key)
}

/** The kind that an object defines, where it defines one. */
function definedBy(definition: KubeObject): string | undefined {
  if (definition.kind !== 'CustomResourceDefinition') return undefined
  const { group, names } = (definition.spec ?? {}) as { group?: unknown; names?: { kind?: unknown } }
  return `${String(group)} ${String(names?.kind)}`
}

interface AdmissionWebhook {
  readonly clientConfig?: { readonly service?: { readonly namespace?: string } }
  readonly rules?: readonly { readonly apiGroups?: readonly string[] }[]
}

/** Deployments behind the admission webhooks for an object. */
function doorkeepers(object: KubeObject, { webhooks, byAddon }: ObjectOrder): readonly ResourceKey[] {
  const group = groupOf(object)
  return webhooks
    .flatMap((configuration) => {
      const hooks = (configuration.object.webhooks ?? []) as readonly AdmissionWebhook[]
      return hooks
        .filter(({ rules = [] }) =>
          rules.some(({ apiGroups = [] }) => apiGroups.includes(group) || apiGroups.includes('*')),
        )
        .flatMap(({ clientConfig }) =>
          (byAddon.get(configuration.addon)?.deployments ?? []).filter(
            ({ object: other }) => other.metadata.namespace === clientConfig?.service?.namespace,
          ),
        )
    })
    .map(({ key }) => key)
}

/** `Addon/cilium@HelmChart.helm.cattle.io/kube-system/cilium`. */
export function objectKey(addon: ResourceKey, object: KubeObject): ResourceKey {
  return `${addon}@${objectId(object)}`
}
