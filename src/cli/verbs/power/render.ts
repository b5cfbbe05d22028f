import type { PowerWait } from '../../../model/power-decision.ts'
import type { PowerLook } from '../../../model/power-look.ts'
import { nextWord } from '../../../plan/power/schedule.ts'
import { clean } from '../../render/clean.ts'
import type { Style } from '../../render/style.ts'
import { renderTable } from '../../render/table.ts'

/** The tiers in their order, how far each is, the evidence that is awaited, and what stands in the way. */
export function renderPower({ declaration, decision }: PowerLook, style: Style, nowMs: number): string {
  const { phase, wanted, tiers, waits, holds, refusals, warnings, steps, asleep } = decision
  const head = `${declaration.key} is ${phase}; wanted ${wanted.state} (${clean(wanted.why, 200)})\n`
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
  return head + table + lines.map((line) => `${clean(line, 300)}\n`).join('')
}

function waitLine({ what, awaits, seen, leftMs }: PowerWait): string {
  const instead = seen === undefined ? '' : `; seen: ${seen}`
  return `${what}: ${awaits}${instead}${leftMs === undefined ? '' : ` (${Math.round(leftMs / 1000)} s left)`}`
}

function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
