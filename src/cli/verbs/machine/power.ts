import type { Settlement } from '../../../engine/engine.ts'
import { LIMITS } from '../../../lib/limits.ts'
import type { Estate } from '../../../model/estate.ts'
import type { Plan, PlanEntry } from '../../../model/plan.ts'
import { type Desired, guestIn, type Resource } from '../../../model/resource.ts'
import { closing } from '../../closing.ts'
import { CliError, EXIT, type ExitCode, signalCode } from '../../exit.ts'
import { progressMode, startProgress } from '../../live-progress.ts'
import { note, styleOf } from '../../output.ts'
import { blindExit } from '../../plan-exit.ts'
import { renderPlan } from '../../render/plan.ts'
import type { Runtime } from '../../runtime.ts'
import { holdState, openState, stateFile } from '../../state.ts'
import { timeoutOf } from '../../timeout.ts'
import type { Options } from '../../verb.ts'
import { withGuest } from './find.ts'
import { noteOperation } from './journal.ts'

/** What a person wants of one machine now, whatever Git says about it. */
export interface Wish {
  readonly what: string
  /** The resource as it is to be for the time of this command. */
  readonly resource: Resource
  readonly done: string
  /** What it must really be in the end; the lists of the hypervisor are seconds old. */
  readonly power?: 'running' | 'stopped'
  /** What to write into Git for the same, where a controller is at work. */
  readonly instead: string
  /** What Git will make of it afterwards. */
  readonly afterwards?: string
}

/**
 * Plans and performs a wish for one machine with the same planner, guards, journal and engine as everything else. Only
 * the declaration is another one, for as long as the command runs.
 */
export async function perform(
  runtime: Runtime,
  directory: string,
  estate: Estate,
  wish: Wish,
  options: Options,
): Promise<ExitCode> {
  const { key } = wish.resource
  const wished: Estate = {
    ...estate,
    resources: estate.resources.map((one) => (one.key === key ? wish.resource : one)),
  }
  const file = stateFile(runtime.env, directory, options.state as string | undefined)
  await using _held = closing(await holdState(runtime, file, wish.instead))
  await using store = closing(await openState(runtime, file))
  await using engine = closing(await runtime.openEngine(store.it, { directory, retryStalled: true }))
  let plan = await engine.it.plan(wished, runtime.signal)
  for (let look = 0; look < LOOKS && (await isHearsay(runtime, directory, estate, wish, plan)); look++) {
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

/** Does the plan see nothing to do only because it has heard of an earlier state? */
async function isHearsay(
  runtime: Runtime,
  directory: string,
  estate: Estate,
  wish: Wish,
  plan: Plan,
): Promise<boolean> {
  const entry = plan.entries.find(({ key }) => key === wish.resource.key)
  if (wish.power === undefined || entry?.action.do !== 'nothing' || runtime.signal.aborted) return false
  return withGuest(runtime, directory, estate, wish.resource, async (session, sighting) => {
    const seen = await session.observe(sighting, { power: true }, runtime.signal)
    return seen?.close?.power !== undefined && seen.close.power !== wish.power
  })
}

/** The same resource with another power state declared, wherever it may be. */
export function powered(resource: Resource, power: 'running' | 'stopped'): Resource {
  const { placement } = resource
  const candidates = placement?.candidates.map((one) => ({ ...one, desired: desiredPower(one.desired, power) }))
  return {
    ...resource,
    desired: desiredPower(resource.desired, power),
    ...(placement === undefined || candidates === undefined ? {} : { placement: { ...placement, candidates } }),
  }
}

function desiredPower(desired: Desired, power: 'running' | 'stopped'): Desired {
  if (desired.type === 'vm') return { type: 'vm', vm: { ...desired.vm, power } }
  return desired.type === 'container' ? { type: 'container', container: { ...desired.container, power } } : desired
}

/** What will become of it when this command is over. */
export function afterPower(resource: Resource, power: 'running' | 'stopped'): string | undefined {
  const declared = guestIn(resource.desired)?.power
  if (declared === undefined || declared === power) return undefined
  const word = declared === 'running' ? 'on' : 'off'
  return `Git declares it ${word}, so the next croft apply switches it ${word} again. Change power there to keep it so.`
}

/** Why the plan does not do it; undefined when it does. */
export function refusalOf({ action }: PlanEntry): string | undefined {
  if (action.do === 'hold' || action.do === 'refuse') return `${action.reason}. To allow it: ${action.allow}.`
  return action.do === 'wait' && action.next === undefined && action.lack === undefined
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
