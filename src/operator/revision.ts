import { createHash } from 'node:crypto'
import type { Foreign } from '../kubernetes/objects.ts'
import { ownerOf, type Policy, type ResourceKey } from '../model/declaration.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { FileOutcome } from '../source/assemble.ts'
import type { Revision } from '../source/git/revision.ts'
import { type JudgedObject, judgeDocument } from '../source/judge.ts'
import type { NamespaceGrants } from './grants.ts'
import { type NamespacedOutcome, readNamespaces } from './namespaces.ts'
import { type DeclaredObject, finalizerFor, finalizersOf, manifestOf, stampOf } from './objects.ts'

export interface ClusterState {
  readonly objects: readonly DeclaredObject[]
  /** Documents that stand in no object: the estate itself. */
  readonly derived: readonly Foreign[]
  /** Keys of objects that were there before. One that is missing without having been deleted proves nothing. */
  readonly known: ReadonlySet<ResourceKey>
  /** Objects that are deleted only because their definition or namespace is, with the reason. */
  readonly along: ReadonlyMap<ResourceKey, string>
  /** Some kind could not be listed. */
  readonly incomplete: boolean
  /** The stored records, and the keys of the last finished pass. */
  readonly records: readonly ResourceRecord[]
  readonly passed: ReadonlySet<ResourceKey>
}

export interface ClusterRevision {
  readonly revision: Revision
  /** The objects that were read: what a pass over the revision finds out is about these. */
  readonly objects: ReadonlyMap<ResourceKey, DeclaredObject>
  /** Deleted objects that wait for their finalizer. */
  readonly leaving: ReadonlySet<ResourceKey>
  /** Held although they are being deleted, with the reason. */
  readonly kept: ReadonlyMap<ResourceKey, string>
  /** Missing without having been deleted. */
  readonly vanished: readonly ResourceKey[]
  /** Keys that are paused. */
  readonly paused: ReadonlySet<ResourceKey>
}

type JudgedFile = FileOutcome & { readonly judged: readonly JudgedObject[] }

/** Creates a reader of a cluster's objects as declarations; it reads an object again only after a change. */
export function createReader(
  home: string,
  grants: NamespaceGrants = new Map(),
): { read(state: ClusterState): ClusterRevision } {
  let known = new Map<ResourceKey, { readonly stamp: string; readonly outcome: JudgedFile }>()
  let before: { readonly state: ClusterState; readonly revision: ClusterRevision } | undefined
  return {
    read(state) {
      if (before !== undefined && declaresTheSame(before.state, state)) return before.revision
      const now: typeof known = new Map()
      const revision = revisionOf(state, { home, grants }, (object) => {
        const { key, served } = object
        const stamp = stampOf(object)
        const judged = known.get(key)
        const place = `${served.plural}.${served.apiVersion.split('/')[0]}/${key}`
        const outcome = judged?.stamp === stamp ? judged.outcome : outcomeOf(manifestOf(object, home), place)
        now.set(key, { stamp, outcome })
        return outcome
      })
      known = now
      before = { state, revision }
      return revision
    },
  }
}

/** Reports whether no object came, went or changed. Records count only for objects being deleted. */
function declaresTheSame(before: ClusterState, now: ClusterState): boolean {
  return (
    before.incomplete === now.incomplete &&
    before.known === now.known &&
    before.derived.length === now.derived.length &&
    before.objects.length === now.objects.length &&
    now.objects.every((object, index) => !object.deleting && isAs(object, before.objects[index]))
  )
}

