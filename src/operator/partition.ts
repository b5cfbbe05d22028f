import { DEPENDS_ON } from '../kinds/fields/annotations.ts'
import { annotationsOf, at, type Foreign, isRecord, nameOf, objectName } from '../kubernetes/objects.ts'
import { HYPERVISORS } from '../model/hypervisors.ts'
import { type DeclaredObject, isManagedByProvider } from './objects.ts'

/** Objects that one replica works on at a time, because they belong to the same connections and clusters. */
export interface Shard {
  /** Sorted connections and clusters: a Lease and a store for each. The first names the shard. */
  readonly atoms: readonly string[]
  readonly objects: readonly DeclaredObject[]
}

export interface Partition {
  readonly shards: readonly Shard[]
  /** Objects that every shard may look up. The shard of what belongs nowhere writes about them. */
  readonly common: readonly DeclaredObject[]
}

/** The shard of objects that name no connection and no cluster. */
export const REST = 'rest'

/** Kinds with a separate Lease. */
const ATOMS: ReadonlySet<string> = new Set([
  'ProviderConfig',
  'ClusterProviderConfig',
  'Cluster',
  ...HYPERVISORS.map(({ kind }) => kind),
])
/** Facts about the whole estate: they refer to many connections without joining them. */
const COMMON: ReadonlySet<string> = new Set(['Estate', 'Approval'])

/**
 * Objects are in one shard when one names the other, directly or over others. Too few shards cost speed, too many would
 * be unsafe: so every text of an object that equals another object's name counts as a reference. Pure.
 */
export function partition(objects: readonly DeclaredObject[]): Partition {
  const common = objects.filter(({ served }) => COMMON.has(served.kind.kind))
  const divided = objects.filter(({ served }) => !COMMON.has(served.kind.kind))
  const sets = disjointSets()
  const byName = new Map<string, string[]>()
  const configs = new Map<string, string[]>()
  for (const { key, served, object } of divided) {
    const name = objectName(object)
    if (name === undefined) continue
    append(byName, name, key)
    if (served.kind.kind.endsWith('ProviderConfig')) append(configs, name, key)
  }
  /** By key; includes referenced but missing ones. */
  const atoms = new Set(divided.filter(({ served }) => ATOMS.has(served.kind.kind)).map(({ key }) => key))
  const keys = new Set(divided.map(({ key }) => key))
  for (const one of divided) {
    const ofProvider = isManagedByProvider(one.served)
    if (one.namespace !== undefined) {
      // A namespace's quota counts all of its declarations.
      sets.join(one.key, `namespace ${one.namespace}`)
      // A name is claimed in all namespaces.
      const name = objectName(one.object) ?? ''
      for (const key of byName.get(name) ?? []) sets.join(one.key, key)
    }
    for (const key of dependenciesIn(one)) if (keys.has(key)) sets.join(one.key, key)
    for (const name of namesIn(one)) {
      const found = (ofProvider ? configs : byName).get(name)
      if (found !== undefined) for (const key of found) sets.join(one.key, key)
      else if (ofProvider) {
        const missing = `ProviderConfig/${name}`
        atoms.add(missing)
        sets.join(one.key, missing)
      }
    }
  }
  const carrying = new Set(divided.filter(carriesMachines).map(({ key }) => sets.find(key)))
  const [carrier] = carrying.size === 1 ? [...carrying] : []
  // Machines that name no connection are on the only one there is, and so are the servers of a cluster.
  if (carrier !== undefined) for (const one of divided) if (makesMachines(one)) sets.join(one.key, carrier)
  const atomsOf = new Map<string, string[]>()
  for (const atom of [...atoms].sort()) append(atomsOf, sets.find(atom), atom)
  const [single] = atomsOf.size === 1 ? [...atomsOf.keys()] : []
  const only = carrier === undefined ? single : sets.find(carrier)
  const objectsOf = new Map<string, DeclaredObject[]>()
  for (const one of divided) {
    const root = sets.find(one.key)
    append(objectsOf, atomsOf.has(root) ? root : (only ?? REST), one)
  }
  const shards = [...atomsOf].map(([root, names]) => ({ atoms: names, objects: objectsOf.get(root) ?? [] }))
  const rest = { atoms: [REST], objects: [...(objectsOf.get(REST) ?? []), ...common] }
  return { shards: [...shards, rest], common }
}

