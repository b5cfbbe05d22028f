import path from 'node:path'
import type { PassReport, Settlement } from '../../engine/engine.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import type { Plan } from '../../model/plan.ts'
import { disruptionOf } from '../../plan/disruption.ts'
import { newSecrets } from '../../state/secret-key.ts'
import { stateFromBefore } from '../../state/state-before.ts'
import { holdAlone, openExisting, openState, realDirectory } from '../../state/state-file.ts'
import { noteEstate } from '../../state/state-folder.ts'
import { asKnown, EstateNotWritten, keepEscrow, nameEstate } from '../estate-files.ts'
import { progressMode, startProgress } from '../live-progress.ts'
import { closing, loadOrStop, stateOf } from '../load.ts'
import { note, styleOf } from '../output.ts'
import { applyEnd, applyExit } from '../render/apply-end.ts'
import { timeoutOf } from '../render/duration.ts'
import { renderPlan } from '../render/plan.ts'
import { blindExit, hasSomethingToDo, planExit } from '../render/plan-summary.ts'
import { hasErrors } from '../render/problems.ts'
import type { Progress } from '../render/progress.ts'
import { renderResources } from '../render/resources.ts'
import { rowsOf } from '../rows.ts'
import type { Runtime } from '../runtime.ts'
import { mustBeHere, mustBeSame, savedPlanAt } from '../saved-plan.ts'
import { narrowed, targetsIn } from '../targets.ts'
import { CliError, EXIT, StoppedBySignal, stopIfInterrupted, type Verb } from '../verb.ts'
import { noteOperation } from './machine/find.ts'

export const run: Verb = async (runtime, [place = '.'], options) => {
  const saved = savedPlanAt(path.resolve(runtime.cwd, place))
  const directory = saved?.directory ?? place
  if (saved !== undefined) mustBeHere(place, saved)
  const askedMs = options.timeout === undefined ? undefined : timeoutOf(options.timeout)
  const found = await loadOrStop(runtime, directory, { keepGoing: options.keepGoing === true, counted: true })
  const real = realDirectory(runtime, directory)
  const file = stateOf(runtime, real, options)
  const dryRun = options.dryRun === true
  for (const line of await stateFromBefore(runtime, file, found.estate)) note(runtime, line)
  await using store = closing(dryRun ? await openExisting(runtime, file) : await openState(runtime, file))
  await using _alone = closing(dryRun ? NOBODY : await holdAlone(runtime, file))
  // A saved plan is performed as saved, and an empty directory may be the wrong one: name the estate another time.
  const nameless = !dryRun && saved === undefined && found.files > 0
  const named =
    nameless &&
    (await nameEstate(runtime, real, found, await store.it.records(), options.yes === true).catch((error: unknown) => {
      if (!(error instanceof EstateNotWritten)) throw error
      note(runtime, `Warning: ${error.message}`)
      return false
    }))
  const read = named ? await runtime.load(real) : found
  // A named file may exceed the directory's limits: then the directory was not read, so report its problems.
  if (named && hasErrors(read.estate.problems) && !hasErrors(found.estate.problems))
    await loadOrStop(runtime, directory, { keepGoing: options.keepGoing === true })
  const inGit = { ...read, estate: asKnown(read, await store.it.records(), (text) => note(runtime, text)) }
  if (!dryRun) noteEstate(file, real)
  await using engine = closing(
    await runtime.openEngine(store.it, { directory: real, state: file, retryStalled: true, charts: 'from-anywhere' }),
  )
  const secrets = await newSecrets(runtime, real, inGit.estate, store.it, file)
  const loaded = { ...inGit, estate: secrets.estate }

  const whole = await engine.it.plan(loaded.estate, runtime.signal)
  stopIfInterrupted(runtime.signal)
  const targets = saved?.targets ?? ((options.target ?? []) as readonly string[])
  const only = targetsIn(loaded.estate, whole, await runtime.kinds(), targets)
  const plan = narrowed(whole, only)
  const style = styleOf(runtime, runtime.out)
  runtime.out.write(renderPlan(plan, style, { calls: options.calls === true, directory }))
  const blind = blindExit(plan)
  if (dryRun) return planExit(plan)
  if (blind === EXIT.unauthorized) return blind
  if (saved !== undefined) mustBeSame(saved, plan)
  const unasked = options.yes === true || saved !== undefined
  if (hasSomethingToDo(plan)) {
    await confirm(runtime, unasked)
    const asked = plan.entries.filter(({ action }) => action.do !== 'nothing').length
    await noteOperation(runtime, store.it, loaded.estate.revision, 'apply', 'done', `asked for ${asked} actions`)
  }
  await secrets.keep()

  const live = startProgress(
    runtime.err,
    styleOf(runtime, runtime.err),
    runtime.clock,
    progressMode(String(options.progress), runtime.err.isTty, runtime.env),
  )
  let settled: Settlement
  let progress: Progress
  try {
    settled = await engine.it.settle(loaded.estate, {
      givesUp: true,
      signal: runtime.signal,
      deadlineMs: askedMs ?? LIMITS.settleDeadlineMs + expectedMs(plan),
      onPass: (report) => live.onPass(partOf(report, only)),
      // A person takes time to answer, so look at everything again before applying.
      ...(unasked ? { shown: whole } : {}),
      agreed: whole,
      ...(only === undefined ? {} : { only }),
    })
  } catch (error) {
    // A failure after a signal is a result of the stop.
    throw runtime.signal.aborted ? new StoppedBySignal(IN_THE_MIDDLE) : error
  } finally {
    progress = await live.end()
  }
  if (settled.outcome === 'aborted') throw new StoppedBySignal(IN_THE_MIDDLE)
  const meant = { ...settled, last: partOf(settled.last, only) }
  const declared = declaredKeys(loaded.estate, only)
  const code = applyExit(meant, declared)
  await keepEscrow(runtime, { directory: real, state: file }, loaded.estate)
  const end = applyEnd(meant, { progress, code, style, directory, declared, clusters: plan.clusters ?? [] })
  const rows = rowsOf(loaded, settled.last.records).filter((row) => !row.passive && only?.has(row.key) !== false)
  const view = { wide: false, headers: true, qualified: true, nowMs: runtime.clock.now() }
  // The connection could not be read and nothing changed: older records do not answer for this run.
  const isBlind = settled.effects === 0 && blindExit(settled.last.plan) !== undefined
  if (rows.length > 0 && !isBlind) runtime.out.write(`\n${renderResources(rows, style, view)}`)
  // Last, so that what to do next stands where the reader is.
  runtime.out.write(end)
  if (isBlind) return code
  return code === EXIT.ok && hasErrors(loaded.estate.problems) ? EXIT.failed : code
}

