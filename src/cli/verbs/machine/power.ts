import { ObservationFailed, type Session } from '../../../drivers/port.ts'
import type { Settlement } from '../../../engine/engine.ts'
import { LIMITS } from '../../../lib/limits.ts'
import { changedEstate } from '../../../model/estate.ts'
import type { Plan, PlanEntry } from '../../../model/plan.ts'
import { guestIn, type Resource, withGuestFields } from '../../../model/resource.ts'
import { callLine } from '../../../model/shown-step.ts'
import type { Step } from '../../../model/step.ts'
import { holdState, openState } from '../../../state/state-file.ts'
import type { Store } from '../../../store/port.ts'
import { progressMode, startProgress } from '../../live-progress.ts'
import { closing, ownState, stateOf } from '../../load.ts'
import { note, styleOf } from '../../output.ts'
import { timeoutOf } from '../../render/duration.ts'
import { renderPlan } from '../../render/plan.ts'
import { blindExit } from '../../render/plan-summary.ts'
import type { Runtime } from '../../runtime.ts'
import { CliError, EXIT, type ExitCode, signalCode } from '../../verb.ts'
import { type AskedMachine, noteOperation, withGuest } from './find.ts'

/** The state a person wants for one machine now, overriding Git. */
export interface MachineRequest {
  readonly what: string
  /** The resource as desired during this command. */
  readonly resource: Resource
  readonly done: string
  /** The power state to confirm on the machine itself: the hypervisor's lists are seconds old. */
  readonly power?: 'running' | 'stopped'
  /** The change to make in Git instead, if a controller is at work. */
  readonly instead: string
  /** The effect of Git after this command. */
  readonly afterwards?: string
}

/**
 * Plans and performs a wish for one machine with the usual planner, guards, journal and engine, only with another
 * declaration during this command.
 */
export async function perform(asked: AskedMachine, wish: MachineRequest): Promise<ExitCode> {
  const { runtime, directory, estate, options } = asked
  const { key } = wish.resource
  const wished = changedEstate(estate, (whole) => ({
    ...whole,
    resources: whole.resources.map((one) => (one.key === key ? wish.resource : one)),
  }))
  const file = stateOf(runtime, directory, options)
  await using _held = closing(await holdState(runtime, file, wish.instead))
  await using store = closing(await openState(runtime, file))
  await using engine = closing(await runtime.openEngine(store.it, { directory, retryStalled: true }))
  let plan = await engine.it.plan(wished, runtime.signal)
  for (let look = 0; look < LOOKS && (await isHearsay(asked, wish, plan)); look++) {
    await runtime.clock.sleep(LIMITS.taskPollMaxMs, runtime.signal)
    plan = await engine.it.plan(wished, runtime.signal)
  }
  const blind = blindExit(plan)
  const entry = plan.entries.find((one) => one.key === key)
  if (blind !== undefined || entry === undefined) {
    runtime.out.write(renderPlan(plan, styleOf(runtime, runtime.out)))
    return blind ?? EXIT.failed
  }
  if (entry.action.do === 'nothing') {
    runtime.out.write(`${key} is so already: there is nothing to do.\n`)
    return EXIT.ok
  }
  const refusal = refusalOf(entry)
  if (refusal !== undefined) {
    await noteOperation(runtime, store.it, key, wish.what, 'refused', refusal)
    throw new CliError(`${key}: ${refusal}`)
  }
  runtime.out.write(renderPlan({ ...plan, entries: [entry] }, styleOf(runtime, runtime.out)))
  await confirm(runtime, options.yes === true)
  const mode = progressMode((options.progress as string | undefined) ?? 'auto', runtime.err.isTty, runtime.env)
  const live = startProgress(runtime.err, styleOf(runtime, runtime.err), runtime.clock, mode)
  const deadlineMs = options.timeout === undefined ? LIMITS.settleDeadlineMs : timeoutOf(options.timeout)
  let settled: Settlement
  try {
    const only = new Set([key])
    settled = await engine.it.settle(wished, { only, signal: runtime.signal, deadlineMs, onPass: live.onPass })
  } finally {
    await live.end()
  }
  if (settled.outcome === 'aborted') return signalCode(runtime.signal)
  const left = settled.last.plan.entries.find((one) => one.key === key)
  const done = settled.outcome === 'settled' && left?.action.do === 'nothing'
  await noteOperation(runtime, store.it, key, wish.what, done ? 'done' : 'refused', done ? wish.done : 'not finished')
  if (!done) {
    note(runtime, `${key} is not there yet. Run croft describe ${key} to see why.`)
    return settled.outcome === 'deadline' ? EXIT.timedOut : EXIT.failed
  }
  runtime.out.write(`${key} ${wish.done}.\n`)
  if (wish.afterwards !== undefined) note(runtime, wish.afterwards)
  return EXIT.ok
}

/** Proxmox's lists are up to twelve seconds old. */
const LOOKS = 8

/** Reports whether the plan has no action only because its observation is outdated. */
async function isHearsay(asked: AskedMachine, wish: MachineRequest, plan: Plan): Promise<boolean> {
  const { runtime } = asked
  const entry = plan.entries.find(({ key }) => key === wish.resource.key)
  if (wish.power === undefined || entry?.action.do !== 'nothing' || runtime.signal.aborted) return false
  return withGuest(asked, async (session, observed) => {
    const seen = await session.observe(observed, { power: true }, runtime.signal)
    return seen?.close?.power !== undefined && seen.close.power !== wish.power
  })
}