/** Reports whether one object can replace the other without a new division: equal references, same kind. Pure. */
export function sameTies(before: DeclaredObject, after: DeclaredObject): boolean {
  if (before.served !== after.served || before.key !== after.key || before.namespace !== after.namespace) return false
  if (makesMachines(before) !== makesMachines(after)) return false
  const [named, names] = [namesIn(before), namesIn(after)]
  if (named.size !== names.size || ![...names].every((name) => named.has(name))) return false
  return dependenciesIn(before).join('\n') === dependenciesIn(after).join('\n')
}

/** Returns the division with renewed objects of equal references; unchanged parts keep their identity. Pure. */
export function withRenewed({ shards, common }: Partition, renew: (one: DeclaredObject) => DeclaredObject): Partition {
  const renewedIn = (objects: readonly DeclaredObject[]): readonly DeclaredObject[] => {
    const now = objects.map(renew)
    return now.some((one, place) => one !== objects[place]) ? now : objects
  }
  return {
    shards: shards.map((shard) => {
      const objects = renewedIn(shard.objects)
      return objects === shard.objects ? shard : { ...shard, objects }
    }),
    common: renewedIn(common),
  }
}

function carriesMachines({ served }: DeclaredObject): boolean {
  return ATOMS.has(served.kind.kind) && served.kind.kind !== 'Cluster'
}

function makesMachines({ served, object }: DeclaredObject): boolean {
  return served.kind.kind === 'Cluster' && at(object, 'spec', 'type') !== 'existing'
}

/** Returns dependencies: provider kinds have them in an annotation, croft's own in the spec. */
function dependenciesIn({ object }: DeclaredObject): readonly string[] {
  const said = annotationsOf(object).get(DEPENDS_ON)
  return said === undefined ? [] : said.split(',').map((key) => key.trim())
}

/** Cached by object, because it is read for all objects after every change. */
const read = new WeakMap<Foreign, ReadonlySet<string>>()

function namesIn({ served, object }: DeclaredObject): ReadonlySet<string> {
  const known = read.get(object)
  if (known !== undefined) return known
  const names = new Set<string>()
  if (isManagedByProvider(served)) names.add(nameOf(at(object, 'spec', 'providerConfigRef', 'name')) ?? 'default')
  else {
    collect(object.spec, names)
    // A ProviderConfig may say in an annotation which connection serves it.
    collect(at(object, 'metadata', 'annotations', 'croft.dev/connection'), names)
  }
  read.set(object, names)
  return names
}

function collect(value: unknown, names: Set<string>): void {
  // `Machine/web` and `ns/web` name web; longer texts name nothing.
  if (typeof value === 'string') {
    if (value.length > 253) return
    names.add(value)
    if (value.includes('/')) for (const part of value.split('/')) names.add(part)
  } else if (Array.isArray(value)) for (const one of value) collect(one, names)
  else if (isRecord(value))
    for (const [name, one] of Object.entries(value)) {
      // References to Secrets and namespaces do not name objects of croft.
      if (name === 'namespace' || name === 'secretRef') continue
      names.add(name)
      collect(one, names)
    }
}

function append<T>(map: Map<string, T[]>, name: string, one: T): void {
  const there = map.get(name)
  if (there === undefined) map.set(name, [one])
  else there.push(one)
}

function disjointSets(): { find(name: string): string; join(a: string, b: string): void } {
  const parents = new Map<string, string>()
  const find = (name: string): string => {
    let root = name
    for (let up = parents.get(root); up !== undefined; up = parents.get(root)) root = up
    for (let here = name; here !== root; ) {
      const up = parents.get(here) ?? root
      parents.set(here, root)
      here = up
    }
    return root
  }
  return {
    find,
    join(a, b) {
      const [one, other] = [find(a), find(b)]
      // The smaller name becomes the root, so that equal sets have equal roots in any order.
      if (one < other) parents.set(other, one)
      else if (other < one) parents.set(one, other)
    },
  }
}
