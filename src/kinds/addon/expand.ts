import { createHash } from 'node:crypto'
import type { Declaration } from '../../model/declaration.ts'
import { resourceKey } from '../../model/key.ts'
import { type KubeObject, objectId, type WantedObject } from '../../model/kube-object.ts'
import type { Policy } from '../../model/policy.ts'
import type { Expanded, FieldProblem, Lookup, Part } from '../kind.ts'
import { isHandedOver } from './handover.ts'
import { type AddonDeclaration, type AddonObject, type AddonObjects, namespaceOf, objectsOf } from './objects.ts'
import { type Keyed, needsOf, objectKey } from './order.ts'
import type { AddonSpec } from './schema.ts'

/** Namespaces that every cluster has from its first moment on. */
const ALWAYS_THERE: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease'])

/** What takes more with it than itself when it goes. */
const HOLDING: ReadonlySet<string> = new Set([
  'Namespace',
  'CustomResourceDefinition',
  'PersistentVolumeClaim',
  'PersistentVolume',
  'StatefulSet',
  'CephCluster',
  'CephBlockPool',
])

/** The way from an add-on by one of its needs back to itself; undefined: there is none. */
function circleThrough(
  start: string,
  need: string,
  addons: readonly AddonDeclaration[],
): readonly string[] | undefined {
  const needsOfAddon = new Map(addons.map(({ name, spec }) => [name, spec.needs]))
  const from = new Map<string, string>([[need, start]])
  const left = [need]
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (name === start) {
      const way: string[] = []
      for (let at = from.get(start); at !== undefined && at !== start; at = from.get(at)) way.unshift(at)
      return [start, ...way, start]
    }
    for (const next of needsOfAddon.get(name) ?? []) {
      if (from.has(next)) continue
      from.set(next, name)
      left.push(next)
    }
  }
  return undefined
}

/** One part for each object of the add-on. */
export function expandAddon(
  declaration: AddonDeclaration,
  lookup: Lookup,
): Expanded | { readonly problems: readonly FieldProblem[] } {
  const { spec, key } = declaration
  if (lookup.declaration('Cluster', spec.cluster) === undefined) {
    const message = `there is no Cluster called ${spec.cluster}`
    return { problems: [{ code: 'no-cluster', path: ['spec', 'cluster'], message }] }
  }
  const addons = (lookup.all('Addon') as readonly AddonDeclaration[]).filter((one) => one.spec.cluster === spec.cluster)
  const problems: FieldProblem[] = []
  spec.needs.forEach((name, index) => {
    if (!addons.some((one) => one.name === name)) {
      const message = `there is no Addon called ${name} for cluster ${spec.cluster}`
      problems.push({ code: 'no-addon', path: ['spec', 'needs', index], message })
    }
    const circle = circleThrough(declaration.name, name, addons)
    if (circle !== undefined) {
      const message = `these need each other in a circle, and none can be first: ${circle.join(' → ')}`
      problems.push({ code: 'circle', path: ['spec', 'needs', index], message, hint: 'remove one of the needs' })
    }
  })
  const { objects, keptBy, problems: wrong } = objectsOf(declaration, lookup)
  problems.push(...wrong)
  const all = allObjects(addons, lookup)
  problems.push(...claimedTwice(declaration, all))
  if (problems.length > 0) return { problems }

  const own = [...objects, ...namespacesOf(declaration, addons, lookup)]
  const parts = own.map((one): Part => {
    const wanted = wantedOf(declaration, one, keptBy)
    const keyed = {
      key: objectKey(key, one.object),
      object: one.object,
      addon: declaration.name,
      ...(one.keeper === undefined ? {} : { keeper: one.keeper }),
    }
    return {
      key: keyed.key,
      connection: `cluster/${spec.cluster}`,
      desired: { type: 'object', object: wanted },
      needs: needsOf(keyed, all, resourceKey('Cluster', spec.cluster), spec.needs),
      as: {
        kind: 'Addon',
        name: `${declaration.name}/${one.object.metadata.name}`,
        policy: policyOf(declaration, wanted),
        generation: createHash('sha256').update(JSON.stringify(wanted)).digest('hex').slice(0, 16),
        path: ['spec'],
      },
    }
  })
  return { role: 'resources', parts }
}

