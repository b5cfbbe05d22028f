import type { PassReport } from '../../engine/engine.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { DriftView } from '../../model/estate-view.ts'
import { maskChange } from '../../model/masked/masked-change.ts'
import type { Action, Doing } from '../../model/plan.ts'

/** Every field in which the world has moved away from Git, and who moved it where that is known. Pure. */
export function driftsOf(report: Pick<PassReport, 'plan' | 'records'>): readonly DriftView[] {
  const records = new Map(report.records.map((record) => [record.key, record]))
  const drifts: DriftView[] = []
  for (const entry of report.plan.entries) {
    if (entry.drift !== true) continue
    const record = records.get(entry.key)
    const doing = doingOf(entry.action)
    if (doing === undefined || record === undefined) continue
    const common = {
      key: entry.key,
      sinceMs: record.driftSinceMs ?? record.createdMs,
      ...(record.driftBy === undefined ? {} : { by: record.driftBy }),
      policy: record.policy.drift ?? ('correct' as const),
    }
    if ('changes' in doing) {
      // A pending restart is the rest of a change, not a difference from Git.
      for (const change of doing.changes.filter(({ path }) => path !== 'restart').map(maskChange)) {
        drifts.push({
          ...common,
          field: change.path,
          declared: shown(change.to),
          observed: shown(change.from),
        })
      }
    } else drifts.push({ ...common, field: 'existence', declared: 'there', observed: 'gone' })
  }
  return drifts
}

function doingOf(action: Action): Doing | undefined {
  if (action.do === 'hold') return action.held
  return action.do === 'create' || action.do === 'update' || action.do === 'replace' ? action : undefined
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
  return clean(text).slice(0, LIMITS.shownValueLength)
}

/** Removes control characters from a host's text: it must not move the cursor or reorder text. */
export function clean(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, '?')
}
