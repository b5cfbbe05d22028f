import type { PassReport } from '../../engine/engine.ts'
import { readWaits } from '../../engine/power/noted-waits.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import type { PowerPlan } from '../../model/observed-power.ts'
import {
  NO_POWER_REQUESTS,
  type PersonHold,
  type PowerDeclaration,
  type PowerRequest,
  type PowerRequests,
} from '../../model/power.ts'
import { coordinatePower } from '../../plan/power/coordinate.ts'
import { openState } from '../../state/state-file.ts'
import type { Store } from '../../store/port.ts'
import { changeStoredRequests } from '../clusters/requests.ts'
import { closing, stateOf } from '../load.ts'
import { styleOf, writeData } from '../output.ts'
import { parseDuration } from '../render/duration.ts'
import { API_VERSION } from '../render/plan-json.ts'
import { clean } from '../render/text.ts'
import type { Runtime } from '../runtime.ts'
import { CliError, EXIT, type ExitCode, type Options, signalCode, UsageError, type Verb } from '../verb.ts'
import { confirmed } from './host/find.ts'
import { actorOf, loadForOperation, noteOperation } from './machine/find.ts'
import { type AtWork, renderPower, renderPowerPlan } from './power/render.ts'

const WHATS = ['off', 'on', 'status', 'hold', 'release'] as const

/** Switches a cluster or site off and on, says how far that is, and holds it. */
export const run: Verb = async (runtime, [what = 'status', name], options) => {
  const known = WHATS.find((one) => one === what)
  if (known === undefined) throw new UsageError(`There is no croft power ${what}. Use ${WHATS.join(', ')}.`)
  const { estate, real } = await loadForOperation(runtime, String(options.dir))
  const power = powerNamed(estate, name)
  const state = stateOf(runtime, real, options)
  const asked: NamedPower = { power, estate, directory: real, state }
  switch (known) {
    case 'status':
      return status(runtime, asked, options)
    case 'off':
    case 'on':
      return switched(runtime, asked, known, options)
    case 'hold':
    case 'release':
      return holding(runtime, asked, known, options)
  }
}

function powerNamed(estate: Estate, name: string | undefined): PowerDeclaration {
  const powers = estate.powers ?? []
  const named = powers.find((one) => one.name === name || one.key === name || one.spec.cluster === name)
  const only = name === undefined && powers.length === 1 ? powers[0] : undefined
  const found = named ?? only
  if (found !== undefined) return found
  const all = powers.map((one) => one.name).join(', ')
  const unknown = name === undefined ? 'Name the Power.' : `There is no Power ${clean(name)}.`
  throw new UsageError(
    all === '' ? 'No Power is declared here. Name the directory with --dir.' : `${unknown} Declared: ${all}.`,
  )
}

/** Shows the plan with each tier's evidence, asks, then places the order, and says who performs it. */
async function switched(runtime: Runtime, asked: NamedPower, state: 'on' | 'off', options: Options): Promise<ExitCode> {
  const look = await lookAt(runtime, asked)
  const nowMs = runtime.clock.now()
  const request: PowerRequest = {
    state,
    by: actorOf(runtime),
    why: whyOf(options),
    atMs: nowMs,
    ...(options.for === undefined ? {} : { untilMs: nowMs + durationOf(options.for) }),
    ...(options.ignoreHolds === true ? { ignoreHolds: true } : {}),
  }
  const requests = { ...look.requests, wanted: request }
  const decision = coordinatePower(look.declaration.spec, look.observed, requests, undefined, nowMs)
  const planned = { ...look, decision }
  if (options.plan === true && (await printData(runtime, options, planned))) return EXIT.ok
  if (options.output === undefined) runtime.out.write(renderPowerPlan(planned, styleOf(runtime, runtime.out), nowMs))
  if (options.plan === true) return EXIT.ok
  await confirmed(runtime, `Switch ${asked.power.key} ${state}?`, options)

  const locked = await runtime.lockState(asked.state)
  try {
    await using store = closing(await openState(runtime, asked.state))
    await changeRequests(store.it, asked.power.name, (before) => ({ ...before, wanted: request }))
    const who = locked.got ? 'this command' : controllerOf(locked.owner)
    await noteOperation(
      runtime,
      store.it,
      asked.power.key,
      `power ${state}`,
      'done',
      `${state} is ordered; ${who} does it`,
    )
    if (locked.got) return await switchHere(runtime, asked, look, state, store.it)
    const message = `${state} is ordered. ${who} begins with its next look; croft power status ${asked.power.name} says how far it is`
    runtime.out.write(`${asked.power.key}: ${message}\n`)
    return EXIT.ok
  } finally {
    if (locked.got) locked.release()
  }
}

function controllerOf(owner: { readonly pid: number; readonly host: string } | undefined): string {
  return owner === undefined ? 'The controller' : `The controller (process ${owner.pid} on ${owner.host})`
}

async function holding(
  runtime: Runtime,
  { power, state }: NamedPower,
  what: 'hold' | 'release',
  options: Options,
): Promise<ExitCode> {
  await using store = closing(await openState(runtime, state))
  const by = actorOf(runtime)
  const nowMs = runtime.clock.now()
  const forMs = options.for === undefined ? 3_600_000 : durationOf(options.for)
  const hold = { by, why: whyOf(options), sinceMs: nowMs, untilMs: nowMs + forMs }
  const { holds } = await changeRequests(store.it, power.name, (requests) =>
    what === 'hold' ? held(requests, hold) : released(requests, options.all === true ? undefined : by),
  )
  const others = holds.filter((one) => one.by !== by).map((one) => one.by)
  const said =
    what === 'hold'
      ? `held for ${Math.round(forMs / 60_000)} minutes; croft power release ${power.name} ends it`
      : others.length === 0
        ? 'no hold is left'
        : `your hold is gone; ${others.join(', ')} still hold it`
  await noteOperation(runtime, store.it, power.key, `power ${what}`, 'done', said)
  runtime.out.write(`${power.key}: ${said}\n`)
  return EXIT.ok
}