function wantedOf({ spec, name }: AddonDeclaration, one: AddonObject, keptBy: AddonObjects['keptBy']): WantedObject {
  const { object, plural, secrets } = one
  const ready = spec.ready.find(
    (rule) =>
      rule.kind === object.kind &&
      rule.name === object.metadata.name &&
      (rule.namespace === undefined || rule.namespace === object.metadata.namespace),
  )
  const by = one.keeper === true ? undefined : keeperFor(object, name, keptBy)
  return {
    cluster: spec.cluster,
    addon: name,
    object,
    plural,
    deletion: deletionOf(spec, object, one.keeper === true),
    ...(object.kind === 'HelmChart' && spec.prune === 'all' ? { definitions: 'Delete' } : {}),
    ...(secrets === undefined ? {} : { secrets }),
    ...(ready === undefined ? {} : { ready: ready.expression }),
    ...(spec.force ? { force: true } : {}),
    ...(spec.adopt ? { adopt: true } : {}),
    ...(spec.handover === undefined || by === undefined ? {} : { handover: { to: spec.handover.to, by } }),
  }
}

/** Of two charts only the add-on's own is handed over: the other one is K3s' business. */
function keeperFor(
  object: KubeObject,
  addon: string,
  { chart, objects }: AddonObjects['keptBy'],
): KubeObject | undefined {
  if (object.kind === 'HelmChart' && object.metadata.name === addon) return chart
  return isHandedOver(object) ? objects : undefined
}

/** What holds data, or what others hang on, goes only when a person says so. A keeper always goes: it is only paper. */
function deletionOf({ prune }: AddonSpec, { kind }: KubeObject, keeper: boolean): 'Delete' | 'Orphan' {
  if (keeper || prune === 'all') return 'Delete'
  return prune === 'none' || HOLDING.has(kind) ? 'Orphan' : 'Delete'
}

function policyOf({ policy, spec }: Declaration<AddonSpec>, { deletion }: WantedObject): Policy {
  return { ...policy, deletion, ...(spec.drift === undefined ? {} : { drift: spec.drift }) }
}

/** Everything on the cluster that any add-on declares. */
function allObjects(addons: readonly AddonDeclaration[], lookup: Lookup): readonly Keyed[] {
  return addons.flatMap((addon) =>
    [...objectsOf(addon, lookup).objects, ...namespacesOf(addon, addons, lookup)].map(({ object, keeper }) => ({
      key: objectKey(addon.key, object),
      object,
      addon: addon.name,
      ...(keeper === undefined ? {} : { keeper }),
    })),
  )
}

/** The namespaces that an add-on brings: each belongs to the first, by name, that uses it and that nobody writes out. */
function namespacesOf(
  declaration: AddonDeclaration,
  addons: readonly AddonDeclaration[],
  lookup: Lookup,
): readonly AddonObject[] {
  if (!declaration.spec.createNamespace) return []
  const name = namespaceOf(declaration)
  if (ALWAYS_THERE.has(name)) return []
  const written = addons.some((one) =>
    objectsOf(one, lookup).objects.some(({ object }) => object.kind === 'Namespace' && object.metadata.name === name),
  )
  const users = addons.filter((one) => one.spec.createNamespace && namespaceOf(one) === name).map((one) => one.name)
  if (written || users.sort()[0] !== declaration.name) return []
  return [
    { object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, plural: 'namespaces', namespaced: false },
  ]
}

/** Two add-ons that say different things about one object would undo each other for ever. */
function claimedTwice(declaration: AddonDeclaration, all: readonly Keyed[]): readonly FieldProblem[] {
  const seen = new Map<string, string[]>()
  for (const { object, addon } of all) {
    const id = objectId(object)
    seen.set(id, [...(seen.get(id) ?? []), addon])
  }
  return [...seen].flatMap(([id, addons]) => {
    if (addons.length < 2 || !addons.includes(declaration.name)) return []
    const others = addons.filter((one) => one !== declaration.name)
    const message =
      others.length === 0 ? `${id} stands there twice` : `${id} is also declared by Addon ${others.join(', ')}`
    return [{ code: 'object-claimed-twice', path: ['spec'], message, hint: 'let one of them have it' }]
  })
}
