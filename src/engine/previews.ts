import type { Session } from '../drivers/port.ts'
import { LIMITS } from '../lib/limits.ts'
import { inParallel } from '../lib/parallel.ts'
import { type Action, type Doing, isDoing, type Plan, type PlanEntry, type Preview } from '../model/plan.ts'
import type { ObservedResource } from '../model/resource.ts'
import type { World } from '../plan/things/world.ts'
import type { Observation } from './observation.ts'

/** Adds each outside system's dry run to the plan, if there is one. */
export async function withPreviews(
  { plan, worlds, factsByConnection }: Observation,
  signal: AbortSignal,
): Promise<Plan> {
  const previews = new Map<PlanEntry, Preview>()
  const asked = plan.entries.filter(({ connection }) => factsByConnection.get(connection)?.session.dryRun !== undefined)
  await inParallel(asked, LIMITS.objectWrites, async (entry) => {
    const session = factsByConnection.get(entry.connection)?.session
    const found =
      session === undefined ? undefined : await previewOf(entry, worlds.get(entry.connection), session, signal)
    if (found !== undefined) previews.set(entry, found)
  })
  if (previews.size === 0) return plan
  const entries = plan.entries.map((entry) => {
    const preview = previews.get(entry)
    return preview === undefined ? entry : { ...entry, preview }
  })
  return { ...plan, entries }
}

async function previewOf(
  { action }: PlanEntry,
  world: World | undefined,
  session: Session,
  signal: AbortSignal,
): Promise<Preview | undefined> {
  const doing = doingOf(action)
  const [step] = doing?.steps ?? []
  if (doing === undefined || step === undefined || (doing.do !== 'create' && doing.do !== 'update')) return undefined
  return session.dryRun?.preview(step, observedFrom(doing.externalId, world), signal)
}

/** Returns what is done now, or after a wait or a hold. */
function doingOf(action: Action): Doing | undefined {
  if (action.do === 'wait') return action.next
  if (action.do === 'hold') return action.held
  return isDoing(action) ? action : undefined
}

function observedFrom(id: string, world: World | undefined): ObservedResource | undefined {
  for (const list of world?.lists.values() ?? []) {
    const found = list.get(id)
    if (found !== undefined) return found
  }
  return undefined
}
