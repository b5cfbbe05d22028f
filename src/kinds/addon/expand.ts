import { createHash } from 'node:crypto'
import { defined } from '../../lib/defined.ts'
import { atOnce, type Steps } from '../../lib/in-turns.ts'
import { LIMITS } from '../../lib/limits.ts'
import { wordSet } from '../../lib/word-list.ts'
import { type Declaration, type Policy, resourceKey } from '../../model/declaration.ts'
import { isRelease, type KubeObject, objectId, type WantedObject } from '../../model/kube-object.ts'
import type { Expanded, FieldProblem, Lookup, Part } from '../kind.ts'
import { isHandedOver } from './handover.ts'
import { type AddonObject, type AddonObjects, namespaceOf, objectsOf } from './objects.ts'
import { type Keyed, needsOf, type ObjectOrder, objectKey, orderAmong } from './order.ts'
import type { AddonDeclaration, AddonSpec } from './schema.ts'

/** Namespaces that every cluster has from its first moment on. */
const ALWAYS_THERE: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease'])

/** Kinds whose deletion takes other objects or data along. */
const HOLDING = wordSet(`
  Namespace CustomResourceDefinition PersistentVolumeClaim PersistentVolume StatefulSet CephCluster CephBlockPool
`)

/** Returns the path from an add-on through its needs back to itself; undefined if there is no cycle. */
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

/** Expands an add-on into one part per object. */
export function expandAddon(declaration: AddonDeclaration, lookup: Lookup): Expansion {
  return atOnce(expandingAddon(declaration, lookup))
}

type Expansion = Expanded | { readonly problems: readonly FieldProblem[] }

/** Expands in steps: an add-on may have thousands of objects, each ordered among those of all others. */
export function* expandingAddon(declaration: AddonDeclaration, lookup: Lookup): Steps<Expansion> {
  const { spec, key } = declaration
  if (lookup.declaration('Cluster', spec.cluster) === undefined) {
    const message = `there is no Cluster called ${spec.cluster}`
    return { problems: [{ code: 'no-cluster', path: ['spec', 'cluster'], message }] }
  }
  const scope = yield* scopeOf(declaration, lookup)
  const { addons } = scope
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
  const own = [...objects, ...namespacesOf(declaration, scope, lookup)]
  problems.push(...claimedTwice(declaration, own, scope, lookup))
  if (problems.length > 0) return { problems }

  const parts: Part[] = []
  for (const one of own) {
    yield
    const wanted = wantedOf(declaration, one, keptBy)
    const keyed = {
      key: objectKey(key, one.object),
      object: one.object,
      addon: declaration.name,
      ...defined({ keeper: one.keeper, ofChart: one.ofChart }),
    }
    parts.push({
      key: keyed.key,
      connection: `cluster/${spec.cluster}`,
      desired: { type: 'object', object: wanted },
      needs: needsOf(keyed, scope.order, resourceKey('Cluster', spec.cluster), spec.needs),
      as: {
        kind: 'Addon',
        name: `${declaration.name}/${one.object.metadata.name}`,
        policy: policyOf(declaration, wanted),
        generation: createHash('sha256').update(JSON.stringify(wanted)).digest('hex').slice(0, 16),
        path: ['spec'],
      },
    })
  }
  return { role: 'resources', parts }
}

/** An add-on's view of its cluster: the other add-ons, the owners of objects, and the order. */
interface AddonScope {
  readonly addons: readonly AddonDeclaration[]
  /** Add-ons that declare an object, by its name in the cluster. */
  readonly claims: ReadonlyMap<string, readonly AddonDeclaration[]>
  /** Names of declared namespaces, and those declared by an add-on without a grant. */
  readonly written: ReadonlySet<string>
  readonly freelyWritten: ReadonlySet<string>
  /** The add-on that creates an undeclared namespace: the first, by name, that uses it. */
  readonly bringers: ReadonlyMap<string, string>
  readonly order: ObjectOrder
}

/** Worked out once for all add-ons of a cluster: every one of them is ordered among all others. */
const scopes = new WeakMap<Lookup, Map<string, AddonScope>>()

/** Returns the scope. A source without a grant ignores the add-ons of those with one, which must not disturb it. */
function* scopeOf(declaration: AddonDeclaration, lookup: Lookup): Steps<AddonScope> {
  const { cluster } = declaration.spec
  const bounded = lookup.isBounded?.(declaration) === true
  const known = scopes.get(lookup) ?? new Map<string, AddonScope>()
  scopes.set(lookup, known)
  const name = `${bounded ? 'all' : 'free'} ${cluster}`
  const before = known.get(name)
  if (before !== undefined) return before
  const addons = (lookup.all('Addon') as readonly AddonDeclaration[]).filter(
    (one) => one.spec.cluster === cluster && (bounded || lookup.isBounded?.(one) !== true),
  )
  const claims = new Map<string, AddonDeclaration[]>()
  const written = new Set<string>()
  const freelyWritten = new Set<string>()
  const bringers = new Map<string, string>()
  for (const addon of addons) {
    yield
    for (const { object } of objectsOf(addon, lookup).objects) {
      if (object.kind === 'Namespace') {
        written.add(object.metadata.name)
        if (lookup.isBounded?.(addon) !== true) freelyWritten.add(object.metadata.name)
      }
      claim(claims, object, addon)
    }
  }
  // Rank add-ons without a grant first, then by name.
  const rank = (one: AddonDeclaration) => `${lookup.isBounded?.(one) === true ? 1 : 0}${one.name}`
  for (const addon of [...addons].sort((a, b) => (rank(a) < rank(b) ? -1 : 1))) {
    const namespace = namespaceOf(addon)
    if (addon.spec.createNamespace && !ALWAYS_THERE.has(namespace) && !bringers.has(namespace))
      bringers.set(namespace, addon.name)
  }
  const scope: Omit<AddonScope, 'order'> = { addons, claims, written, freelyWritten, bringers }
  const all: Keyed[] = []
  for (const addon of addons) {
    yield
    const brought = namespacesOf(addon, scope, lookup)
    for (const { object } of brought) claim(claims, object, addon)
    for (const { object, keeper, ofChart } of [...objectsOf(addon, lookup).objects, ...brought])
      all.push({
        key: objectKey(addon.key, object),
        object,
        addon: addon.name,
        ...defined({ keeper, ofChart }),
      })
  }
  const made = { ...scope, order: orderAmong(all) }
  known.set(name, made)
  return made
}

