import { isDeepStrictEqual } from 'node:util'
import { at, type Foreign, recordOf, recordsOf, stringMapOf } from '../kubernetes/objects.ts'
import type { Problem } from '../model/declaration.ts'
import { maskTree } from '../model/masked/masked-tree.ts'
import { maskMessage } from '../model/masked/secret-text.ts'
import type { Condition, ResourceRecord } from '../model/record.ts'
import { type DeclaredObject, finalizerFor, finalizersOf, isManagedByProvider } from './objects.ts'

/** Croft's knowledge of one object. */
export interface KnownOfObject {
  /** The object as the pass read it: the facts are about this generation. Absent: no pass has read it. */
  readonly judged?: Foreign | undefined
  /** Records of the resource and of its parts. */
  readonly records: readonly ResourceRecord[]
  readonly problems: readonly Problem[]
  readonly paused: boolean
  /** Why it is kept although it is being deleted. */
  readonly kept: string | undefined
  /** A pass has been made with it. */
  readonly passed: boolean
}

type ShownCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

/**
 * Returns the status to write, or undefined if the object has it. It names the generation that the pass read, which may be older than
 * the object's. Conditions of others stay as they are. Pure.
 */
export function statusPatch(declared: DeclaredObject, known: KnownOfObject, nowMs: number): Foreign | undefined {
  const [now, judged] = [declared.object, known.judged].map((object) => recordOf(at(object, 'metadata')))
  // An object that was deleted and made again under its name is another one.
  if (known.judged === undefined || now?.uid !== judged?.uid) return undefined
  const crossplane = isManagedByProvider(declared.served)
  // A Crossplane status has no observed generation: write none for a generation that the pass did not read.
  if (crossplane && now?.generation !== judged?.generation) return undefined
  const wanted = shownConditions(declared, known)
  if (wanted.length === 0) return undefined
  const { conditions, differs } = withConditions(declared.object, wanted, nowMs)
  const generation = judged?.generation
  const observed = !crossplane && typeof generation === 'number' ? { observedGeneration: generation } : {}
  const old = at(declared.object, 'status', 'observedGeneration')
  const facts = crossplane ? {} : factsShown(declared, known)
  const same = observed.observedGeneration === undefined || observed.observedGeneration === old
  if (!differs && same && Object.keys(facts).length === 0) return undefined
  return { ...observed, conditions, ...facts }
}

const NO_FACTS = { state: null, externalId: null, host: null, addresses: null, facts: null }

/** Returns changed fields for expressions; null removes unknown ones. A declaration with several resources has none. */
function factsShown({ object }: DeclaredObject, { records }: KnownOfObject): Foreign {
  const [record] = records
  if (record === undefined || records.length > 1) return {}
  const { addresses, ...facts } = record.details ?? {}
  const shown: Foreign = {
    ...NO_FACTS,
    ...(record.status === undefined ? {} : { state: record.status }),
    ...(record.externalId === undefined ? {} : { externalId: record.externalId }),
    ...(record.host === undefined ? {} : { host: record.host }),
    ...(addresses === undefined ? {} : { addresses: addresses.split(',') }),
    ...(Object.keys(facts).length === 0 ? {} : { facts }),
  }
  const news = Object.entries(maskTree(shown) as Foreign).filter(
    ([name, value]) => !isDeepStrictEqual(at(object, 'status', name) ?? null, value),
  )
  return Object.fromEntries(news)
}

/**
 * Returns an object's conditions with these replaced; a condition keeps its time while its status stays. More people
 * can read a status than a Secret, so foreign messages are masked. Pure.
 */
export function withConditions(
  object: Foreign,
  wanted: readonly (Omit<ShownCondition, 'type'> & { readonly type: string })[],
  nowMs: number,
): { readonly conditions: readonly Foreign[]; readonly differs: boolean } {
  const there = recordsOf(at(object, 'status', 'conditions'))
  let differs = false
  const mine = wanted.map((condition) => {
    const before = there.find(({ type }) => type === condition.type)
    const message = maskMessage(condition.message)
    const same =
      before?.status === condition.status && before.reason === condition.reason && (before.message ?? '') === message
    if (same) return before
    differs = true
    const { message: _, ...rest } = condition
    const since = before?.status === condition.status ? before.lastTransitionTime : undefined
    return {
      ...rest,
      ...(message === '' ? {} : { message }),
      lastTransitionTime: since ?? `${new Date(nowMs).toISOString().slice(0, 19)}Z`,
    }
  })
  const byType = new Map<unknown, Foreign>([...there, ...mine].map((condition) => [condition.type, condition]))
  return { conditions: [...byType.values()], differs }
}

