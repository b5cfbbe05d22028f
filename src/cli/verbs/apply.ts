import path from 'node:path'
import type { PassReport, Settlement } from '../../engine/engine.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { Plan } from '../../model/plan.ts'
import { isFailed, type ResourceRecord } from '../../model/record.ts'
import { disruptionOf } from '../../plan/disruption.ts'
import { newSecrets } from '../../state/secret-key.ts'
import { stateFromBefore } from '../../state/state-before.ts'
import { holdAlone, openExisting, openState, realDirectory } from '../../state/state-file.ts'
import { noteEstate } from '../../state/state-folder.ts'
import { asKnown, EstateNotWritten, keepEscrow, nameEstate } from '../estate-files.ts'
import { progressMode, startProgress } from '../live-progress.ts'
import { closing, loadOrStop, stateOf } from '../load.ts'
import { note, styleOf } from '../output.ts'
import { timeoutOf } from '../render/duration.ts'
import { renderPlan } from '../render/plan.ts'
import { clusterCounts } from '../render/plan-cluster.ts'
import { blindExit, hasSomethingToDo, planExit } from '../render/plan-summary.ts'
import { hasErrors } from '../render/problems.ts'
import { outcome, type Progress } from '../render/progress.ts'
import { renderResources } from '../render/resources.ts'
import { rowsOf } from '../rows.ts'
import type { Runtime } from '../runtime.ts'
import { mustBeHere, mustBeSame, savedPlanAt } from '../saved-plan.ts'
import { narrowed, targetsIn } from '../targets.ts'
import { CliError, EXIT, type ExitCode, StoppedBySignal, stopIfInterrupted, type Verb } from '../verb.ts'
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
  // A saved plan is done as it was saved: a directory without a name gets it another time.
  // One without a manifest may be the wrong one: nothing is written into it.
  const nameless = !dryRun && saved === undefined && found.files > 0
  const named =
    nameless &&
    (await nameEstate(runtime, real, found, await store.it.records(), options.yes === true).catch((error: unknown) => {
      if (!(error instanceof EstateNotWritten)) throw error
      note(runtime, `Warning: ${error.message}`)
      return false
    }))
  const read = named ? await runtime.load(real) : found
  // Its own file can be the one too many for a directory: then nothing more is read, and that has to be said.
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
      // Whoever is asked takes time to answer: then everything is looked at again first.
      ...(unasked ? { shown: whole } : {}),
      agreed: whole,
      ...(only === undefined ? {} : { only }),
    })
  } catch (error) {
    // Whatever a signal cut short is no failure of its own.
    throw runtime.signal.aborted ? new StoppedBySignal(IN_THE_MIDDLE) : error
  } finally {
    progress = await live.end()
  }
  if (settled.outcome === 'aborted') throw new StoppedBySignal(IN_THE_MIDDLE)
  const meant = { ...settled, last: partOf(settled.last, only) }
  const code = applyExit(
    meant,
    loaded.estate.resources
      .filter(({ key, justInCase }) => justInCase !== true && only?.has(key) !== false)
      .map(({ key }) => key),
  )
  runtime.out.write(closingLine(meant, progress, code, style, plan.clusters ?? [], directory))
  await keepEscrow(runtime, { directory: real, state: file }, loaded.estate)
  // Nothing was seen, so nothing was done, and what is remembered of the resources is not what is asked for now.
  if (settled.effects === 0 && blindExit(settled.last.plan) !== undefined) return code
  const rows = rowsOf(loaded, settled.last.records).filter((row) => !row.passive && only?.has(row.key) !== false)
  const view = { wide: false, headers: true, qualified: true, nowMs: runtime.clock.now() }
  if (rows.length > 0) runtime.out.write(`\n${renderResources(rows, style, view)}`)
  return code === EXIT.ok && hasErrors(loaded.estate.problems) ? EXIT.failed : code
}

const IN_THE_MIDDLE =
  'Interrupted. Calls that were sent finish on their own, nothing else is started; run croft apply again to continue.'

/** How long the plan says that its rollouts take: a patient upgrade is not late. */
function expectedMs(plan: Plan): number {
  return disruptionOf(plan).items.reduce((sum, { minutes }) => sum + minutes * 60_000, 0)
}

/** What came of the targets: whatever else differs is not what was asked for. */
function partOf(report: PassReport, only: ReadonlySet<ResourceKey> | undefined): PassReport {
  if (only === undefined) return report
  return {
    ...report,
    plan: narrowed(report.plan, only),
    records: report.records.filter(({ key }) => only.has(key)),
    events: report.events.filter(({ key }) => key === undefined || only.has(key)),
  }
}

/** To look asks nobody to stand aside. */
const NOBODY = { close: async () => {} }

async function confirm(runtime: Runtime, yes: boolean): Promise<void> {
  if (yes) return
  if (!runtime.interactive) {
    throw new CliError('Nobody is at the terminal to confirm. Look at the plan above and run it again with --yes.')
  }
  const answer = await runtime.ask("\nDo you want to perform these actions? Only 'yes' will be accepted: ")
  if (answer !== 'yes') throw new CliError('Nothing was done. Run it again and type yes to perform the plan.')
}