/** Returns the resource with another declared power state. */
export function powered(resource: Resource, power: 'running' | 'stopped'): Resource {
  const { placement } = resource
  const candidates = placement?.candidates.map((one) => ({ ...one, desired: withGuestFields(one.desired, { power }) }))
  return {
    ...resource,
    desired: withGuestFields(resource.desired, { power }),
    ...(placement === undefined || candidates === undefined ? {} : { placement: { ...placement, candidates } }),
  }
}

/** Returns what happens to the machine after this command. */
export function afterPower(resource: Resource, power: 'running' | 'stopped'): string | undefined {
  const declared = guestIn(resource.desired)?.power
  if (declared === undefined || declared === power) return undefined
  const word = declared === 'running' ? 'on' : 'off'
  return `Git declares it ${word}, so the next croft apply switches it ${word} again. Change power there to keep it so.`
}

/** Returns why the plan refuses the action; undefined if it does it. */
function refusalOf({ action }: PlanEntry): string | undefined {
  if (action.do === 'hold' || action.do === 'refuse') return `${action.reason}. To allow it: ${action.allow}.`
  return action.do === 'wait' && action.next === undefined && action.missing === undefined
    ? `${action.message}. Try again when that is over.`
    : undefined
}

export async function confirm(runtime: Runtime, yes: boolean): Promise<void> {
  if (yes) return
  if (!runtime.interactive)
    throw new CliError('Nobody is at the terminal to confirm. Look at the plan above and run it again with --yes.')
  const answer = await runtime.ask("\nDo you want this? Only 'yes' will be accepted: ")
  if (answer !== 'yes') throw new CliError('Nothing was done. Run it again and type yes.')
}

/** Restarts a machine, unless a guard forbids switching it off. */
export async function reboot(asked: AskedMachine): Promise<ExitCode> {
  const { runtime, directory, resource, options } = asked
  const { key } = resource
  await using store = await ownState(runtime, directory, options)
  const refusal = await whyNotOff(asked, store.it)
  if (refusal !== undefined) {
    await noteOperation(runtime, store.it, key, 'reboot', 'refused', refusal)
    throw new CliError(`${key}: ${refusal}`)
  }
  return await withGuest(asked, async (session, observed, { name, rules }) => {
    const seen = await session.observe(observed, { power: true }, runtime.signal)
    if (seen?.close?.power !== 'running')
      throw new CliError(
        `${key} does not run (${seen?.close?.power ?? 'unknown'}). Start it: croft machine start ${resource.name}.`,
      )
    const steps = rules.rebootSteps(observed)
    if (steps.length === 0) throw new CliError(`${key}: machines on ${name} cannot be restarted by croft.`)
    for (const { summary } of steps) runtime.out.write(`${summary}\n`)
    await confirm(runtime, options.yes === true)
    for (const step of steps) {
      const end = await ended(runtime, session, step)
      if (end === 'done' && step !== steps.at(-1)) continue
      const outcome = end === 'done' ? 'done' : 'refused'
      await noteOperation(runtime, store.it, key, 'reboot', outcome, `${callLine(step)}: ${end}`)
      if (end !== 'done') throw new CliError(`${key} was not restarted: ${end}`)
    }
    runtime.out.write(`${key} restarted.\n`)
    return EXIT.ok
  })
}

/** Returns why a guard forbids stopping a machine, even briefly; undefined if none does. */
export async function whyNotOff(
  { runtime, directory, estate, resource }: AskedMachine,
  store: Store,
): Promise<string | undefined> {
  const { key } = resource
  await using engine = closing(await runtime.openEngine(store, { directory, retryStalled: true }))
  const off = changedEstate(estate, (whole) => ({
    ...whole,
    resources: whole.resources.map((one) => (one.key === key ? powered(resource, 'stopped') : one)),
  }))
  const entry = (await engine.it.plan(off, runtime.signal)).entries.find((one) => one.key === key)
  return entry === undefined ? `${key} cannot be seen.` : refusalOf(entry)
}

/** Returns the error; `done` on success. */
async function ended(runtime: Runtime, session: Session, step: Step): Promise<string> {
  const outcome = await session.perform(step, runtime.signal)
  if (outcome.result === 'refused') return outcome.refusal.message
  if (outcome.result === 'unclear' || outcome.result === 'not-sent') return outcome.message
  return outcome.result === 'started' ? awaitTask(runtime, session, outcome.taskId) : 'done'
}

/** Polls until the task has ended, and reports one that takes longer than a restart should. */
async function awaitTask(runtime: Runtime, session: Session, taskId: string): Promise<string> {
  const deadlineMs = runtime.clock.monotonicMs() + LIMITS.restartGraceMs
  while (runtime.clock.monotonicMs() < deadlineMs && !runtime.signal.aborted) {
    try {
      const task = await session.taskOutcome(taskId, runtime.signal)
      if (task === undefined || task.state === 'succeeded') return 'done'
      if (task.state === 'failed') return task.refusal?.message ?? task.message ?? 'it failed'
    } catch (error) {
      if (!(error instanceof ObservationFailed)) throw error
    }
    await runtime.clock.sleep(LIMITS.taskPollMs, runtime.signal)
  }
  return 'it has not ended in time and may still be under way'
}