function claim(claims: Map<string, AddonDeclaration[]>, object: KubeObject, addon: AddonDeclaration): void {
  const id = objectId(object)
  const before = claims.get(id)
  if (before === undefined) claims.set(id, [addon])
  else before.push(addon)
}

function wantedOf({ spec, name }: AddonDeclaration, one: AddonObject, keptBy: AddonObjects['keptBy']): WantedObject {
  const { object, plural, secrets } = one
  const ready = spec.ready.find(
    (rule) =>
      rule.kind === object.kind &&
      rule.name === object.metadata.name &&
      (rule.namespace === undefined || rule.namespace === object.metadata.namespace),
  )
  const by = one.keeper === true ? undefined : keeperFor(one, name, keptBy)
  const { hook, keep } = one.ofChart ?? {}
  return {
    cluster: spec.cluster,
    addon: name,
    object,
    plural,
    deletion: keep === true && spec.prune !== 'all' ? 'Orphan' : deletionOf(spec, object, one.keeper === true),
    ...(hook === undefined ? {} : { hook: { phase: hook.phase, ...defined({ run: hook.run }) } }),
    ...((object.kind === 'HelmChart' || isRelease(object)) && spec.prune === 'all' ? { definitions: 'Delete' } : {}),
    ...defined({ secrets, ready: ready?.expression }),
    ...(spec.force ? { force: true } : {}),
    ...(spec.adopt ? { adopt: true } : {}),
    ...(spec.handover === undefined || by === undefined ? {} : { handover: { to: spec.handover.to, by } }),
  }
}

/** Only the add-on's own chart is handed over: a second one is applied by K3s. */
function keeperFor(
  { object, ofChart }: AddonObject,
  addon: string,
  { chart, objects }: AddonObjects['keptBy'],
): KubeObject | undefined {
  // The GitOps tool that syncs the chart runs its hooks; the hooks that croft ran stay with croft.
  if (ofChart !== undefined) return ofChart.hook === undefined && isHandedOver(object) ? chart : undefined
  if (object.kind === 'HelmChart' && object.metadata.name === addon) return chart
  return isHandedOver(object) ? objects : undefined
}

/** Deletes objects that hold data or have dependents only with consent. A keeper always goes: it holds nothing. */
function deletionOf({ prune }: AddonSpec, { kind }: KubeObject, keeper: boolean): 'Delete' | 'Orphan' {
  if (keeper || prune === 'all') return 'Delete'
  return prune === 'none' || HOLDING.has(kind) ? 'Orphan' : 'Delete'
}

function policyOf({ policy, spec }: Declaration<AddonSpec>, { deletion }: WantedObject): Policy {
  return { ...policy, deletion, ...defined({ drift: spec.drift }) }
}

/** The namespace that an add-on brings, where it is the one that does. */
function namespacesOf(
  declaration: AddonDeclaration,
  scope: Pick<AddonScope, 'written' | 'freelyWritten' | 'bringers'>,
  lookup: Lookup,
): readonly AddonObject[] {
  const name = namespaceOf(declaration)
  const { written } = lookup.isBounded?.(declaration) === true ? scope : { written: scope.freelyWritten }
  if (!declaration.spec.createNamespace || written.has(name) || scope.bringers.get(name) !== declaration.name) return []
  return [
    { object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, plural: 'namespaces', namespaced: false },
  ]
}

/** Two add-ons with different versions of one object would revert each other for ever. */
function claimedTwice(
  declaration: AddonDeclaration,
  own: readonly AddonObject[],
  { claims }: AddonScope,
  lookup: Lookup,
): readonly FieldProblem[] {
  const bounded = lookup.isBounded?.(declaration) === true
  return [...new Set(own.map(({ object }) => objectId(object)))].flatMap((id) => {
    const addons = claims.get(id) ?? []
    if (addons.length < 2) return []
    const others = [...new Set(addons.map(({ name }) => name))].filter((one) => one !== declaration.name)
    const named = others.slice(0, LIMITS.claimantsNamed).join(', ')
    const more = others.length - LIMITS.claimantsNamed
    const message =
      others.length === 0
        ? `${id} stands there twice`
        : `${id} is also declared by Addon ${named}${more > 0 ? ` and ${more} more` : ''}`
    const hint =
      bounded && addons.some((one) => lookup.isBounded?.(one) !== true)
        ? 'it is not for this source to have'
        : 'let one of them have it'
    return [{ code: 'object-claimed-twice', path: ['spec'], message, hint }]
  })
}
