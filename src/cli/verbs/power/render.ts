import type { PowerPlan, PowerWait } from '../../../model/observed-power.ts'
import { nextWord } from '../../../plan/power/schedule.ts'
import { waitName } from '../../../plan/power/view.ts'
import { showElapsed } from '../../render/duration.ts'
import { renderTable } from '../../render/table.ts'
import { clean, type Style } from '../../render/text.ts'

/** The other process at work on a Power, and since when it waits for what. */
export interface AtWork {
  readonly who?: string
  readonly waits: ReadonlyMap<string, number>
}

/** Renders a Power: the wanted state and by whom, the tiers, the obstacles, and what a person can do. */
export function renderPower(look: PowerPlan, style: Style, nowMs: number, atWork: AtWork): string {
  const { declaration, decision } = look
  const { phase, wanted } = decision
  const head = `${declaration.key} is ${phase}; wanted ${wanted.state} (${clean(wanted.why, 200)})`
  return `${head}\n${body(look, style, nowMs, { doing: 'doing', ...(atWork.who === undefined ? {} : { since: atWork.waits }) })}${ways(look, atWork)}`
}

/** Returns the options during a change. */
function ways({ declaration: { name }, decision: { phase, wanted } }: PowerPlan, { who }: AtWork): string {
  if (phase === 'On' || phase === 'Off') return ''
  const back = wanted.state === 'off' ? 'on' : 'off'
  const goesBack = `croft power ${back} ${name} goes back`
  return who === undefined
    ? `No process works on it: croft power ${wanted.state} ${name} continues it, ${goesBack}\n`
    : `${who} is at work on it; ${goesBack}\n`
}

/** Renders the steps in order, and what happens if one takes too long. */
export function renderPowerPlan(look: PowerPlan, style: Style, nowMs: number): string {
  const { declaration, decision } = look
  const { deadlines } = declaration.spec
  const names = decision.wanted.state === 'off' ? (['scale', 'detach', 'drain', 'stop'] as const) : (['start'] as const)
  const choices = names.map((name) => `${name} ${minutes(deadlines[name].afterMs)}, then ${deadlines[name].choice}`)
  return `Plan to switch ${declaration.key} ${decision.wanted.state}, one tier after the other:
${body(look, style, nowMs, { doing: 'next' })}Timeouts: ${choices.join('; ')}
`
}

/** The tiers in their order, how far each is, the evidence that croft waits for, and what blocks it. */
function body(
  { declaration, decision }: PowerPlan,
  style: Style,
  nowMs: number,
  /** In a plan nothing runs yet: label the first step as next. */
  { doing, since = new Map() }: { readonly doing: string; readonly since?: ReadonlyMap<string, number> },
): string {
  const { tiers, waits, holds, refusals, warnings, steps, asleep } = decision
  const rows = tiers.map(({ tier, state, progress, awaits }) => [
    tier,
    state === 'doing' ? doing : state,
    progress,
    awaits,
  ])
  const columns = [{ title: 'TIER' }, { title: 'STATE' }, { title: 'DONE' }, { title: 'DONE WHEN' }]
  const table = rows.length === 0 ? '' : renderTable(columns, rows, style)
  const { schedule } = declaration.spec
  const next = schedule === undefined ? undefined : nextWord(schedule, nowMs)
  const lines = [
    ...refusals.map(({ reason, allow }) => `Refused: ${reason}. To go on: ${allow}.`),
    ...holds.map(({ reason, allow }) => `Held: ${reason}. To go on: ${allow}.`),
    ...steps.map(({ summary }) => `Next: ${summary}`),
    ...waits.map((wait) => `Waits: ${waitLine(wait, since, nowMs)}`),
    ...warnings.map((warning) => `Warning: ${warning}`),
    ...(asleep.length === 0 ? [] : [`Asleep until a pod needs them: ${asleep.join(', ')}`]),
    ...(next === undefined ? [] : [`The schedule says ${next.state} at ${time(next.atMs)}`]),
  ]
  return table + lines.map((line) => `${clean(line, 300)}\n`).join('')
}

const THEN = {
  wait: 'then croft reports it and keeps waiting',
  force: 'then it is forced, or left behind',
  abort: 'then all goes back',
} as const

/** Returns since when it waits, if known, and what happens at its timeout. */
function waitLine(wait: PowerWait, since: ReadonlyMap<string, number>, nowMs: number): string {
  const { tier, what, awaits, seen, leftMs, afterwards } = wait
  const sinceMs = since.get(waitName(tier, what, awaits))
  const passedMs = sinceMs === undefined ? 0 : Math.max(0, nowMs - sinceMs)
  const instead = seen === undefined ? '' : `; seen: ${seen}`
  const passed = sinceMs === undefined ? '' : `, for ${showElapsed(passedMs)}`
  const left = leftMs === undefined ? '' : ` (${showElapsed(Math.max(0, leftMs - passedMs))} left`
  const end = leftMs === undefined ? '' : afterwards === undefined ? ')' : `, ${THEN[afterwards]})`
  return `${what}: ${awaits}${instead}${passed}${left}${end}`
}

function minutes(ms: number): string {
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${Math.round(ms / 1000)}s`
}

function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
