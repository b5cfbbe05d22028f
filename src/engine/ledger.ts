import { z } from 'zod'
import { ifObserved, ObservationFailed } from '../drivers/port.ts'
import type { Clock } from '../lib/clock.ts'
import { defined } from '../lib/defined.ts'
import { jsonIn } from '../lib/foreign-json.ts'
import { DEFAULT_POLICY, type ResourceKey } from '../model/declaration.ts'
import type { CoordinatedIntention, Intention, ResourceRecord, ThingIntention } from '../model/record.ts'
import type { RemoteTask } from '../model/resource.ts'
import type { KnownUnread } from '../plan/things/unread.ts'
import type { Ledger } from '../plan/things/world.ts'
import type { Store } from '../store/port.ts'
import type { ConnectionFacts, FactsByConnection } from './connection-facts.ts'
import { readDestroyed } from './destroyed.ts'
import { type Fate, fateOf, fateOfStep } from './recover.ts'
import type { Happening } from './resource-pass.ts'

/** The store's memory, updated by what the survey shows of effects in flight. */
export interface UpToDate {
  readonly ledger: Ledger
  /** Results of effects that started in earlier passes. */
  readonly ended: ReadonlyMap<ResourceKey, Happening>
  readonly findings: Findings
  /** Steps on clusters, of Powers and of operations that started earlier and may still arrive. */
  readonly unsure: readonly CoordinatedIntention[]
}

/** A snapshot of what the store remembers. */
export interface StoredLedger {
  readonly ledger: Ledger
  readonly steps: readonly CoordinatedIntention[]
}

/** Findings about intentions: a pass stores them before it acts, a plan does not. */
export interface Findings {
  /** Tasks that belong to an intention, by its id. */
  readonly tasks: ReadonlyMap<string, string>
  /** Ids of intentions that are over. */
  readonly over: readonly string[]
}

/** Stores the findings about intentions, under our epoch. */
export async function writeFindings({ tasks, over }: Findings, store: Store, epoch: number): Promise<void> {
  for (const [id, taskId] of tasks) await store.noteTask(epoch, id, taskId)
  for (const id of over) await store.settle(epoch, id)
}

export async function readLedger(
  store: Pick<Store, 'records' | 'intentions' | 'isFresh' | 'getValue'>,
  retryStalled: boolean,
  tried: ReadonlySet<ResourceKey> = new Set(),
): Promise<StoredLedger> {
  const [records, intentions, fresh, unread, destroyed] = await Promise.all([
    store.records(),
    store.intentions(),
    store.isFresh(),
    store.getValue(UNREAD),
    readDestroyed(store),
  ])
  const ledger: Ledger = {
    records: new Map(records.map((record) => [record.key, record])),
    intentions: new Map(intentions.filter(isOfThing).map((intention) => [intention.key, intention])),
    running: new Map(),
    unread: readUnread(unread),
    fresh,
    ...defined({ destroyed }),
    retryStalled,
    tried,
  }
  return { ledger, steps: intentions.filter((intention): intention is CoordinatedIntention => !isOfThing(intention)) }
}

/** The stored marks of settled unread paths. */
export const UNREAD = 'source/unread'

/** Returns what was kept of unread paths. If it cannot be read, no path is settled. */
function readUnread(text: string | undefined): KnownUnread {
  return z.record(z.string(), z.string()).safeParse(jsonIn(text ?? '')).data ?? {}
}

function isOfThing(intention: Intention): intention is ThingIntention {
  return intention.step.about === undefined
}

/** Returns how long this process has known another one's intention. Undefined for its own, or one of the same clock. */
export type KnownFor = (intention: Pick<Intention, 'id' | 'epoch'>) => number | undefined

/** Returns the results of intentions that have ended. Those of an unseen connection stay. Writes nothing. */
export async function bringUpToDate(
  { ledger, steps }: StoredLedger,
  factsByConnection: FactsByConnection,
  clock: Clock,
  signal: AbortSignal,
  knownFor?: KnownFor,
): Promise<UpToDate> {
  const intentions = new Map<ResourceKey, ThingIntention>()
  const records = new Map(ledger.records)
  const running = new Map<ResourceKey, RemoteTask>()
  const ended = new Map<ResourceKey, Happening>()
  const fates = new Map<ThingIntention, Fate>()
  const tasks = new Map<string, string>()
  const unsure = steps.filter((step) => fateOfStep(step, clock.now(), knownFor?.(step)).is === 'unsure')
  const over = steps.filter((step) => !unsure.includes(step)).map(({ id }) => id)
  for (const intention of ledger.intentions.values()) {
    const facts = factsByConnection.get(intention.connection)
    if (facts !== undefined)
      fates.set(
        intention,
        fateOf(intention, facts.survey.tasks, clock.now(), ledger.intentions.values(), knownFor?.(intention)),
      )
  }
  const listed = await listEnds(fates, factsByConnection, signal)
  for (const intention of ledger.intentions.values()) {
    const facts = factsByConnection.get(intention.connection)
    const fate = fates.get(intention)
    if (facts === undefined || fate === undefined) {
      intentions.set(intention.key, intention)
      continue
    }
    switch (fate.is) {
      case 'running':
        if (intention.taskId === undefined) tasks.set(intention.id, fate.task.id)
        intentions.set(intention.key, intention)
        running.set(intention.key, fate.task)
        break
      case 'unsure':
        intentions.set(intention.key, intention)
        break
      case 'ended': {
        const end = await endOf(intention, fate.taskId, listed.get(fate.taskId), facts, signal)
        if (end === 'still running') {
          intentions.set(intention.key, intention)
          break
        }
        if (end !== undefined) ended.set(intention.key, end)
        learn(intention, end)
        if (end?.what === 'succeeded' && intention.step.verb === 'create') noteMade(intention, end, facts)
        // The survey may predate its end.
        if (end?.what === 'succeeded' && isGone(intention, facts)) facts.gone.add(intention.externalId)
        // A failure is judged at the end of this pass: until then the retry is undecided.
        if (end?.what === 'failed') intentions.set(intention.key, intention)
        close(intention, facts)
        break
      }
      case 'over':
        close(intention, facts)
        break
    }
  }
  return { ledger: { ...ledger, records, intentions, running }, ended, findings: { tasks, over }, unsure }

  /**
   * Applies a step's facts at once, since the record is stored only at the end of the pass. A success ends a stall, or
   * the earlier failure would still be reported.
   */
  function learn({ key, step }: ThingIntention, end: Happening | undefined): void {
    const record = records.get(key)
    if (record === undefined || end?.what !== 'succeeded') return
    const { failure, stalledGeneration: _, ...rest } = record
    const facts = step.learns?.done
    records.set(key, {
      ...rest,
      ...(failure === undefined || record.stalledGeneration !== undefined ? {} : { failure }),
      ...(facts === undefined ? {} : { details: { ...record.details, ...facts } }),
    })
  }

  function close(intention: ThingIntention, facts: ConnectionFacts): void {
    facts.looks.delete(intention.externalId)
    facts.close.delete(intention.externalId)
    if (intention.step.verb === 'create') records.set(intention.key, withId(records.get(intention.key), intention))
    over.push(intention.id)
  }
}

