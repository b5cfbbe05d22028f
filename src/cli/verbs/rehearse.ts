import type { Rehearsed } from '../../controller/previews/rehearse.ts'
import { ObservationFailed } from '../../drivers/port.ts'
import { LIMITS } from '../../lib/limits.ts'
import { inParallel } from '../../lib/parallel.ts'
import type { Estate } from '../../model/estate.ts'
import type { ClusterPlan } from '../../model/observed-cluster.ts'
import type { ObservedResource } from '../../model/resource.ts'
import { openExisting, realDirectory } from '../../state/state-file.ts'
import type { Store } from '../../store/port.ts'
import { closing, loadOrStop, stateOf } from '../load.ts'
import { note, writeData } from '../output.ts'
import { isEmptyScope, rehearsalScope } from '../rehearsal-scope.ts'
import { showElapsed } from '../render/duration.ts'
import { clean } from '../render/text.ts'
import type { EngineOptions, ObservedConnection, Runtime } from '../runtime.ts'
import { CliError, EXIT, type Verb } from '../verb.ts'

/** Performs the plan on a twin of the estate, in accelerated time: nothing real is written. */
export const run: Verb = async (runtime, [directory = '.'], options) => {
  const loaded = await loadOrStop(runtime, directory, { keepGoing: options.keepGoing === true, counted: true })
  const real = realDirectory(runtime, directory)
  const scope = rehearsalScope(loaded.estate)
  const { estate, leftOut } = scope
  if (isEmptyScope(scope) && leftOut.length > 0)
    throw new CliError(
      `Nothing of this estate can be rehearsed, so what would be done is not known. ${leftOutLines(leftOut).join(' ')} Run croft plan ${directory}: it says what would be done, and which hosts cannot be reached.`,
    )
  if ((loaded.estate.powers ?? []).length > 0)
    note(runtime, 'Nothing is switched off in a rehearsal: what the Powers of this estate order is left out.')
  if (runtime.err.isTty) note(runtime, 'Looking at what is there…')
  const observed = await observe(runtime, estate, real)
  const file = stateOf(runtime, real, options)
  await using store = closing(await openExisting(runtime, file))
  const looks = await observeClusters(
    runtime,
    store.it,
    { ...loaded.estate, clusters: estate.clusters ?? [] },
    { directory: real, state: file },
  )
  const tell = (doing: string, twinMs: number, spentMs: number) =>
    note(runtime, `${showElapsed(spentMs)} of processor time: ${doing}, ${showElapsed(twinMs)} of the twin's time`)
  const rehearsal = await runtime.rehearse(estate, observed, await store.it.records(), looks, tell)
  if (!(await writeData(runtime, options.output, { ...rehearsal, leftOut })))
    runtime.out.write(renderRehearsal(rehearsal, leftOut))
  return rehearsal.outcome === 'settled' ? EXIT.ok : EXIT.failed
}

/** Observes the declared clusters, where a rehearsal starts. Planning writes nothing. */
async function observeClusters(
  runtime: Runtime,
  store: Store,
  estate: Estate,
  options: EngineOptions,
): Promise<readonly ClusterPlan[]> {
  if ((estate.clusters ?? []).length === 0) return []
  await using engine = closing(await runtime.openEngine(store, options))
  return (await engine.it.plan(estate, runtime.signal)).clusters ?? []
}

/** Reads every connection, and closely what is declared or carries our mark. */
async function observe(runtime: Runtime, estate: Estate, directory: string): Promise<readonly ObservedConnection[]> {
  const { drivers, deps } = await runtime.openDrivers({ directory })
  const all: ObservedConnection[] = []
  for (const connection of estate.connections) {
    const driver = drivers.find((one) => one.name === connection.driver)
    if (driver === undefined) continue
    await using session = closing(driver.connect(connection, deps))
    try {
      const survey = await session.it.survey(runtime.signal)
      const close = new Map<string, ObservedResource>()
      const wanted = survey.resources.slice(0, LIMITS.rehearsedGuests)
      await inParallel(wanted, connection.limits.reads, async (observed) => {
        const found = await session.it.observe(observed, {}, runtime.signal)
        if (found !== undefined) close.set(observed.externalId, found)
      })
      all.push({ connection: connection.name, survey, close })
    } catch (error) {
      if (!(error instanceof ObservationFailed)) throw error
      throw new CliError(
        `${connection.name} cannot be seen, so it has no twin: ${error.message} Run croft doctor ${directory}.`,
      )
    }
  }
  return all
}

/** The timeline of a rehearsal, and what it would cost. Pure. */
function renderRehearsal(rehearsal: Rehearsed, leftOut: readonly string[]): string {
  const { events, startedMs, downtimes, margins, held, outcome, tookMs } = rehearsal
  const shown = events.filter(({ reason }) => reason !== 'Revision')
  const lines = shown.map(
    ({ atMs, key, type, reason, message }) =>
      `${`+${showElapsed(atMs - startedMs)}`.padStart(9)}  ${clean(key ?? '-')}  ${type === 'Warning' ? 'warning ' : ''}${clean(reason)}: ${clean(message)}`,
  )
  if (lines.length === 0 && outcome === 'settled')
    lines.push(leftOut.length === 0 ? 'Nothing would be done.' : 'Nothing would be done to what was rehearsed.')
  lines.push('')
  lines.push(
    outcome === 'settled'
      ? `Settled after ${showElapsed(tookMs)} of the twin's time.`
      : outcome === 'stopped'
        ? `Stopped after ${showElapsed(tookMs)} of the twin's time: ${rehearsal.why ?? 'it could not go on'}. What comes after that is not known; croft plan says what would be done.`
        : `Not settled after ${showElapsed(tookMs)} of the twin's time: ${outcome}.`,
  )
  for (const { name, ms } of downtimes) lines.push(`Down: ${clean(name)} for ${showElapsed(ms)}.`)
  if (downtimes.length === 0)
    lines.push(outcome === 'settled' ? 'No machine that runs now would be down.' : 'No machine was down until then.')
  for (const { cluster, lowest } of margins) lines.push(`Lowest quorum margin of ${clean(cluster)}: ${lowest}.`)
  for (const { key, reason } of held) lines.push(`Held: ${clean(key)}: ${clean(reason)}.`)
  lines.push(...leftOutLines(leftOut))
  if (leftOut.length > 0) lines.push('What would be done there is not known; croft plan says it.')
  return `${lines.join('\n')}\n`
}

function leftOutLines(leftOut: readonly string[]): readonly string[] {
  return leftOut.map((one) => `Left out: ${clean(one)}.`)
}
