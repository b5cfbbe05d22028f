import type { PassReport } from '../../engine/engine.ts'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type Consent, shownHash } from '../../model/consent.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import { isDoing, type PlanEntry } from '../../model/plan.ts'
import { shownList } from '../../plan/guards/consent.ts'
import type { Actor, Granted, Wish } from '../../server/port.ts'
import type { Store } from '../../store/port.ts'
import type { SourceState } from '../sources/source-state.ts'
import { type ActiveWishes, consenting, refused } from './wishes.ts'

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
  /** Approves the plan of a waiting commit. Undefined: this source has none. */
  approvePlan(name: string, hash: string, note: NoteGranted): Promise<Granted | undefined>
  adopt(wish: Extract<Wish, { readonly wish: 'adopt-drift' }>): Promise<Granted>
  request?(wish: Extract<Wish, { readonly wish: 'cluster' | 'power' }>, actor: Actor): Promise<Granted>
  passNow(): void
}

/** Writes into the audit log that a wish is granted: durable when it resolves, so the effect comes after it. */
type NoteGranted = (message: string) => Promise<void>

/**
 * Answers wishes. Each one is in the audit log before it has an effect: a wish that cannot be logged is not granted.
 * One that is refused after all has both entries.
 */
export function createAsking(deps: AskDeps): (wish: Wish, actor: Actor) => Promise<Granted> {
  return async (wish, actor) => {
    const noted: string[] = []
    const note = async (outcome: 'done' | 'refused', message: string): Promise<void> => {
      await deps.store.appendAudit({
        atMs: deps.clock.now(),
        actor: actor.name.slice(0, LIMITS.foreignNameLength),
        from: actor.from,
        what: wish.wish,
        subject: subjectOf(wish),
        outcome,
        message: message.slice(0, LIMITS.foreignTextLength),
      })
      noted.push(outcome)
    }
    const granted = await grant(wish, actor, deps, (message) => note('done', message))
    const outcome = granted.ok ? 'done' : 'refused'
    if (noted.at(-1) !== outcome) await note(outcome, granted.message)
    if (granted.ok) deps.passNow()
    return granted
  }
}

async function grant(wish: Wish, actor: Actor, deps: AskDeps, note: NoteGranted): Promise<Granted> {
  switch (wish.wish) {
    case 'reconcile':
      return wish.key === undefined ? done('looking now') : retry(wish.key, deps, note)
    case 'approve':
      return approve(wish, actor, deps, note)
    case 'suspend':
    case 'resume':
      return suspend(wish.key, wish.wish === 'suspend', deps, note)
    case 'revert-drift': {
      const entry = entryOf(wish.key, deps)
      if (entry?.drift !== true)
        return refused('not-found', `${wish.key} has not drifted: when croft last looked, it was as Git declares it`)
      return after(note, `${wish.key} will be put back as Git declares it`, () =>
        deps.keepWishes(consenting(deps.wishes(), [revertOf(entry, actor)])),
      )
    }
    case 'adopt-drift':
      await note(`${wish.fields.join(', ')} will be written to Git as it is`)
      return deps.adopt(wish)
    case 'cluster':
    case 'power':
      if (deps.request === undefined) return refused('refused', `this controller does not handle ${wish.wish}`)
      await note('requested')
      return deps.request(wish, actor)
  }
}

/** Retries a stalled resource, because a person says that the cause is gone. */
async function retry(key: ResourceKey, { store, epoch }: AskDeps, note: NoteGranted): Promise<Granted> {
  const record = await store.record(key)
  if (record === undefined) return refused('not-found', `croft does not know ${key}`)
  const { failure, stalledGeneration, ...rest } = record
  if (failure === undefined && stalledGeneration === undefined) return done('looking now')
  return after(note, `${key} will be tried again`, () => store.putRecords(epoch, [rest]))
}

