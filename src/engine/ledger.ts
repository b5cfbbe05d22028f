import { LookFailed } from '../drivers/port.ts'
import type { Clock } from '../lib/clock.ts'
import type { Intention } from '../model/intention.ts'
import type { ResourceKey } from '../model/key.ts'
import { DEFAULT_POLICY } from '../model/policy.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { RemoteTask } from '../model/survey.ts'
import type { Ledger } from '../plan/world.ts'
import type { Store } from '../store/port.ts'
import type { Happening } from './case.ts'
import type { Looking } from './look.ts'
import { fateOf } from './recover.ts'

/** What the store remembers, brought up to date with what the survey shows of effects in flight. */
export interface UpToDate {
  readonly ledger: Ledger
  /** How effects ended that were begun in earlier passes. */
  readonly ended: ReadonlyMap<ResourceKey, Happening>
}

/** Reads the store without changing it: what `croft plan` goes by. */
export async function readLedger(store: Store, retryStalled: boolean): Promise<Ledger> {
  const [records, intentions, fresh] = await Promise.all([store.records(), store.intentions(), store.isFresh()])
  return {
    records: new Map(records.map((record) => [record.key, record])),
    intentions: new Map(intentions.map((intention) => [intention.key, intention])),
    running: new Map(),
    fresh,
    retryStalled,
  }
}

/** Settles the intentions whose fate is known, and says how they ended. Those of an unseen connection stay. */
export async function bringUpToDate(
  ledger: Ledger,
  store: Store,
  epoch: number,
  lookings: ReadonlyMap<string, Looking>,
  clock: Clock,
  signal: AbortSignal,
): Promise<UpToDate> {
  const intentions = new Map<ResourceKey, Intention>()
  const records = new Map(ledger.records)
  const running = new Map<ResourceKey, RemoteTask>()
  const ended = new Map<ResourceKey, Happening>()
  for (const intention of ledger.intentions.values()) {
    const looking = lookings.get(intention.connection)
    if (looking === undefined) {
      intentions.set(intention.key, intention)
      continue
    }
    const fate = fateOf(intention, looking.survey.tasks, clock.now())
    switch (fate.is) {
      case 'running':
        if (intention.taskId === undefined) await store.noteTask(epoch, intention.id, fate.task.id)
        intentions.set(intention.key, intention)
        running.set(intention.key, fate.task)
        break
      case 'unsure':
        intentions.set(intention.key, intention)
        break
      case 'ended': {
        const end = await endOf(intention, fate.taskId, looking, signal)
        if (end === 'still running') {
          intentions.set(intention.key, intention)
          break
        }
        if (end !== undefined) ended.set(intention.key, end)
        learn(intention, end)
        // What failed is judged at the end of this pass: until then nobody can say whether to try again.
        if (end?.what === 'failed') intentions.set(intention.key, intention)
        await close(intention, looking)
        break
      }
      case 'over':
        await close(intention, looking)
        break
    }
  }
  return { ledger: { ...ledger, records, intentions, running }, ended }

  /** What a step has taught holds at once: the record is written only at the end of this pass. */
  function learn({ key, step }: Intention, end: Happening | undefined): void {
    const record = records.get(key)
    const facts = end?.what === 'succeeded' ? step.learns?.done : undefined
    if (record !== undefined && facts !== undefined)
      records.set(key, { ...record, details: { ...record.details, ...facts } })
  }

  async function close(intention: Intention, looking: Looking): Promise<void> {
    looking.looks.delete(intention.externalId)
    looking.close.delete(intention.externalId)
    if (intention.step.verb === 'create') records.set(intention.key, withId(records.get(intention.key), intention))
    await store.settle(epoch, intention.id)
  }
}

/**
 * The id of a creation stays known when its intention is gone. The survey was made before its end was heard of, or the
 * call may still be on its way: without the id, what it makes would be taken for a stranger's and made a second time.
 */
function withId(record: ResourceRecord | undefined, intention: Intention): ResourceRecord {
  const { key, uid, connection, generation, externalId, host, atMs } = intention
  if (record !== undefined) return { ...record, externalId, host }
  const nothing = { policy: DEFAULT_POLICY, conditions: [], createdMs: atMs, status: 'Pending' }
  return { key, uid, connection, type: 'vm', generation, externalId, host, ...nothing }
}

/** One read tells how a task ended. Undefined: the system has forgotten it, and the world's state must tell. */
async function endOf(
  intention: Intention,
  taskId: string,
  looking: Looking,
  signal: AbortSignal,
): Promise<Happening | 'still running' | undefined> {
  try {
    const task = await looking.session.taskOutcome(taskId, signal)
    if (task === undefined) return undefined
    if (task.state === 'running') return 'still running'
    if (task.state === 'succeeded') return { what: 'succeeded', step: intention.step }
    const message = task.message ?? 'the task failed without saying why'
    const refusal = task.refusal ?? { reason: 'TaskFailed', meaning: 'backoff', message }
    return { what: 'failed', step: intention.step, refusal }
  } catch (error) {
    // It could not be asked now: the intention stays and is asked about again in the next pass.
    if (error instanceof LookFailed) return 'still running'
    throw error
  }
}