async function lookAt(runtime: Runtime, { power, estate, directory, state }: NamedPower): Promise<PowerPlan> {
  await using store = closing(await openState(runtime, state))
  const engine = await runtime.openEngine(store.it, { directory, state })
  try {
    const plan = await engine.plan(estate, runtime.signal)
    const look = plan.powers?.find(({ declaration }) => declaration.key === power.key)
    if (look === undefined) throw new CliError(`${power.key} could not be looked at. Run croft doctor.`)
    return look
  } finally {
    await engine.close()
  }
}

async function status(runtime: Runtime, asked: NamedPower, options: Options): Promise<ExitCode> {
  const look = await lookAt(runtime, asked)
  if (await printData(runtime, options, look)) return EXIT.ok
  const atWork = await whoIsAtWork(runtime, asked, look)
  runtime.out.write(renderPower(look, styleOf(runtime, runtime.out), runtime.clock.now(), atWork))
  return EXIT.ok
}

/** Finds who works on a change that is under way: another process, which alone knows its waits, or none. */
async function whoIsAtWork(runtime: Runtime, { power, state }: NamedPower, { decision }: PowerPlan): Promise<AtWork> {
  if (decision.phase === 'Off') return { waits: new Map() }
  const locked = await runtime.lockState(state)
  if (locked.got) {
    locked.release()
    return { waits: new Map() }
  }
  await using store = closing(await openState(runtime, state))
  const record = (await store.it.records()).find(({ key }) => key === power.key)
  return { who: controllerOf(locked.owner), waits: readWaits(record?.details?.waits) }
}

function printData(runtime: Runtime, { output }: Options, { declaration, decision }: PowerPlan): Promise<boolean> {
  const data = { apiVersion: API_VERSION, kind: 'PowerStatus', power: declaration.name, ...decision }
  return writeData(runtime, output, data)
}

function whyOf({ why }: Options): string {
  return clean((why as string | undefined) ?? '', 200)
}

function durationOf(text: unknown): number {
  const ms = parseDuration(String(text))
  if (ms === undefined || ms === 0)
    throw new UsageError(`--for ${String(text)} is not a duration. Write it like 90m or 8h.`)
  return ms
}

/** Changes the stored requests that the controller reads; returns the new ones. */
function changeRequests(
  store: Store,
  power: string,
  change: (requests: PowerRequests) => PowerRequests,
): Promise<PowerRequests> {
  return changeStoredRequests(store, `power-orders/${power}`, NO_POWER_REQUESTS, change)
}

/** Returns the holds with a person's newest one; drops expired ones. */
function held(requests: PowerRequests, hold: PersonHold): PowerRequests {
  const others = requests.holds.filter(({ by, untilMs }) => by !== hold.by && untilMs > hold.sinceMs)
  return { ...requests, holds: [...others, hold] }
}

/** Undefined: all holds. */
function released(requests: PowerRequests, whose: string | undefined): PowerRequests {
  return { ...requests, holds: requests.holds.filter(({ by }) => whose !== undefined && by !== whose) }
}

/**
 * Switches here, because no controller works on this database. It applies only this, nothing else in Git. Prints the
 * events.
 */
async function switchHere(
  runtime: Runtime,
  { power, estate, directory, state }: NamedPower,
  { observed }: PowerPlan,
  wanted: 'on' | 'off',
  store: Store,
): Promise<ExitCode> {
  await using engine = closing(await runtime.openEngine(store, { directory, state }))
  const only = new Set<ResourceKey>([power.key, ...observed.machines.map(({ key }) => key)])
  const startedMs = runtime.clock.monotonicMs()
  const onPass = ({ events }: PassReport) => {
    for (const { key, message, type, reason } of events) {
      // For machines, show only the start: their states on the way are no news.
      const machine = key !== undefined && key !== power.key && only.has(key) && reason === 'Started'
      if (key !== power.key && !machine) continue
      const seconds = ((runtime.clock.monotonicMs() - startedMs) / 1000).toFixed(1).padStart(7)
      const warning = type === 'Warning' ? 'Warning: ' : ''
      runtime.out.write(`${seconds} s  ${warning}${clean(message, 300)}\n`)
    }
  }
  const settled = await engine.it.settle(estate, { signal: runtime.signal, only, onPass })
  const decision = settled.last.powers?.find(({ declaration }) => declaration.key === power.key)?.decision
  if (settled.outcome === 'aborted') {
    runtime.err.write(
      `Interrupted. The request stands: croft power ${wanted} continues it, croft power ${wanted === 'off' ? 'on' : 'off'} goes back.\n`,
    )
    return signalCode(runtime.signal)
  }
  const reached = decision?.phase === (wanted === 'off' ? 'Off' : 'On')
  for (const { reason, allow } of reached ? [] : (decision?.holds ?? []))
    runtime.out.write(`Held: ${clean(reason, 300)}. To go on: ${clean(allow, 200)}.\n`)
  runtime.out.write(`${power.key} is ${decision?.phase ?? 'Unknown'}\n`)
  return reached ? EXIT.ok : EXIT.failed
}

/** A Power that was named, and where its state is kept. */
interface NamedPower {
  readonly power: PowerDeclaration
  readonly estate: Estate
  readonly directory: string
  readonly state: string
}