function shownConditions(declared: DeclaredObject, known: KnownOfObject): readonly ShownCondition[] {
  const crossplane = isManagedByProvider(declared.served)
  const [problem] = known.problems.filter(({ severity }) => severity === 'error')
  if (problem !== undefined) {
    const where = problem.field === undefined || problem.field === '' ? '' : `${problem.field}: `
    const hint = problem.hint === undefined ? '' : ` (${problem.hint})`
    const message = `${where}${problem.message}${hint}`
    if (crossplane) return [{ type: 'Synced', status: 'False', reason: 'ReconcileError', message }]
    // The resource may run as an earlier generation declared; this one is refused.
    const refused = { reason: 'Refused', message }
    return [
      { type: 'Synced', status: 'False', ...refused },
      { type: 'Ready', status: 'False', ...refused },
      { type: 'Stalled', status: 'True', ...refused },
    ]
  }
  if (known.kept !== undefined) {
    const message = `${known.kept}: nothing is deleted for that; set deletionPolicy: Orphan to let the object go`
    return [{ type: 'Synced', status: 'False', reason: 'DeletionHeld', message }]
  }
  if (known.records.length === 0) {
    // Facts and connections have no record: their status is only that they were accepted.
    const ofCroft = declared.served.apiVersion.startsWith('croft.dev/')
    if (!known.passed || !ofCroft || declared.deleting) return []
    const accepted = { status: 'True', reason: 'Accepted', message: '' } as const
    return [{ type: 'Synced', ...accepted }, { type: 'Ready', ...accepted }, ...stalled(declared, known)]
  }
  const standing = (['Synced', 'Ready'] as const).flatMap((type) => {
    const all = known.records.flatMap((record) => {
      const condition = record.conditions.find((one) => one.type === type)
      return condition === undefined ? [] : [{ condition, record }]
    })
    const worst = all.find(({ condition }) => condition.status !== 'True') ?? all[0]
    if (worst === undefined) return []
    const { condition, record } = worst
    return [crossplane ? asCrossplane(condition, record, declared, known) : { type, ...saidBy(condition) }]
  })
  return crossplane ? standing : [...standing, ...stalled(declared, known)]
}

/** Returns the condition that a person must act: kstatus and Argo CD give up on it. It is reset when it is over. */
function stalled({ object }: DeclaredObject, { records }: KnownOfObject): readonly ShownCondition[] {
  const type = 'Stalled'
  const stuck = records.flatMap(
    ({ conditions }) => conditions.find((one) => one.type === type && one.status === 'True') ?? [],
  )
  const [first] = stuck
  if (first !== undefined) return [{ type, ...saidBy(first) }]
  const before = recordsOf(at(object, 'status', 'conditions')).some((one) => one.type === type)
  return before ? [{ type, status: 'False', reason: 'NotStalled', message: '' }] : []
}

function saidBy({ status, reason, message }: Condition): Omit<ShownCondition, 'type'> {
  return { status, reason, message }
}

/** Translates to Crossplane's conditions, so that programs that wait for those keep working. */
function asCrossplane(
  condition: Condition,
  { failure, conditions, status: word }: ResourceRecord,
  { deleting }: DeclaredObject,
  { paused }: KnownOfObject,
): ShownCondition {
  const { type, status } = condition
  if (type === 'Synced') {
    if (paused) return { type, status: 'False', reason: 'ReconcilePaused', message: 'Reconciliation is paused' }
    if (status === 'True') return { type, status, reason: 'ReconcileSuccess', message: '' }
    const failed =
      failure?.kind === 'failing' || conditions.some((one) => one.type === 'Stalled' && one.status === 'True')
    if (!failed) return { type, ...saidBy(condition) }
    return { type, status: 'False', reason: 'ReconcileError', message: failure?.message ?? condition.message }
  }
  if (deleting) return { type, status: 'False', reason: 'Deleting', message: '' }
  if (status === 'True') return { type, status, reason: 'Available', message: '' }
  const reason = /creat|boot|start/i.test(word) ? 'Creating' : 'Unavailable'
  return { type, status: 'False', reason, message: `${condition.reason}: ${condition.message}` }
}

const EXTERNAL_NAME = 'crossplane.io/external-name'

/** Annotations and finalizers to write on a live object, or undefined where it has them. Pure. */
export function metadataPatch(declared: DeclaredObject, known: KnownOfObject): Foreign | undefined {
  if (declared.deleting) return undefined
  const metadata = at(declared.object, 'metadata')
  const patch: Record<string, unknown> = {}
  const [record] = known.records
  const named = stringMapOf(at(metadata, 'annotations')).has(EXTERNAL_NAME)
  if (isManagedByProvider(declared.served) && !named && record?.externalId !== undefined)
    patch.annotations = { [EXTERNAL_NAME]: record.externalId }
  const finalizers = finalizersOf(declared.object)
  const finalizer = finalizerFor(declared.served)
  const owns = known.records.length > 0 && !finalizers.includes(finalizer)
  if (owns) patch.finalizers = [...finalizers, finalizer]
  return Object.keys(patch).length === 0 ? undefined : patch
}
