import { type Driver, type DriverDeps, ObservationFailed, type Session } from '../../drivers/port.ts'
import { inParallel } from '../../lib/parallel.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import { type Connection, type Estate, isOfEstate } from '../../model/estate.ts'
import { isGuest, type ObservedResource, type Resource } from '../../model/resource.ts'
import type { Step } from '../../model/step.ts'
import { closing } from '../load.ts'
import type { LeaveScope } from './scope.ts'

/** A thing that carries croft's mark, and the calls that take it off. */
export interface MarkedThing {
  readonly key: ResourceKey
  readonly connection: Connection
  readonly observed: ObservedResource
  readonly steps: readonly Step[]
}

export interface FoundMarks {
  readonly marked: readonly MarkedThing[]
  /** Connections that could not be read, and why: what they hold keeps its marks. */
  readonly unread: readonly { readonly connection: string; readonly message: string }[]
}

/** Drivers with everything that they need to open a session. */
export interface LeaveTools {
  readonly drivers: readonly Driver[]
  readonly deps: DriverDeps
}

/** Finds all things in scope by the marks of this estate, without a database. */
export async function findMarked(
  estate: Estate,
  scope: LeaveScope,
  { drivers, deps }: LeaveTools,
  signal: AbortSignal,
): Promise<FoundMarks> {
  const marked: MarkedThing[] = []
  const unread: { connection: string; message: string }[] = []
  for (const connection of estate.connections) {
    const driver = drivers.find(({ name }) => name === connection.driver)
    if (driver?.rules.leaveSteps === undefined) continue
    const wanted = estate.resources.filter((one) => one.connection === connection.name)
    try {
      await using session = closing(driver.connect(connection, deps))
      const marks = new Set([connection.estate, ...wanted.flatMap((one) => one.estate ?? [])])
      for (const observed of await markedOn(session.it, driver, wanted, connection.limits.reads, signal)) {
        const { mark } = observed
        if (mark?.owner === undefined || !scope.covers(mark.owner)) continue
        if (![...marks].some((own) => isOfEstate(mark.estate, own))) continue
        const steps = driver.rules.leaveSteps(observed)
        if (steps.length > 0) marked.push({ key: mark.owner, connection, observed, steps })
      }
    } catch (error) {
      if (!(error instanceof ObservationFailed)) throw error
      unread.push({ connection: connection.name, message: error.refusal.message })
    }
  }
  return { marked: marked.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)), unread }
}

/** Finds marked guests, by a close look at their descriptions, then marks in all other lists. */
async function markedOn(
  session: Session,
  { rules }: Driver,
  wanted: readonly Resource[],
  width: number,
  signal: AbortSignal,
): Promise<readonly ObservedResource[]> {
  const survey = await session.survey(signal, wanted)
  const guests = survey.resources.filter(({ type, mark }) => isGuest(type) && mark !== undefined)
  const found: ObservedResource[] = []
  await inParallel(guests, width, async (guest) => {
    const close = await session.observe(guest, {}, signal)
    if (close !== undefined) found.push(close)
  })
  for (const list of new Set(wanted.flatMap((one) => rules.listOf(one) ?? [])))
    found.push(...(await session.list(list, signal)).filter(({ mark }) => mark !== undefined))
  return found
}

/** Takes the marks off. Returns by key what is still there, and why. */
export async function takeMarksOff(
  things: readonly MarkedThing[],
  { drivers, deps }: LeaveTools,
  signal: AbortSignal,
): Promise<ReadonlyMap<ResourceKey, string>> {
  const problems = new Map<ResourceKey, string>()
  for (const [connection, here] of Map.groupBy(things, (one) => one.connection)) {
    const driver = drivers.find(({ name }) => name === connection.driver)
    if (driver === undefined) continue
    await using session = closing(driver.connect(connection, deps))
    for (const { key, steps } of here) {
      const problem = await performAll(session.it, steps, signal)
      if (problem !== undefined) problems.set(key, problem)
    }
  }
  return problems
}

async function performAll(session: Session, steps: readonly Step[], signal: AbortSignal): Promise<string | undefined> {
  for (const step of steps) {
    const outcome = await session.perform(step, signal)
    if (outcome.result === 'refused') return outcome.refusal.message
    if (outcome.result === 'not-sent' || outcome.result === 'unclear') return outcome.message
  }
  return undefined
}
