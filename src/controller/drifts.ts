import type { PassReport } from '../engine/engine.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Action, Doing } from '../model/action.ts'
import type { Change } from '../model/change.ts'
import type { DriftView } from '../model/estate-view.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { RemoteTask } from '../model/survey.ts'

/** Every field in which the world has moved away from Git, and who moved it where that is known. Pure. */
export function driftsOf(
  report: Pick<PassReport, 'plan' | 'records' | 'surveys'>,
  ours: ReadonlySet<string>,
): readonly DriftView[] {
  const records = new Map(report.records.map((record) => [record.key, record]))
  const tasks = new Map((report.surveys ?? []).map((survey) => [survey.connection, survey.tasks]))
  const drifts: DriftView[] = []
  for (const entry of report.plan.entries) {
    if (entry.drift !== true) continue
    const record = records.get(entry.key)
    const doing = doingOf(entry.action)
    if (doing === undefined || record === undefined) continue
    const by = culprit(tasks.get(entry.connection) ?? [], entry.externalId ?? record.externalId, record, ours)
    const common = {
      key: entry.key,
      sinceMs: record.driftSinceMs ?? record.createdMs,
      ...(by === undefined ? {} : { by }),
      policy: record.policy.drift ?? ('correct' as const),
    }
    if ('changes' in doing) {
      for (const change of doing.changes) {
        drifts.push({
          ...common,
          field: change.path,
          declared: shown(change.to, change),
          observed: shown(change.from, change),
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

/**
 * The newest task of somebody else on that guest. A change of configuration often leaves no task; then nobody is named
 * rather than somebody wrong, so tasks from long before the drift was seen do not count.
 */
function culprit(
  tasks: readonly RemoteTask[],
  externalId: string | undefined,
  record: ResourceRecord,
  ours: ReadonlySet<string>,
): DriftView['by'] {
  const since = record.driftSinceMs ?? Number.POSITIVE_INFINITY
  const newest = tasks
    .filter((task) => task.subject === externalId && !ours.has(task.id))
    .filter((task) => task.startedMs <= since + SKEW_MS && task.startedMs >= since - LIMITS.driftBlameMs)
    .toSorted((a, b) => b.startedMs - a.startedMs)[0]
  if (newest === undefined) return undefined
  return {
    user: newest.user,
    task: `${newest.verb} ${newest.id}`.slice(0, LIMITS.shownValueLength),
    atMs: newest.startedMs,
  }
}

/** Hosts have clocks of their own. */
const SKEW_MS = 60_000

function shown(value: unknown, { secret }: Change): string {
  if (secret === true) return '***'
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
  return clean(text).slice(0, LIMITS.shownValueLength)
}

/** What a host says of itself may hold anything; nothing in it may move a cursor or a reader's eye. */
export function clean(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, '?')
}
