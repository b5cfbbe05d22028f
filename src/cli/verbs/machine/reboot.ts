import { LookFailed, type Session } from '../../../drivers/port.ts'
import { LIMITS } from '../../../lib/limits.ts'
import type { Estate } from '../../../model/estate.ts'
import type { Resource } from '../../../model/resource.ts'
import type { Step } from '../../../model/step.ts'
import type { Store } from '../../../store/port.ts'
import { closing } from '../../closing.ts'
import { CliError, EXIT, type ExitCode } from '../../exit.ts'
import type { Runtime } from '../../runtime.ts'
import { openState, stateFile } from '../../state.ts'
import type { Options } from '../../verb.ts'
import { withGuest } from './find.ts'
import { callOf, noteOperation } from './journal.ts'
import { confirm, powered, refusalOf } from './power.ts'

/** Restarts a machine. Whoever guards it from being switched off guards it from this as well. */
export async function reboot(
  runtime: Runtime,
  directory: string,
  estate: Estate,
  resource: Resource,
  options: Options,
): Promise<ExitCode> {
  const { key } = resource
  const file = stateFile(runtime.env, directory, options.state as string | undefined)
  await using store = closing(await openState(runtime, file))
  const refusal = await whyNotOff(runtime, store.it, directory, estate, resource)
  if (refusal !== undefined) {
    await noteOperation(runtime, store.it, key, 'reboot', 'refused', refusal)
    throw new CliError(`${key}: ${refusal}`)
  }
  return await withGuest(runtime, directory, estate, resource, async (session, sighting, { name, rules }) => {
    const seen = await session.observe(sighting, { power: true }, runtime.signal)
    if (seen?.close?.power !== 'running')
      throw new CliError(
        `${key} does not run (${seen?.close?.power ?? 'unknown'}). Start it: croft machine start ${resource.name}.`,
      )
    const steps = rules.rebootSteps(sighting)
    if (steps.length === 0) throw new CliError(`${key}: machines on ${name} cannot be restarted by croft.`)
    for (const { summary } of steps) runtime.out.write(`${summary}\n`)
    await confirm(runtime, options.yes === true)
    for (const step of steps) {
      const end = await ended(runtime, session, step)
      if (end === 'done' && step !== steps.at(-1)) continue
      const outcome = end === 'done' ? 'done' : 'refused'
      await noteOperation(runtime, store.it, key, 'reboot', outcome, `${callOf(step)}: ${end}`)
      if (end !== 'done') throw new CliError(`${key} was not restarted: ${end}`)
    }
    runtime.out.write(`${key} restarted.\n`)
    return EXIT.ok
  })
}

/** Why a machine may not be down, even for a while; undefined when no guard says so. */
export async function whyNotOff(
  runtime: Runtime,
  store: Store,
  directory: string,
  estate: Estate,
  resource: Resource,
): Promise<string | undefined> {
  const { key } = resource
  await using engine = closing(await runtime.openEngine(store, { directory, retryStalled: true }))
  const off: Estate = {
    ...estate,
    resources: estate.resources.map((one) => (one.key === key ? powered(resource, 'stopped') : one)),
  }
  const entry = (await engine.it.plan(off, runtime.signal)).entries.find((one) => one.key === key)
  return entry === undefined ? `${key} cannot be seen.` : refusalOf(entry)
}

/** Why it did not come about; `done` when it did. */
async function ended(runtime: Runtime, session: Session, step: Step): Promise<string> {
  const outcome = await session.perform(step, runtime.signal)
  if (outcome.result === 'refused') return outcome.refusal.message
  if (outcome.result === 'unclear' || outcome.result === 'not-sent') return outcome.message
  return outcome.result === 'started' ? awaitTask(runtime, session, outcome.taskId) : 'done'
}

/** Asks until it has ended; what takes longer than a restart should is said so. */
async function awaitTask(runtime: Runtime, session: Session, taskId: string): Promise<string> {
  const deadlineMs = runtime.clock.monotonicMs() + LIMITS.restartGraceMs
  while (runtime.clock.monotonicMs() < deadlineMs && !runtime.signal.aborted) {
    try {
      const task = await session.taskOutcome(taskId, runtime.signal)
      if (task === undefined || task.state === 'succeeded') return 'done'
      if (task.state === 'failed') return task.refusal?.message ?? task.message ?? 'it failed'
    } catch (error) {
      if (!(error instanceof LookFailed)) throw error
    }
    await runtime.clock.sleep(LIMITS.taskPollMs, runtime.signal)
  }
  return 'it has not ended in time and may still be under way'
}