async function suspend(key: ResourceKey, on: boolean, deps: AskDeps, note: NoteGranted): Promise<Granted> {
  if (entryOf(key, deps) === undefined) return refused('not-found', `croft does not know ${key}`)
  const wishes = deps.wishes()
  const others = wishes.suspended.filter((one) => one !== key)
  if (!on && others.length === wishes.suspended.length) {
    return refused('conflict', `${key} is not suspended here; an annotation in Git may hold it`)
  }
  const message = on ? `croft writes nothing to ${key} until you resume it` : `croft manages ${key} again`
  return after(note, message, () => deps.keepWishes({ ...wishes, suspended: on ? [...others, key] : others }))
}

async function approve(
  { keys, expiresMs, seen }: Extract<Wish, { readonly wish: 'approve' }>,
  actor: Actor,
  deps: AskDeps,
  note: NoteGranted,
): Promise<Granted> {
  const nowMs = deps.clock.now()
  if (keys.length === 0) return refused('refused', 'name at least one resource')
  if (expiresMs <= nowMs || expiresMs > nowMs + LIMITS.approvalMs)
    return refused('refused', `an approval must end within ${LIMITS.approvalMs / 3_600_000} hours`)
  const returns = keys.filter((key) => key.startsWith('Source/'))
  if (returns.length > 0) return approveReturn(keys, returns, deps, note)
  const consents: Consent[] = []
  for (const key of keys) {
    const action = entryOf(key, deps)?.action
    if (action === undefined) return refused('not-found', `croft does not know ${key}`)
    if (action.do !== 'hold') return refused('conflict', `${key} is not held`)
    const { guard, shows, allow } = action
    if (shows === undefined) return refused('refused', `${key} is held by ${guard}: ${allow}`)
    if (seen?.[key] !== undefined && seen[key] !== shownHash(guard, shows))
      return refused('conflict', `what is held of ${key} has changed: ${shows.join('; ')}. Look at it, then approve it`)
    consents.push({ by: actor.name, key, guard, shown: shows, expiresMs })
  }
  const next = consenting(deps.wishes(), consents)
  if (next.consents.length > LIMITS.consentsKept)
    return refused(
      'refused',
      `more than ${LIMITS.consentsKept} approvals wait to be used; wait until they are, or until they end`,
    )
  const [only] = consents
  const message =
    only === undefined || consents.length > 1
      ? `${consents.length} actions approved`
      : `${only.key} approved: ${only.shown?.join('; ')}`
  return after(note, message, () => deps.keepWishes(next))
}

/**
 * `Source/main@<plan>`: approves the plan of a waiting commit. `Source/main@<commit>`: accepts a newest commit that
 * does not descend from the current one.
 */
async function approveReturn(
  keys: readonly ResourceKey[],
  returns: readonly ResourceKey[],
  deps: AskDeps,
  note: NoteGranted,
): Promise<Granted> {
  const [only = ''] = returns
  if (keys.length === 1) {
    const [name = '', hash = ''] = only.slice('Source/'.length).split('@')
    const granted = await deps.approvePlan(name, hash, note)
    if (granted !== undefined) return granted
  }
  if (returns.length !== keys.length) return refused('refused', 'approve sources and resources one after the other')
  const names = returns.map((key) => key.slice('Source/'.length))
  for (const name of names) {
    const [source = '', commit = ''] = name.split('@')
    const state = deps.troubles().find((one) => one.source.name === source)
    if (state?.trouble?.reason !== 'rewound' || state.trouble.commit !== commit)
      return refused('conflict', `Source/${name} does not wait for an approval`)
  }
  return after(note, 'croft follows the older history', async () => {
    for (const name of names) deps.allowReturn(name)
  })
}

async function after(note: NoteGranted, message: string, effect: () => Promise<void>): Promise<Granted> {
  await note(message)
  await effect()
  return done(message)
}

/** The consent of a person who asks to revert a drift. Where drift is ignored, no list was shown. */
function revertOf(entry: PlanEntry, { name }: Actor): Consent {
  const { key, action } = entry
  const doing = action.do === 'hold' ? action.held : isDoing(action) ? action : undefined
  // The list of a hold may be longer than that of its action.
  const held = action.do === 'hold' ? action.shows : undefined
  const listed = held ?? (doing === undefined ? [] : shownList(entry, doing))
  const shown = action.do === 'nothing' ? undefined : listed
  return { by: name, key, guard: 'drift', ...defined({ shown }) }
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
