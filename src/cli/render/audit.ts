import type { AuditEntry } from '../../model/audit.ts'
import { showAge } from './duration.ts'
import { API_VERSION } from './plan-json.ts'
import type { Style } from './style.ts'
import { renderTable } from './table.ts'

const COLUMNS = [
  { title: 'WHEN' },
  { title: 'WHO' },
  { title: 'WHAT' },
  { title: 'ABOUT' },
  { title: 'OUTCOME' },
  { title: 'MESSAGE', max: 400 },
]

export function renderAudit(
  entries: readonly AuditEntry[],
  style: Style,
  view: { readonly nowMs: number; readonly headers: boolean },
): string {
  const rows = entries.map(({ atMs, actor, what, subject = '-', outcome, message }) => [
    showAge(view.nowMs - atMs),
    actor,
    what,
    subject,
    outcome,
    message,
  ])
  return renderTable(COLUMNS, rows, style, { headers: view.headers })
}

export function auditJson({ seq, atMs, actor, from, what, subject, outcome, message }: AuditEntry): unknown {
  return {
    apiVersion: API_VERSION,
    kind: 'AuditEntry',
    seq,
    time: new Date(atMs).toISOString(),
    actor,
    from,
    what,
    ...(subject === undefined ? {} : { subject }),
    outcome,
    message,
  }
}