function noteMade({ externalId, step }: ThingIntention, end: Happening, { memory, survey }: ConnectionFacts): void {
  memory.born.add(externalId)
  const words = memory.begun.get(externalId)
  // A warning may mean a changed configuration.
  if (words === undefined || ('warned' in end && end.warned !== undefined)) return
  memory.made.set(externalId, { step, words, atMs: survey.atMs })
}

/**
 * The id of a creation stays known after its intention is settled. The survey may predate its end, or the call may
 * still be on its way: without the id, its guest would look foreign and be created a second time.
 */
function withId(record: ResourceRecord | undefined, intention: ThingIntention): ResourceRecord {
  const { key, uid, connection, generation, externalId, host, atMs } = intention
  if (record !== undefined) return { ...record, externalId, host }
  const nothing = { policy: DEFAULT_POLICY, conditions: [], createdMs: atMs, status: 'Pending' }
  return { key, uid, connection, type: 'vm', generation, externalId, host, ...nothing }
}

function isGone({ step, externalId }: ThingIntention, { seen }: ConnectionFacts): boolean {
  const type = step.verb === 'delete' ? seen.get(externalId)?.type : undefined
  return type === 'vm' || type === 'container'
}

/** From this many ended tasks of one host one list replaces single reads. */
const LISTED_FROM = 2

/** Returns how tasks ended that left the running set, from lists: the survey's own, and one per host with several. */
async function listEnds(
  fates: ReadonlyMap<ThingIntention, Fate>,
  factsByConnection: FactsByConnection,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, RemoteTask>> {
  const ends = new Map<string, RemoteTask>()
  const unlisted = new Map<string, { facts: ConnectionFacts; host: string; sinceMs: number; count: number }>()
  for (const { survey } of factsByConnection.values())
    for (const task of survey.tasks) if (task.state !== 'running') ends.set(task.id, task)
  for (const [{ connection, host, atMs }, fate] of fates) {
    const facts = factsByConnection.get(connection)
    if (fate.is !== 'ended' || facts === undefined || ends.has(fate.taskId)) continue
    const name = JSON.stringify([connection, host])
    const before = unlisted.get(name)
    unlisted.set(name, {
      facts,
      host,
      sinceMs: Math.min(before?.sinceMs ?? atMs, atMs),
      count: (before?.count ?? 0) + 1,
    })
  }
  for (const { facts, host, sinceMs, count } of unlisted.values()) {
    const { hosts } = facts.session
    if (count < LISTED_FROM || hosts === undefined) continue
    for (const task of (await ifObserved(() => hosts.endedTasks(host, sinceMs, signal))) ?? [])
      if (task.state !== 'running') ends.set(task.id, task)
  }
  return ends
}

/** Reads how a task ended. Undefined if the system has forgotten it: then the world's state decides. */
async function endOf(
  intention: ThingIntention,
  taskId: string,
  listed: RemoteTask | undefined,
  facts: ConnectionFacts,
  signal: AbortSignal,
): Promise<Happening | 'still running' | undefined> {
  try {
    // Only the task itself has the full error.
    const task = listed?.state === 'succeeded' ? listed : await facts.session.taskOutcome(taskId, signal)
    if (task === undefined) return undefined
    if (task.state === 'running') return 'still running'
    if (task.state === 'succeeded') {
      const { step } = intention
      return task.warned === true
        ? { what: 'succeeded', step, warned: task.message ?? 'warnings' }
        : { what: 'succeeded', step }
    }
    const message = task.message ?? 'the task failed without saying why'
    const refusal = task.refusal ?? { reason: 'TaskFailed', meaning: 'backoff', message }
    return { what: 'failed', step: intention.step, refusal }
  } catch (error) {
    // The read failed: the intention stays, and the next pass reads again.
    if (error instanceof ObservationFailed) return 'still running'
    throw error
  }
}
