import type { ResourceKey } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import type { Action } from '../../model/plan.ts'
import { isGuest, type Resource } from '../../model/resource.ts'
import type { Guarded } from '../guards/guard.ts'
import type { PlanInput } from '../planner.ts'
import { claimantOf } from './left-key.ts'
import type { Removal } from './removals.ts'
import { isThere, saidGone } from './systems.ts'
import type { Ledger } from './world.ts'

const LOOK_SOON_MS = 1_000
const LOOK_LATER_MS = 10_000

/** Returns guests at the former place of a declaration that now names another connection, by its key. */
export function movesIn({ resources }: Estate, gone: readonly Removal[]): ReadonlyMap<ResourceKey, readonly Removal[]> {
  const declared = new Set(resources.map(({ key }) => key))
  const moves = new Map<ResourceKey, Removal[]>()
  for (const removal of gone) {
    const key = claimantOf(removal.key)
    if (isGuest(removal.type) && declared.has(key)) moves.set(key, [...(moves.get(key) ?? []), removal])
  }
  return moves
}

/** Returns the action at the new place: none until the guest at the old place is off. */
export function afterMove(
  { key, uid, connection }: Resource,
  action: Action,
  left: readonly Removal[],
  isNode: boolean,
  { estate, worlds, ledger, nowMs }: PlanInput,
): Action {
  if (action.do !== 'create') return action
  const running = left.find(({ observed, deletion }) => deletion === 'Delete' && !isOff(observed))
  if (running !== undefined) {
    const { observed, proof } = running
    const what = `${key} runs as id ${observed.externalId} on ${observed.connection}`
    if (isNode || proof === undefined)
      return {
        do: 'refuse',
        guard: 'moved',
        reason: isNode ? `${what}, and a node of a cluster does not move to another connection` : what,
        allow: isNode
          ? `declare it on ${observed.connection} again; a node leaves its cluster first and comes back under another name`
          : `declare it on ${observed.connection} again, or stop it there by hand`,
      }
    const message = `waits until id ${observed.externalId} on ${observed.connection}, which it replaces, is shut down`
    return { do: 'wait', reason: 'Moves', message, lookAgainMs: LOOK_SOON_MS, next: action }
  }
  for (const [name, world] of worlds) {
    const unread = name === connection ? undefined : world.marked.get(uid)?.find(({ close }) => close === undefined)
    if (unread === undefined || left.some(({ observed }) => observed === unread)) continue
    const message = `waits until id ${unread.externalId} on ${name}, which carries its mark, can be read`
    return { do: 'wait', reason: 'Moves', message, lookAgainMs: LOOK_LATER_MS }
  }
  const gone = saidGone(estate, nowMs)
  for (const held of ledger.records.values()) {
    if (claimantOf(held.key) !== key || held.key === key || !isGuest(held.type) || held.status === 'Orphaned') continue
    const there = worlds.get(held.connection)
    const isSeen = there?.survey !== undefined && isThere(held, there) === 'same'
    if (isSeen || gone.has(held.connection)) continue
    return {
      do: 'refuse',
      guard: 'moved',
      reason: `${key} is id ${held.externalId ?? '?'} on ${held.connection}, which cannot be looked at, and would run twice`,
      allow: `declare ${held.connection} again and make it reachable; if its machines are really gone, an Approval that lists ${held.connection} under absence`,
    }
  }
  return action
}

/** Returns the action at the old place: shut down for the new one, deleted once that is Ready. */
export function beforeMove(
  removal: Removal,
  action: Action,
  { entry: by, policy }: Pick<Guarded, 'entry' | 'policy'>,
  isSuspect: boolean,
  { records }: Ledger,
): Action {
  if (action.do !== 'delete') return action
  const { observed } = removal
  const isReady =
    records.get(by.key)?.conditions.some(({ type, status }) => type === 'Ready' && status === 'True') === true
  if (isReady && by.externalId !== undefined && by.action.do !== 'create') return action
  const wait = (message: string): Action => ({
    do: 'wait',
    reason: 'Moves',
    message,
    lookAgainMs: LOOK_SOON_MS,
    next: action,
  })
  if (isOff(observed)) return wait(`stays, shut down, until ${by.key} is Ready on ${by.connection}`)
  const isHeld = isSuspect || policy.paused || policy.manage !== 'full'
  if (isHeld || by.action.do !== 'wait' || by.action.reason !== 'Moves' || by.action.next === undefined)
    return wait(`stays until ${by.key} can be made on ${by.connection}`)
  return {
    do: 'update',
    externalId: observed.externalId,
    changes: [{ path: 'power', from: 'running', to: 'stopped', effect: 'live' }],
    steps: action.steps.filter(({ verb }) => verb !== 'delete'),
    reason: `${by.key} moves to ${by.connection}`,
  }
}

function isOff({ close, power }: Removal['observed']): boolean {
  return (close?.power ?? power) === 'stopped'
}
