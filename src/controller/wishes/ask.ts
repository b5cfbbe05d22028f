import type { PassReport } from '../../engine/engine.ts'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { PlanEntry } from '../../model/plan.ts'
import { driftedFields } from '../../plan/drifted-fields.ts'
import { GUARDS } from '../../plan/guards/registry.ts'
import type { Actor, Granted, Wish } from '../../server/port.ts'
import type { Store } from '../../store/port.ts'
import type { SourceState } from '../sources/source-state.ts'
import { type ActiveWishes, refused } from './wishes.ts'

export interface AskDeps {
  readonly clock: Clock
  readonly store: Store
  readonly epoch: number
  wishes(): ActiveWishes
  keepWishes(next: ActiveWishes): Promise<void>
  report(): PassReport | undefined
  troubles(): readonly SourceState[]
  /** `main@<commit>`: a step back in history that a person allows. */
  allowReturn(name: string): void
  /** Approves the plan of a commit that waits. Undefined: none of this source does. */
  approvePlan(name: string, hash: string): Promise<Granted | undefined>
  adopt(wish: Extract<Wish, { readonly wish: 'adopt-drift' }>): Promise<Granted>
  request?(wish: Extract<Wish, { readonly wish: 'cluster' | 'power' }>, actor: Actor): Promise<Granted>
  passNow(): void
}

/** Answers wishes. Every one is written into the audit log, whatever came of it. */
export function createAsking(deps: AskDeps): (wish: Wish, actor: Actor) => Promise<Granted> {
  return async (wish, actor) => {
    const granted = await grant(wish, actor, deps)
    await deps.store.appendAudit({
      atMs: deps.clock.now(),
      actor: actor.name.slice(0, LIMITS.foreignNameLength),
      from: actor.from,
      what: wish.wish,
      subject: subjectOf(wish),
      outcome: granted.ok ? 'done' : 'refused',
      message: granted.message.slice(0, LIMITS.foreignTextLength),
    })
    if (granted.ok) deps.passNow()
    return granted
  }
}

async function grant(wish: Wish, actor: Actor, deps: AskDeps): Promise<Granted> {
  switch (wish.wish) {
    case 'reconcile':
      return wish.key === undefined ? done('looking now') : retry(wish.key, deps)
    case 'approve':
      return approve(wish.keys, wish.expiresMs, actor, deps)
    case 'suspend':
    case 'resume':
      return suspend(wish.key, wish.wish === 'suspend', deps)
    case 'revert-drift': {
      const entry = entryOf(wish.key, deps)
      if (entry?.drift !== true)
        return refused('not-found', `${wish.key} has not drifted: when croft last looked, it was as Git declares it`)
      const wishes = deps.wishes()
      await deps.keepWishes({
        ...wishes,
        reverting: [...wishes.reverting.filter(({ key }) => key !== wish.key), revertOf(entry)],
      })
      return done(`${wish.key} will be put back as Git declares it`)
    }
    case 'adopt-drift':
      return deps.adopt(wish)
    case 'cluster':
    case 'power':
      return deps.request?.(wish, actor) ?? refused('refused', `this controller does not handle ${wish.wish}`)
  }
}

/** A person says that the cause is gone: what had stalled is tried again. */
async function retry(key: ResourceKey, { store, epoch }: AskDeps): Promise<Granted> {
  const record = await store.record(key)
  if (record === undefined) return refused('not-found', `croft does not know ${key}`)
  const { failure, stalledGeneration, ...rest } = record
  if (failure === undefined && stalledGeneration === undefined) return done('looking now')
  await store.putRecords(epoch, [rest])
  return done(`${key} will be tried again`)
}

