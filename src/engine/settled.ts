import { LIMITS } from '../lib/limits.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { Plan } from '../model/plan.ts'
import { isFailed, type ResourceRecord } from '../model/record.ts'
import type { Resource } from '../model/resource.ts'
import { nextTaskLookMs, type Pace } from '../plan/pace.ts'
import { isTrue } from './conditions.ts'

/** The reason of a wait for a fact that the asked system could not give. */
export const CANNOT_BE_READ = 'CannotBeRead'

/** Reports whether nothing is under way and another pass would change nothing until the world or Git changes. */
export function isSettled(
  plan: Plan,
  records: readonly ResourceRecord[],
  inFlight: number,
  effects: number,
  resources: readonly Pick<Resource, 'key' | 'needs'>[] = [],
  givenUp: ReadonlySet<string> = new Set(),
): boolean {
  if (inFlight > 0 || effects > 0) return false
  const byKey = new Map(records.map((record) => [record.key, record]))
  const refused = new Set([
    ...plan.notes.filter((note) => note.code === 'refused').map((note) => note.connection),
    ...givenUp,
  ])
  let found: ReadonlySet<ResourceKey> | undefined
  const stuck = () => (found ??= stuckIn(plan, resources, refused, byKey))
  return plan.entries.every(({ key, connection, action }) => {
    switch (action.do) {
      case 'hold':
      case 'refuse':
        return true
      case 'nothing': {
        const record = byKey.get(key)
        if (record === undefined) return false
        return record.status === 'Orphaned' || isTrue(record.conditions, 'Ready') || isFailed(record.conditions)
      }
      case 'wait':
        if (action.reason === 'ConnectionNotSeen' && refused.has(connection)) return true
        return isStalledFor(action.reason, byKey.get(key)) || stuck().has(key)
      default:
        return false
    }
  })
}

/** A failed deletion is retried with growing pauses: `apply` need not wait for that. */
function isStalledFor(reason: string, record: ResourceRecord | undefined): boolean {
  return record?.stalledGeneration !== undefined && record.failure?.reason === reason
}

/** How often each connection was unreachable since a settling started, if it never answered. */
export type Unreached = ReadonlyMap<string, number>

/** Counts one more pass. A connection that answered before is awaited: croft itself may be restarting its host. */
export function countUnreached(before: Unreached, plan: Pick<Plan, 'notes'>, isFirst: boolean): Unreached {
  const away = plan.notes.filter(({ code }) => code === 'unreachable').map(({ connection }) => connection)
  return new Map(away.flatMap((name) => (isFirst || before.has(name) ? [[name, (before.get(name) ?? 0) + 1]] : [])))
}

/** How often in a row each thing was unreadable although its connection answers. */
export type Unread = ReadonlyMap<ResourceKey, number>

export function countUnread(before: Unread, plan: Pick<Plan, 'entries'>): Unread {
  const unread = plan.entries.filter(({ action }) => action.do === 'wait' && action.reason === CANNOT_BE_READ)
  return new Map(unread.map(({ key }) => [key, (before.get(key) ?? 0) + 1]))
}

/** Returns connections and things that `apply` no longer waits for: it reports them and completes the rest. */
export function givenUpOn(unreached: Unreached, unread: Unread): ReadonlySet<string> {
  const over = (counts: ReadonlyMap<string, number>, most: number) =>
    [...counts].flatMap(([name, passes]) => (passes >= most ? [name] : []))
  return new Set([...over(unreached, LIMITS.unreachedPasses), ...over(unread, LIMITS.unreadPasses)])
}

/** Returns things that wait, even indirectly, for a person: waiting alone does not help. */
function stuckIn(
  plan: Plan,
  resources: readonly Pick<Resource, 'key' | 'needs'>[],
  unseen: ReadonlySet<string>,
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
): ReadonlySet<ResourceKey> {
  const actions = new Map(plan.entries.map(({ key, action }) => [key, action]))
  const stuck = new Set<ResourceKey>()
  for (const { key, action, connection } of plan.entries) {
    const isUnseen = action.do === 'wait' && action.reason === 'ConnectionNotSeen' && unseen.has(connection)
    const failed = action.do === 'nothing' && isFailed(records.get(key)?.conditions ?? [])
    const isUnread = action.do === 'wait' && action.reason === CANNOT_BE_READ && unseen.has(key)
    if (action.do === 'refuse' || isUnseen || isUnread || failed) stuck.add(key)
  }
  for (let before = -1; before !== stuck.size; ) {
    before = stuck.size
    for (const { key, needs } of resources) {
      const action = actions.get(key)
      if (action?.do === 'wait' && action.reason === 'NeedsNotReady' && needs.some((need) => stuck.has(need)))
        stuck.add(key)
    }
  }
  return stuck
}

/** Returns when another pass may help: soon after an effect, at the pace of tasks, or at the end of a wait. */
export function nextLookMs(
  plan: Plan,
  records: readonly ResourceRecord[],
  inFlight: number,
  effects: { readonly all: number; readonly started: number },
  pace: Pace,
): number {
  // An immediate effect allows an immediate next pass. A started task takes time, so an immediate look is useless.
  if (effects.all > effects.started) return 0
  let next: number = LIMITS.sweepIntervalMs
  if (inFlight > 0) next = Math.min(next, nextTaskLookMs(pace, inFlight))
  if (effects.started > 0) return next
  for (const { action } of plan.entries) {
    if (action.do === 'wait') next = Math.min(next, Math.max(action.lookAgainMs, LIMITS.shortestLookMs))
    else if (action.do !== 'nothing' && action.do !== 'hold' && action.do !== 'refuse')
      next = Math.min(next, LIMITS.readinessPollMs)
  }
  if (records.some((record) => !isTrue(record.conditions, 'Ready') && record.status !== 'Orphaned')) {
    next = Math.min(next, LIMITS.readinessPollMs)
  }
  return next
}