function closingLine(
  settled: Settlement,
  progress: Progress,
  code: ExitCode,
  style: { paint(paint: 'green' | 'red' | 'yellow', text: string): string },
  clusters: NonNullable<Plan['clusters']>,
  directory: string,
): string {
  const done = outcome(progress)
  const parts = [
    `${done.create + done.replace} added`,
    `${done.update} changed`,
    `${done.destroyed} destroyed`,
    ...(done.adopt > 0 ? [`${done.adopt} adopted`] : []),
    ...(done.unfinished > 0 ? [`${done.unfinished} unfinished`] : []),
    ...(done.failed > 0 ? [`${done.failed} failed`] : []),
  ]
  const resources = `Resources: ${parts.join(', ')}.`
  // Everything is as declared: what was forecast of the nodes has come true.
  if (code === EXIT.ok)
    return `\n${[style.paint('green', 'Apply complete!'), resources, clusterCounts(clusters, true)].join(' ').trimEnd()}\n`
  if (code === EXIT.timedOut) {
    const held = heldIn(settled.last.plan)
    if (settled.outcome !== 'deadline' && held.length > 0)
      return `\n${style.paint('yellow', 'Not everything is as declared.')} ${resources} ${held.length} held:\n${renderHeld(held)}`
    const late = settled.outcome === 'deadline' ? 'Not finished in time.' : 'Not everything is ready.'
    const left = clusterCounts(settled.last.plan.clusters ?? [])
    return `\n${style.paint('yellow', late)} ${resources}${left === '' ? '' : ` ${left}`} Run croft describe KIND/NAME to see why, then croft apply again.\n`
  }
  if (blindBeyondHeld(settled.last.plan) !== undefined)
    return `\n${style.paint('red', 'Apply failed.')} ${resources} Not every connection could be looked at: run croft doctor ${directory} to see why.\n`
  return `\n${style.paint('red', 'Apply failed.')} ${resources} Run croft describe KIND/NAME to see why.\n`
}

/** 0 settled, as declared and ready, 1 failed or refused, 3 held or not ready (in time), 4 not authorized. */
export function applyExit(settled: Settlement, declared: readonly string[]): ExitCode {
  const { plan, records } = settled.last
  const blind = blindBeyondHeld(plan)
  if (blind !== undefined) return blind
  const recordOf = new Map(records.map((record) => [record.key, record]))
  const failed = (record: ResourceRecord) => conditionIs(record, 'Stalled', 'True') || isFailed(record.conditions)
  if (records.some(failed) || refusedIn(plan)) return EXIT.failed
  if (settled.outcome === 'deadline' || heldIn(plan).length > 0) return EXIT.timedOut
  const ready = declared.every((key) => conditionIs(recordOf.get(key), 'Ready', 'True'))
  return ready ? EXIT.ok : EXIT.timedOut
}

/**
 * As `blindExit`, but for the API of a cluster that is held: nobody can look there until the hold is over, and the hold
 * says what to do about it.
 */
function blindBeyondHeld(plan: Plan): ExitCode | undefined {
  const held = (plan.clusters ?? []).filter(({ decision }) => decision.holds.length > 0)
  const silent = new Set(held.map(({ declaration }) => `cluster/${declaration.name}`))
  return blindExit({
    ...plan,
    notes: plan.notes.filter((one) => one.code === 'refused' || !silent.has(one.connection)),
  })
}

function conditionIs(record: ResourceRecord | undefined, type: string, status: string): boolean {
  return record?.conditions.some((one) => one.type === type && one.status === status) ?? false
}

function refusedIn(plan: Plan): boolean {
  return plan.entries.some((entry) => entry.action.do === 'refuse')
}

/** Something that is not as declared and stays so until a person, or time, lets it pass. */
interface HeldChange {
  /** The resource, or the cluster. */
  readonly what: string
  readonly reason: string
  readonly allow: string
}

/** As many as a person reads after an apply; the plan has them all. */
const SHOWN = 5

/** Everything that a guard keeps from being done: with one of these, Git and the world differ. */
export function heldIn(plan: Plan): readonly HeldChange[] {
  const resources = plan.entries.flatMap(({ key, action }) =>
    action.do === 'hold' ? [{ what: key, reason: action.reason, allow: action.allow }] : [],
  )
  const clusters = (plan.clusters ?? []).flatMap(({ declaration, decision }) =>
    decision.holds.map(({ reason, allow }) => ({ what: declaration.key, reason, allow })),
  )
  return [...resources, ...clusters]
}

/** What is held, why, and what would let it pass. */
export function renderHeld(held: readonly HeldChange[]): string {
  const lines = held
    .slice(0, SHOWN)
    .flatMap(({ what, reason, allow }) => [`  held: ${what}: ${reason}`, `      to allow: ${allow}`])
  const more = held.length - SHOWN
  if (more > 0) lines.push(`  and ${more} more: croft plan shows ${more === 1 ? 'it' : 'them'}`)
  return lines.map((line) => `${line}\n`).join('')
}
