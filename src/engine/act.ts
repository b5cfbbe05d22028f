import type { Session } from '../drivers/port.ts'
import type { Clock } from '../lib/clock.ts'
import { causeOf } from '../lib/failed-on.ts'
import type { Intention, ThingIntention } from '../model/record.ts'
import type { Outcome } from '../model/step.ts'
import type { Admitted } from '../plan/admit.ts'
import type { Store } from '../store/port.ts'

/** One effect and its result. */
export interface Attempt {
  readonly admitted: Admitted
  readonly intention: ThingIntention
  readonly outcome: Outcome
}

export interface ActDeps {
  readonly clock: Clock
  readonly store: Store
  readonly epoch: number
  sessionOf(connection: string): Session
  generationOf(key: string): string
  nextIntentionId(): string
}

/** Performs one admitted step about one thing. */
export async function act(admitted: Admitted, deps: ActDeps, signal: AbortSignal): Promise<Attempt> {
  const { entry, doing, step } = admitted
  const intention: ThingIntention = {
    id: deps.nextIntentionId(),
    epoch: deps.epoch,
    key: entry.key,
    uid: entry.uid,
    connection: entry.connection,
    externalId: doing.externalId,
    host: step.host,
    step,
    generation: deps.generationOf(entry.key),
    atMs: deps.clock.now(),
    state: 'intended',
  }
  const outcome = await journalled(intention, deps, () => deps.sessionOf(entry.connection).perform(step, signal))
  return { admitted, intention, outcome }
}

/**
 * Performs a step: stores the intention before the call, and deletes it once the outcome is certain. After an unclear
 * outcome it stays, so that the next pass observes before acting again. Uses our epoch: a controller that lost it can
 * do nothing more.
 */
export async function journalled(
  intention: Intention,
  { store, epoch }: { readonly store: Store; readonly epoch: number },
  perform: () => Promise<Outcome>,
): Promise<Outcome> {
  await store.intend(epoch, intention)
  let outcome: Outcome
  try {
    outcome = await perform()
  } catch (error) {
    // The result is unknown: the next pass observes it.
    outcome = { result: 'unclear', message: `croft failed in the middle: ${causeOf(error)}` }
  }
  // A task on a cluster or a Power shows its result in the world; only the task itself shows a thing's.
  if (outcome.result === 'started' && intention.step.about === undefined)
    await store.noteTask(epoch, intention.id, outcome.taskId)
  else if (outcome.result !== 'unclear') await store.settle(epoch, intention.id)
  return outcome
}