async function suspend(key: ResourceKey, on: boolean, deps: AskDeps): Promise<Granted> {
  if (entryOf(key, deps) === undefined) return refused('not-found', `croft does not know ${key}`)
  const wishes = deps.wishes()
  const others = wishes.suspended.filter((one) => one !== key)
  if (!on && others.length === wishes.suspended.length) {
    return refused('conflict', `${key} is not suspended here; an annotation in Git may hold it`)
  }
  await deps.keepWishes({ ...wishes, suspended: on ? [...others, key] : others })
  return done(on ? `croft writes nothing to ${key} until you resume it` : `croft manages ${key} again`)
}

const APPROVABLE: ReadonlySet<string> = new Set(
  GUARDS.filter(({ approvable }) => approvable === true).map(({ name }) => name),
)

async function approve(keys: readonly ResourceKey[], expiresMs: number, actor: Actor, deps: AskDeps): Promise<Granted> {
  const nowMs = deps.clock.now()
  if (keys.length === 0) return refused('refused', 'name at least one resource')
  if (expiresMs <= nowMs || expiresMs > nowMs + LIMITS.approvalMs)
    return refused('refused', `an approval must end within ${LIMITS.approvalMs / 3_600_000} hours`)
  const returns = keys.filter((key) => key.startsWith('Source/'))
  if (returns.length > 0) return approveReturn(keys, returns, deps)
  for (const key of keys) {
    const action = entryOf(key, deps)?.action
    if (action === undefined) return refused('not-found', `croft does not know ${key}`)
    if (action.do !== 'hold') return refused('conflict', `${key} is not held`)
    if (!APPROVABLE.has(action.guard)) return refused('refused', `${key} is held by ${action.guard}: ${action.allow}`)
  }
  const wishes = deps.wishes()
  const approval = { by: actor.name, keys: [...keys], expiresMs }
  await deps.keepWishes({ ...wishes, approvals: [...wishes.approvals, approval].slice(-LIMITS.approvalsKept) })
  return done(`${keys.length === 1 ? keys[0] : `${keys.length} actions`} approved`)
}

/**
 * `Source/main@<plan>`: the plan of a commit that waits. `Source/main@<commit>`: the newest commit of a source does not
 * stand on the one in force, and a person wants it.
 */
async function approveReturn(
  keys: readonly ResourceKey[],
  returns: readonly ResourceKey[],
  deps: AskDeps,
): Promise<Granted> {
  const [only = ''] = returns
  if (keys.length === 1) {
    const [name = '', hash = ''] = only.slice('Source/'.length).split('@')
    const granted = await deps.approvePlan(name, hash)
    if (granted !== undefined) return granted
  }
  if (returns.length !== keys.length) return refused('refused', 'approve sources and resources one after the other')
  for (const key of returns) {
    const [name = '', commit = ''] = key.slice('Source/'.length).split('@')
    const state = deps.troubles().find((one) => one.source.name === name)
    if (state?.trouble?.reason !== 'rewound' || state.trouble.commit !== commit)
      return refused('conflict', `${key} does not wait for an approval`)
    deps.allowReturn(`${name}@${commit}`)
  }
  return done('croft follows the older history')
}

/** What a person saw who asks to revert this. Where drift is ignored, nobody was shown a value. */
function revertOf({ key, action }: PlanEntry): ActiveWishes['reverting'][number] {
  return action.do === 'nothing' ? { key } : { key, seen: driftedFields(action) ?? {} }
}

function entryOf(key: ResourceKey, deps: AskDeps): PlanEntry | undefined {
  return deps.report()?.plan.entries.find((entry) => entry.key === key)
}

function subjectOf(wish: Wish): string {
  if ('keys' in wish) return wish.keys.slice(0, 20).join(' ')
  if ('key' in wish && wish.key !== undefined) return wish.key
  if ('cluster' in wish) return `${wish.order} ${wish.cluster}${wish.node === undefined ? '' : ` ${wish.node}`}`
  return 'target' in wish ? `${wish.order} ${wish.target}` : 'everything'
}

function done(message: string): Granted {
  return { ok: true, message }
}
