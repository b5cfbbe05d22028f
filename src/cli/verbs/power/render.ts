import type { PowerWait } from '../../../model/power-decision.ts'
import type { PowerLook } from '../../../model/power-look.ts'
import { nextWord } from '../../../plan/power/schedule.ts'
import { clean } from '../../render/clean.ts'
import type { Style } from '../../render/style.ts'
import { renderTable } from '../../render/table.ts'

/** How it is: what is wanted by whom, the tiers, and what stands in the way. */
export function renderPower(look: PowerLook, style: Style, nowMs: number): string {
  const { declaration, decision } = look
  const { phase, wanted } = decision
  return `${declaration.key} is ${phase}; wanted ${wanted.state} (${clean(wanted.why, 200)})\n${body(look, style, nowMs)}`
}

/** What would be done, in order, and what happens where something takes too long. */
export function renderPowerPlan(look: PowerLook, style: Style, nowMs: number): string {
  const { declaration, decision } = look
  const { deadlines } = declaration.spec
  const names = decision.wanted.state === 'off' ? (['scale', 'detach', 'drain', 'stop'] as const) : (['start'] as const)
  const choices = names.map((name) => `${name} ${minutes(deadlines[name].afterMs)} ${deadlines[name].choice}`)
  return `Plan to switch ${declaration.key} ${decision.wanted.state}, one tier after the other:
${body(look, style, nowMs)}Where something takes longer: ${choices.join(', ')}
`
}

/** The tiers in their order, how far each is, the evidence that is awaited, and what stands in the way. */
function body({ declaration, decision }: PowerLook, style: Style, nowMs: number): string {
  const { tiers, waits, holds, refusals, warnings, steps, asleep } = decision
  const rows = tiers.map(({ tier, state, progress, awaits }) => [tier, state, progress, awaits])
  const columns = [{ title: 'TIER' }, { title: 'STATE' }, { title: 'DONE' }, { title: 'GOES ON WHEN' }]
  const table = rows.length === 0 ? '' : renderTable(columns, rows, style)
  const { schedule } = declaration.spec
  const next = schedule === undefined ? undefined : nextWord(schedule, nowMs)
  const lines = [
    ...refusals.map(({ reason, allow }) => `Refused: ${reason}. To go on: ${allow}.`),
    ...holds.map(({ reason, allow }) => `Held: ${reason}. To go on: ${allow}.`),
    ...steps.map(({ summary }) => `Next: ${summary}`),
    ...waits.map((wait) => `Waits: ${waitLine(wait)}`),
    ...warnings.map((warning) => `Warning: ${warning}`),
    ...(asleep.length === 0 ? [] : [`Asleep until a pod needs them: ${asleep.join(', ')}`]),
    ...(next === undefined ? [] : [`The schedule says ${next.state} at ${time(next.atMs)}`]),
  ]
  return table + lines.map((line) => `${clean(line, 300)}\n`).join('')
}

function waitLine({ what, awaits, seen, leftMs }: PowerWait): string {
  const instead = seen === undefined ? '' : `; seen: ${seen}`
  return `${what}: ${awaits}${instead}${leftMs === undefined ? '' : ` (${Math.round(leftMs / 1000)} s left)`}`
}

function minutes(ms: number): string {
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${Math.round(ms / 1000)}s`
}

function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
