import type { Estate } from '../../model/estate.ts'
import { NO_POWER_ORDERS, type PowerDeclaration, type PowerOrders } from '../../model/power.ts'
import type { PowerLook } from '../../model/power-look.ts'
import { coordinatePower } from '../../plan/power/coordinate.ts'
import type { Store } from '../../store/port.ts'
import { closing } from '../closing.ts'
import { CliError, EXIT, type ExitCode, UsageError } from '../exit.ts'
import { styleOf, writeJson } from '../output.ts'
import type { Options, Verb } from '../program.ts'
import { clean } from '../render/clean.ts'
import { parseDuration } from '../render/duration.ts'
import { API_VERSION } from '../render/plan-json.ts'
import type { Runtime } from '../runtime.ts'
import { openState, stateFile } from '../state.ts'
import { loadForOperation } from './machine/find.ts'
import { actorOf, noteOperation } from './machine/journal.ts'
import { renderPower } from './power/render.ts'

const WHATS = ['off', 'on', 'status', 'hold', 'release'] as const
type What = (typeof WHATS)[number]

interface Asked {
  readonly power: PowerDeclaration
  readonly estate: Estate
  readonly directory: string
  readonly state: string
}

/** Switches a cluster or site off and on, says how far that is, and holds it. */
export const run: Verb = async (runtime, [what = 'status', name], options) => {
  const known = WHATS.find((one) => one === what)
  if (known === undefined) throw new UsageError(`There is no croft power ${what}. Use ${WHATS.join(', ')}.`)
  const { estate, real } = await loadForOperation(runtime, String(options.dir))
  const power = powerNamed(estate, name)
  const state = stateFile(runtime.env, real, options.state as string | undefined)
  const asked: Asked = { power, estate, directory: real, state }
  if (known === 'status') return show(runtime, asked, options)
  if ((known === 'off' || known === 'on') && options.plan === true) return preview(runtime, asked, known, options)
  return change(runtime, asked, known, options)
}

function powerNamed(estate: Estate, name: string | undefined): PowerDeclaration {
  const powers = estate.powers ?? []
  const named = powers.find((one) => one.name === name || one.key === name || one.spec.cluster === name)
  const only = name === undefined && powers.length === 1 ? powers[0] : undefined
  const found = named ?? only
  if (found !== undefined) return found
  const all = powers.map((one) => one.name).join(', ')
  throw new UsageError(
    all === '' ? 'No Power is declared here. Name the directory with --dir.' : `Name the Power. Declared: ${all}.`,
  )
}

async function change(
  runtime: Runtime,
  { power, state }: Asked,
  what: Exclude<What, 'status'>,
  options: Options,
): Promise<ExitCode> {
  await using store = closing(await openState(runtime, state))
  const by = actorOf(runtime)
  const why = clean((options.why as string | undefined) ?? '', 200)
  const nowMs = runtime.clock.now()
  const untilMs = options.for === undefined ? undefined : nowMs + durationOf(options.for)
  const told = await changeOrders(store.it, power.name, (orders) => {
    switch (what) {
      case 'off':
      case 'on':
        return {
          ...orders,
          wanted: {
            state: what,
            by,
            why,
            atMs: nowMs,
            ...(untilMs === undefined ? {} : { untilMs }),
            ...(options.ignoreHolds === true ? { ignoreHolds: true } : {}),
          },
        }
      case 'hold': {
        const hold = { by, why, sinceMs: nowMs, untilMs: untilMs ?? nowMs + 3_600_000 }
        return { ...orders, holds: [...orders.holds.filter((one) => one.by !== by && one.untilMs > nowMs), hold] }
      }
      case 'release':
        return { ...orders, holds: options.all === true ? [] : orders.holds.filter((one) => one.by !== by) }
    }
  })
  const said = sentence(what, power.name, told, nowMs)
  await noteOperation(runtime, store.it, power.key, `power ${what}`, 'done', said)
  runtime.out.write(`${power.key}: ${said}\n`)
  return EXIT.ok
}

function sentence(what: Exclude<What, 'status'>, name: string, { holds }: PowerOrders, nowMs: number): string {
  switch (what) {
    case 'off':
    case 'on':
      return `${what} is ordered; the controller begins with its next look. croft power status ${name} says how far it is`
    case 'hold': {
      const untilMs = Math.max(...holds.map((hold) => hold.untilMs))
      return `held for ${Math.round((untilMs - nowMs) / 60_000)} minutes; croft power release ${name} ends it`
    }
    case 'release':
      return holds.length === 0
        ? 'no hold is left'
        : `your hold is gone; ${holds.map(({ by }) => by).join(', ')} still hold it`
  }
}

async function changeOrders(
  store: Store,
  power: string,
  change: (orders: PowerOrders) => PowerOrders,
): Promise<PowerOrders> {
  const name = `power-orders/${power}` as const
  const text = await store.getValue(name)
  const before =
    text === undefined ? NO_POWER_ORDERS : { ...NO_POWER_ORDERS, ...(JSON.parse(text) as Partial<PowerOrders>) }
  const after = change(before)
  if (store.putOrder === undefined)
    throw new CliError('This store takes no orders. Use the database of the controller.')
  await store.putOrder(name, JSON.stringify(after))
  return after
}

async function show(runtime: Runtime, asked: Asked, options: Options): Promise<ExitCode> {
  const look = await lookAt(runtime, asked)
  return print(runtime, look, options)
}

/** What would be done, from what is to be seen now. Nothing is ordered. */
async function preview(runtime: Runtime, asked: Asked, state: 'on' | 'off', options: Options): Promise<ExitCode> {
  const look = await lookAt(runtime, asked)
  const nowMs = runtime.clock.now()
  const wanted = {
    state,
    by: actorOf(runtime),
    why: 'only a plan',
    atMs: nowMs,
    ...(options.ignoreHolds === true ? { ignoreHolds: true } : {}),
  }
  const decision = coordinatePower(look.declaration.spec, look.observed, { ...look.orders, wanted }, undefined, nowMs)
  return print(runtime, { ...look, decision }, options)
}

async function lookAt(runtime: Runtime, { power, estate, directory, state }: Asked): Promise<PowerLook> {
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

function print(runtime: Runtime, look: PowerLook, options: Options): ExitCode {
  const { declaration, decision } = look
  if (options.output === 'json') {
    writeJson(runtime.out, { apiVersion: API_VERSION, kind: 'PowerStatus', power: declaration.name, ...decision })
  } else runtime.out.write(renderPower(look, styleOf(runtime, runtime.out)))
  return EXIT.ok
}

function durationOf(text: unknown): number {
  const ms = parseDuration(String(text))
  if (ms === undefined || ms === 0)
    throw new UsageError(`--for ${String(text)} is no duration. Write it like 90m or 8h.`)
  return ms
}
