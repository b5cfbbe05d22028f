import type { Settlement } from '../../engine/engine.ts'
import { shellWord } from '../../lib/shell-quoted.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { Plan } from '../../model/plan.ts'
import { isFailed, type ResourceRecord } from '../../model/record.ts'
import { EXIT, type ExitCode } from '../verb.ts'
import { byCause, namesOf, type Stopped } from './cause.ts'
import { clusterCounts } from './plan-cluster.ts'
import { blindExit } from './plan-summary.ts'
import { outcome, type Progress } from './progress.ts'

export interface ApplyEnd {
  readonly progress: Progress
  readonly code: ExitCode
  readonly style: { paint(paint: 'green' | 'red' | 'yellow', text: string): string }
  readonly clusters: NonNullable<Plan['clusters']>
  /** The directory as typed. */
  readonly directory: string
  readonly declared: readonly ResourceKey[]
}

/** Summarizes an apply in a paragraph; its last line is the next step. */
export function applyEnd(settled: Settlement, end: ApplyEnd): string {
  const { code, style, clusters, directory } = end
  const { plan } = settled.last
  const resources = countsOf(end.progress)
  const word = shellWord(directory)
  // Everything is as declared: what was forecast of the nodes has come true.
  if (code === EXIT.ok)
    return `\n${[style.paint('green', 'Apply complete!'), resources, clusterCounts(clusters, true)].join(' ').trimEnd()}\n`
  if (code === EXIT.timedOut) {
    const held = heldIn(plan)
    if (settled.outcome !== 'deadline' && held.length > 0)
      return `\n${style.paint('yellow', 'Not everything is as declared.')} ${resources} ${held.length} held:\n${renderHeld(held)}`
    const late = settled.outcome === 'deadline' ? 'Not finished in time.' : 'Not everything is ready.'
    const left = clusterCounts(plan.clusters ?? [])
    return `\n${style.paint('yellow', late)} ${resources}${left === '' ? '' : ` ${left}`} ${lookAt(settled, end)}then croft apply ${word} again.\n`
  }
  const failed = style.paint('red', 'Apply failed.')
  if (blindBeyondHeld(plan) !== undefined)
    return `\n${failed} ${resources} Not every connection could be looked at: run croft doctor ${word} to see why.\n`
  const refused = refusedIn(plan)
  return `\n${failed} ${resources} ${lookAt(settled, end)}then mend it and run croft apply ${word} again.\n${renderHeld(refused, 'refused')}`
}

function countsOf(progress: Progress): string {
  const done = outcome(progress)
  const parts = [
    `${done.create + done.replace} added`,
    `${done.update} changed`,
    `${done.destroyed} destroyed`,
    ...(done.adopt > 0 ? [`${done.adopt} adopted`] : []),
    ...(done.unfinished > 0 ? [`${done.unfinished} unfinished`] : []),
    ...(done.failed > 0 ? [`${done.failed} failed`] : []),
  ]
  return `Resources: ${parts.join(', ')}.`
}

/** Names one unfinished thing with the full command that explains it. */
function lookAt({ last }: Settlement, { declared, directory }: ApplyEnd): string {
  const isBad = new Set(last.records.filter(hasFailed).map(({ key }) => key))
  const isReady = new Set(last.records.filter((one) => conditionIs(one, 'Ready', 'True')).map(({ key }) => key))
  const unready = declared.filter((key) => !isReady.has(key))
  const clusters = (last.plan.clusters ?? []).filter(({ decision }) => decision.phase !== 'Ready')
  const [key] = [
    ...isBad,
    ...last.plan.entries.filter(({ action }) => action.do === 'refuse').map((one) => one.key),
    ...clusters.map(({ declaration }) => declaration.key),
    ...unready,
  ]
  const word = shellWord(directory)
  const look = key === undefined ? `croft health ${word}` : `croft describe ${shellWord(key)} --dir ${word}`
  return `Run ${look} to see why, `
}

/** 0 settled, as declared and ready, 1 failed or refused, 3 held or not ready (in time), 4 not authorized. */
export function applyExit(settled: Settlement, declared: readonly string[]): ExitCode {
  const { plan, records } = settled.last
  const blind = blindBeyondHeld(plan)
  if (blind !== undefined) return blind
  const recordOf = new Map(records.map((record) => [record.key, record]))
  if (records.some(hasFailed) || refusedIn(plan).length > 0) return EXIT.failed
  if (settled.outcome === 'deadline' || heldIn(plan).length > 0) return EXIT.timedOut
  const ready = declared.every((key) => conditionIs(recordOf.get(key), 'Ready', 'True'))
  return ready ? EXIT.ok : EXIT.timedOut
}

function hasFailed(record: ResourceRecord): boolean {
  return conditionIs(record, 'Stalled', 'True') || isFailed(record.conditions)
}

/**
 * As `blindExit`, but ignores the API of a held cluster: it cannot be read until the hold ends, and the hold already
 * says what to do.
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

/** Everything that a person must change first, of things and of clusters. */
function refusedIn(plan: Plan): readonly Stopped[] {
  const things = plan.entries.flatMap(({ key, action }) =>
    action.do === 'refuse' ? [{ what: key, reason: action.reason, allow: action.allow }] : [],
  )
  const clusters = (plan.clusters ?? []).flatMap(({ declaration, decision }) =>
    decision.refusals.map(({ reason, allow }) => ({ what: declaration.key, reason, allow })),
  )
  return [...things, ...clusters]
}

/** The causes shown after an apply; the plan has all. */
const SHOWN = 5

/** Everything that a guard keeps from being done: with one of these, Git and the world differ. */
export function heldIn(plan: Plan): readonly Stopped[] {
  const resources = plan.entries.flatMap(({ key, action }) =>
    action.do === 'hold' ? [{ what: key, reason: action.reason, allow: action.allow }] : [],
  )
  const clusters = (plan.clusters ?? []).flatMap(({ declaration, decision }) =>
    decision.holds.map(({ reason, allow }) => ({ what: declaration.key, reason, allow })),
  )
  return [...resources, ...clusters]
}

/** Lists held or refused changes by cause, with the consent that each needs. */
export function renderHeld(held: readonly Stopped[], word: 'held' | 'refused' = 'held'): string {
  const causes = byCause(held)
  const lines = causes
    .slice(0, SHOWN)
    .flatMap(({ whats, reason, allow }) => [`  ${word}: ${namesOf(whats)}: ${reason}`, `      to allow: ${allow}`])
  const more = causes.length - SHOWN
  if (more > 0) lines.push(`  and ${more} more: croft plan shows ${more === 1 ? 'it' : 'them'}`)
  return lines.map((line) => `${line}\n`).join('')
}
