import type { PowerLook } from '../../../model/power-look.ts'
import { clean } from '../../render/clean.ts'
import type { Style } from '../../render/style.ts'
import { renderTable } from '../../render/table.ts'

/** The tiers in their order, how far each is, and what is waited for. */
export function renderPower({ declaration, decision }: PowerLook, style: Style): string {
  const { phase, wanted, tiers, waits, holds, refusals, warnings, steps } = decision
  const head = `${declaration.key} is ${phase}; wanted ${wanted.state} (${clean(wanted.why, 200)})\n`
  const rows = tiers.map(({ tier, state, progress, awaits }) => [tier, state, progress, awaits])
  const columns = [{ title: 'TIER' }, { title: 'STATE' }, { title: 'DONE' }, { title: 'UNTIL' }]
  const table = rows.length === 0 ? '' : renderTable(columns, rows, style)
  const lines = [
    ...refusals.map(({ reason, allow }) => `Refused: ${reason}. To go on: ${allow}.`),
    ...holds.map(({ reason, allow }) => `Held: ${reason}. To go on: ${allow}.`),
    ...steps.map(({ summary }) => `Next: ${summary}`),
    ...waits.map(({ what, awaits, leftMs }) => `Waits: ${what}: ${awaits}${left(leftMs)}`),
    ...warnings.map((warning) => `Warning: ${warning}`),
  ]
  return head + table + lines.map((line) => `${clean(line, 300)}\n`).join('')
}

function left(ms: number | undefined): string {
  return ms === undefined ? '' : ` (${Math.round(ms / 1000)} s left)`
}
