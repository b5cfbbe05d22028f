import type { PersonHold } from '../../model/power.ts'
import type { PowerHold } from '../../model/power-decision.ts'
import { nodesOf, type PowerSituation, spoken } from './view.ts'

/**
 * Who and what keeps it from going down: people, backups, jobs, and holds that somebody set. Asked until the first node
 * has stopped; from then on it would only keep a cluster half down.
 */
export function holdsOf(view: PowerSituation, set: readonly PersonHold[]): readonly PowerHold[] {
  const { spec, observed, wanted } = view
  if (wanted.ignoreHolds || hasStopped(view)) return []
  const holds: PowerHold[] = set.map(({ by, why, sinceMs, untilMs }) => ({
    guard: 'hold',
    reason: `${by} holds it since ${time(sinceMs)} until ${time(untilMs)}${why === '' ? '' : `: ${why}`}`,
    allow: `croft power release, or wait until ${time(untilMs)}`,
    sinceMs,
    untilMs,
  }))
  for (const { kind, who, where, sinceMs, idleMs, ageMs } of observed.holds) {
    const since = sinceMs === undefined ? '' : ` since ${time(sinceMs)}`
    const shown = sinceMs === undefined ? {} : { sinceMs }
    if (kind === 'person' && spec.holds.people && (idleMs ?? 0) < spec.holds.idleMs) {
      const reason = `${who} is logged in on ${where}${since}`
      holds.push({ guard: 'person', reason, allow: `${who} logs out, or croft power off --ignore-holds`, ...shown })
    }
    if (kind === 'backup' && spec.holds.backups) {
      const reason = `${who} is being backed up on ${where}${since}`
      holds.push({ guard: 'backup', reason, allow: 'the backup ends, or croft power off --ignore-holds', ...shown })
    }
    if (kind === 'job' && spec.holds.jobs && (ageMs ?? 0) < spec.holds.jobsMs) {
      const reason = `the job ${who} runs in ${where}${since}`
      holds.push({ guard: 'job', reason, allow: 'the job ends, or croft power off --ignore-holds', ...shown })
    }
  }
  return holds
}

/**
 * Has a node been stopped for this? Our mark says so, where it can be read. One that died, sleeps on demand or went with
 * the battery says nothing: it must not silence everybody's hold.
 */
function hasStopped(view: PowerSituation): boolean {
  const readable = spoken(view) !== undefined
  return nodesOf(view).some(({ onDemand, power, k3s, mark, host }) => {
    if (onDemand || (host !== undefined && view.wanted.shed.has(host))) return false
    return (power === 'off' || k3s === 'stopped') && (mark !== undefined || !readable)
  })
}

function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