function revisionOf(
  state: ClusterState,
  namespaces: { readonly home: string; readonly grants: NamespaceGrants },
  judge: (object: DeclaredObject) => JudgedFile,
): ClusterRevision {
  const leaving = new Set<ResourceKey>()
  /** Objects without writes so far, and the reason. */
  const still = new Map<ResourceKey, string>()
  const kept = new Map<ResourceKey, string>()
  const outcomes: NamespacedOutcome[] = state.derived.map((manifest) => ({
    outcome: outcomeOf(manifest, 'derived'),
    namespace: undefined,
  }))
  const records = Map.groupBy(state.records, ({ key }) => ownerOf(key))
  for (const object of state.objects) {
    const { key } = object
    const outcome = judge(object)
    const policy = policyIn(outcome)
    // Deleting a definition does not mean to destroy its machines; orphaned ones may go.
    const why = policy?.deletion === 'Orphan' ? undefined : state.along.get(key)
    if (why !== undefined) kept.set(key, why)
    if (object.deleting && why === undefined && mayLeave(policy, records.get(key) ?? [], state.passed.has(key)))
      leaving.add(key)
    else {
      if (object.deleting) still.set(key, 'croft knows what its deletion means')
      else if (!isHeld(object)) still.set(key, 'its object has the finalizer of croft')
      outcomes.push({ outcome, namespace: object.namespace })
    }
  }
  const objects = new Map(state.objects.map((object) => [object.key, object]))
  const vanished = [...state.known].filter((key) => !objects.has(key))
  const read = readNamespaces(outcomes, namespaces, state)
  const declarations = read.declarations.map((declaration) => {
    const policy = policyFor(declaration.policy, still.get(declaration.key))
    return policy === declaration.policy ? declaration : { ...declaration, policy }
  })
  const unreadable = [...new Set([...read.unreadable, ...vanished])].sort()
  const id = idOf([
    declarations.map(({ key, generation, policy }) => [key, generation, policy]),
    unreadable,
    // Objects refused for another reason have their own message.
    read.problems.map(({ object, message }) => [object, message]),
    [...leaving],
    [...kept],
    // Becoming readable again is a change too, even if no object has changed.
    ...(read.incomplete ? ['incomplete'] : []),
  ])
  const paused = new Set(read.declarations.filter(({ policy }) => policy.paused).map(({ key }) => key))
  return { revision: { ...read, id, declarations, unreadable }, objects, leaving, kept, vanished, paused }
}

function isAs(object: DeclaredObject, before: DeclaredObject | undefined): boolean {
  return before?.key === object.key && stampOf(before) === stampOf(object)
}

/**
 * Reports whether a deleted object counts as removed: only once its policy is in the store. Until then it is declared
 * and nothing is written, so that a policy changed just before is not missed.
 */
function mayLeave(policy: Policy | undefined, own: readonly ResourceRecord[], passed: boolean): boolean {
  if (policy?.paused === true) return false
  if (own.length === 0) return passed
  return (
    policy === undefined ||
    own.every(({ policy: { deletion, protect } }) => deletion === policy.deletion && protect === policy.protect)
  )
}

/** Reports whether the object has our finalizer: without it, it could vanish unnoticed. */
function isHeld({ object, served }: DeclaredObject): boolean {
  return finalizersOf(object).includes(finalizerFor(served))
}

function policyFor(policy: Policy, until: string | undefined): Policy {
  const unmarked = policy.adopt === undefined ? policy : { ...policy, unmarked: true as const }
  if (until === undefined) return unmarked
  return { ...unmarked, paused: true, ...(policy.paused ? {} : { pausedUntil: until }) }
}

/**
 * Judges an object without keeping its text: problems name fields, because an object has no lines. Warnings are
 * dropped; a machine of the provider has a dozen, one for each field that only the provider knows.
 */
function outcomeOf(manifest: Foreign, file: string): JudgedFile {
  const judged = judgeDocument({ document: { text: '', line: 1 }, value: plainTree(manifest), findings: [] })
  return { file, judged: judged.map((one) => ({ ...one, problems: one.problems.filter(isError) })) }
}

function isError({ severity }: JudgedObject['problems'][number]): boolean {
  return severity !== 'warning'
}

function policyIn({ judged: [first] }: JudgedFile): Policy | undefined {
  return first?.outcome === 'declared' ? first.policy : undefined
}

/** Copies a value like the file readers: maps without a prototype. */
function plainTree(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainTree)
  if (typeof value !== 'object' || value === null) return value
  const map: Record<string, unknown> = Object.create(null)
  for (const [name, entry] of Object.entries(value)) map[name] = plainTree(entry)
  return map
}

function idOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 40)
}