function declaredKeys({ resources }: Estate, only: ReadonlySet<ResourceKey> | undefined): readonly ResourceKey[] {
  return resources
    .filter(({ key, justInCase }) => justInCase !== true && only?.has(key) !== false)
    .map(({ key }) => key)
}

const IN_THE_MIDDLE =
  'Interrupted. Calls that were sent finish on their own, nothing else is started; run croft apply again to continue.'

/** Returns the planned duration of the rollouts, so that a slow upgrade is not reported as late. */
function expectedMs(plan: Plan): number {
  return disruptionOf(plan).items.reduce((sum, { minutes }) => sum + minutes * 60_000, 0)
}

/** Returns the part of the report about the targets: other differences were not asked for. */
function partOf(report: PassReport, only: ReadonlySet<ResourceKey> | undefined): PassReport {
  if (only === undefined) return report
  return {
    ...report,
    plan: narrowed(report.plan, only),
    records: report.records.filter(({ key }) => only.has(key)),
    events: report.events.filter(({ key }) => key === undefined || only.has(key)),
  }
}

/** A read-only look takes no lock. */
const NOBODY = { close: async () => {} }

async function confirm(runtime: Runtime, yes: boolean): Promise<void> {
  if (yes) return
  if (!runtime.interactive) {
    throw new CliError('Nobody is at the terminal to confirm. Look at the plan above and run it again with --yes.')
  }
  const answer = await runtime.ask("\nDo you want to perform these actions? Only 'yes' will be accepted: ")
  if (answer !== 'yes') throw new CliError('Nothing was done. Run it again and type yes to perform the plan.')
}
