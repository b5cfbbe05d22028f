import type { Session } from '../drivers/port.ts'
import type { Clock } from '../lib/clock.ts'
import type { Intention } from '../model/intention.ts'
import type { Outcome } from '../model/verdict.ts'
import type { Admitted } from '../plan/admit.ts'
import type { Store } from '../store/port.ts'

/** One effect and what came of it. */
export interface Attempt {
  readonly admitted: Admitted
  readonly intention: Intention
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

/**
 * Performs one admitted step: the intention is durable before the call, and stays until the outcome is certain. An
 * unclear outcome leaves it in place, so that the next pass looks before it does anything again.
 */
export async function act(admitted: Admitted, deps: ActDeps, signal: AbortSignal): Promise<Attempt> {
  const { entry, doing, step } = admitted
  const intention: Intention = {
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
  await deps.store.intend(deps.epoch, intention)
  const outcome = await deps.sessionOf(entry.connection).perform(step, signal)
  switch (outcome.result) {
    case 'started':
      await deps.store.noteTask(deps.epoch, intention.id, outcome.taskId)
      break
    case 'done':
    case 'not-sent':
    case 'refused':
      await deps.store.settle(deps.epoch, intention.id)
      break
    case 'unclear':
      break
  }
  return { admitted, intention, outcome }
}
