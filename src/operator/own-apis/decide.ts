import { at, type Foreign, recordsOf } from '../../kubernetes/objects.ts'
import type { Condition } from '../../model/record.ts'
import { type DeclaredObject, finalizersOf } from '../objects.ts'
import { type ComposedObject, comesAfter, isAsWanted, uidOf } from './composed-objects.ts'

export const INSTANCE_FINALIZER = 'croft.dev/finalizer'
/** The server's finalizer for keeping dependents. */
const ORPHAN = 'orphan'

/** The facts about one instance. */
export interface InstanceFacts {
  readonly object: Foreign
  /** Why its deletion does not mean to delete its objects. */
  readonly along: string | undefined
  /** The objects it should have, or why they cannot be known. */
  readonly wanted: readonly ComposedObject[] | { readonly problem: string }
  /** Waiting documents: nothing of them is made or changed, and existing objects with these keys stay. */
  readonly waiting?:
    | undefined
    | { readonly keys: ReadonlySet<string>; readonly unnamed: boolean; readonly texts: readonly string[] }
  /** Existing objects made for it. */
  readonly children: readonly DeclaredObject[]
  /** Foreign objects with a name that it wants. */
  readonly strangers: readonly string[]
  /** The server's refusal of the last write for it. */
  readonly refusal?: string | undefined
}

export type ComposeStep =
  /** Without our finalizer, it could vanish unnoticed: make nothing yet. */
  | { readonly do: 'hold' }
  | { readonly do: 'apply'; readonly wanted: ComposedObject }
  | { readonly do: 'delete'; readonly child: DeclaredObject }
  | { readonly do: 'release' }

export type SaidOfInstance = Pick<Condition, 'status' | 'reason' | 'message'>

export interface InstanceDecision {
  readonly steps: readonly ComposeStep[]
  readonly synced: SaidOfInstance
  readonly ready: SaidOfInstance
}

/** Decides the next steps for an instance, and its conditions. Pure. */
export function decideInstance(facts: InstanceFacts): InstanceDecision {
  const { object, wanted, children, strangers, waiting } = facts
  if (at(object, 'metadata', 'deletionTimestamp') !== undefined) return leaving(facts)
  if ('problem' in wanted) return refused('Refused', wanted.problem, children)
  if (strangers.length > 0)
    return refused(
      'Conflict',
      `${strangers.join(', ')} ${strangers.length === 1 ? 'is' : 'are'} there already and not made for this instance; rename one of them, or hand it over with the label compose.croft.dev/instance-uid=${uidOf(object)} and an ownerReference`,
      children,
    )
  if (!finalizersOf(object).includes(INSTANCE_FINALIZER))
    return { steps: [{ do: 'hold' }], synced: said('True', 'Expanded'), ready: said('False', 'Creating') }
  const byKey = new Map(children.map((child) => [child.key, child]))
  const keys = new Set(wanted.map(({ key }) => key))
  const applied = wanted.flatMap((one): readonly ComposeStep[] => {
    const live = byKey.get(one.key)
    return live !== undefined && (live.deleting || isAsWanted(live.object, one)) ? [] : [{ do: 'apply', wanted: one }]
  })
  // If a waiting object has no name yet, it may be any of them.
  const surplus = children.filter(
    ({ key }) => !keys.has(key) && waiting?.unnamed !== true && waiting?.keys.has(key) !== true,
  )
  const steps = [...applied, ...deletions(surplus, children)]
  return {
    steps,
    // A refused write is repeated at each look, and reported until the server accepts it.
    synced:
      facts.refusal !== undefined && steps.length > 0
        ? said('False', 'Refused', facts.refusal)
        : said('True', 'Expanded'),
    ready: readyWith(readyOf(wanted, byKey), waiting?.texts ?? []),
  }
}

/** Returns the Ready condition with waiting parts, after a missing object, for which the part waits. */
function readyWith(ready: SaidOfInstance, waits: readonly string[]): SaidOfInstance {
  if (waits.length === 0) return ready
  const text = `${waits[0]}${waits.length === 1 ? '' : ` (and ${waits.length - 1} more)`}`
  return said('False', 'Waiting', ready.status === 'True' ? text : `${text}; ${ready.message}`)
}

function leaving({ object, along, children }: InstanceFacts): InstanceDecision {
  const synced = said('True', 'Expanded')
  if (along !== undefined)
    return refused('DeletionHeld', `${along}: nothing that was made for it is deleted for that`, children)
  const going = said('False', 'Deleting', children.map(({ key }) => key).join(', '))
  // The API server removes the owner references; then the objects have no owner.
  if (finalizersOf(object).includes(ORPHAN)) return { steps: [], synced, ready: going }
  if (children.length === 0) return { steps: [{ do: 'release' }], synced, ready: going }
  return { steps: deletions(children, children), synced, ready: going }
}

/** Deletes dependents first. */
function deletions(leave: readonly DeclaredObject[], present: readonly DeclaredObject[]): readonly ComposeStep[] {
  return leave
    .filter(
      ({ key, deleting }) =>
        !deleting && !present.some((other) => other.key !== key && comesAfter(other).includes(key)),
    )
    .map((child) => ({ do: 'delete', child }))
}

function refused(reason: string, message: string, children: readonly DeclaredObject[]): InstanceDecision {
  const lacks = children.find((child) => readiness(child) !== 'True')
  const ready =
    children.length > 0 && lacks === undefined
      ? said('True', 'Available', 'as it was made before')
      : said('False', reason, 'see Synced')
  return { steps: [], synced: said('False', reason, message), ready }
}

function readyOf(wanted: readonly ComposedObject[], byKey: ReadonlyMap<string, DeclaredObject>): SaidOfInstance {
  for (const { key } of wanted) {
    const child = byKey.get(key)
    if (child === undefined) return said('False', 'Creating', `${key} is not there yet`)
    if (readiness(child) === 'True') continue
    const conditions = recordsOf(at(child.object, 'status', 'conditions'))
    const why =
      conditions.find(({ type, status }) => type === 'Synced' && status !== 'True') ??
      conditions.find(({ type, status }) => type === 'Ready' && status !== 'True')
    const cause = [why?.reason, why?.message].filter((one) => typeof one === 'string' && one !== '').join(': ')
    return said('False', 'Creating', `${key}: ${cause === '' ? 'not known yet' : cause}`)
  }
  return said('True', 'Available')
}

/** The provider's connections have no conditions: they are ready if they exist. */
function readiness({ served, object }: DeclaredObject): unknown {
  const condition = recordsOf(at(object, 'status', 'conditions')).find(({ type }) => type === 'Ready')
  return condition === undefined && served.kind.kind.endsWith('ProviderConfig') ? 'True' : condition?.status
}

function said(status: SaidOfInstance['status'], reason: string, message = ''): SaidOfInstance {
  return { status, reason, message }
}
