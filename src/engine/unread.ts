import type { Plan, PlanEntry } from '../model/plan.ts'
import type { Looking } from './look.ts'

/** What a plan waits for because it could not be read says why: its host is gone, or what the one who was asked said. */
export function sayWhyUnread(plan: Plan, lookings: ReadonlyMap<string, Pick<Looking, 'survey' | 'failed'>>): Plan {
  return { ...plan, entries: plan.entries.map((entry) => withReason(entry, lookings.get(entry.connection))) }
}

function withReason(entry: PlanEntry, looking: Pick<Looking, 'survey' | 'failed'> | undefined): PlanEntry {
  const { action, host } = entry
  if (action.do !== 'wait' || action.lack === undefined || looking === undefined) return entry
  const { hosts } = looking.survey
  const there = hosts.find((one) => one.name === host)
  if (there?.online === false) {
    const message = `host ${host} is offline: nothing on it can be seen or done until it is back`
    return { ...entry, action: { ...action, reason: 'HostOffline', message } }
  }
  // What belongs to no host in particular is named after the whole of them.
  if (host !== undefined && host !== 'cluster' && there === undefined && hosts.length > 0) {
    const names = hosts.map(({ name }) => name).join(', ')
    const message = `${entry.connection} has no host ${host}; it has ${names}`
    return { ...entry, action: { ...action, reason: 'NoSuchHost', message } }
  }
  const said = looking.failed.get(JSON.stringify(action.lack))
  return said === undefined ? entry : { ...entry, action: { ...action, reason: 'CannotBeRead', message: said } }
}
