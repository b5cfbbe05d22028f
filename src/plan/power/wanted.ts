import type { ObservedPower } from '../../model/observed-power.ts'
import type { PowerDone, PowerOrders, PowerSpec } from '../../model/power.ts'
import { scheduledState } from './schedule.ts'

/** Which state is wanted, by whose word. */
export interface Wanted {
  readonly state: 'on' | 'off'
  /** The moment since which it is wanted: names this change of state. 0: it was never otherwise. */
  readonly sinceMs: number
  readonly why: string
  readonly source: 'git' | 'schedule' | 'person' | 'ups' | 'abort'
  readonly ignoreHolds: boolean
  /** Hosts that the UPS takes off one after the other, while the rest stays on. */
  readonly shed: ReadonlySet<string>
}

/**
 * The newest word counts: a person's order stands until the schedule speaks again, and the other way round. A battery
 * that runs out is above both, and an order that was given up is as good as its opposite.
 */
export function wantedPower(
  spec: PowerSpec,
  observed: Pick<ObservedPower, 'ups' | 'hosts'>,
  orders: PowerOrders,
  done: PowerDone | undefined,
  nowMs: number,
): Wanted {
  const word = newestWord(spec, orders, nowMs)
  const aborted = done?.result === 'aborted' && done.sinceMs === word.sinceMs && done.state === word.state
  const asked: Wanted = aborted
    ? { ...word, state: word.state === 'off' ? 'on' : 'off', source: 'abort', why: `given up: ${done.reason ?? ''}` }
    : word
  const shed = shedHosts(spec, observed)
  const all = spec.hosts.length > 0 && spec.hosts.every(({ name }) => shed.has(name))
  if (asked.state === 'on' && all) {
    return { ...asked, state: 'off', source: 'ups', why: upsSentence(observed), ignoreHolds: true, shed }
  }
  return { ...asked, shed }
}

function newestWord(spec: PowerSpec, orders: PowerOrders, nowMs: number): Wanted {
  const git: Wanted = {
    state: spec.state,
    sinceMs: 0,
    why: 'declared',
    source: 'git',
    ignoreHolds: false,
    shed: new Set(),
  }
  const words: Wanted[] = [git]
  const scheduled = spec.schedule === undefined ? undefined : scheduledState(spec.schedule, nowMs)
  if (scheduled !== undefined) {
    words.push({ ...git, state: scheduled.state, sinceMs: scheduled.sinceMs, why: 'schedule', source: 'schedule' })
  }
  const order = orders.wanted
  if (order !== undefined) {
    words.push({
      ...git,
      state: order.state,
      sinceMs: order.atMs,
      why: `${order.by}${order.why === '' ? '' : `: ${order.why}`}`,
      source: 'person',
      ignoreHolds: order.ignoreHolds === true,
    })
  }
  return words.reduce((newest, word) => (word.sinceMs >= newest.sinceMs ? word : newest))
}

/** While the battery feeds, nothing is woken: a charge that wavers would switch hosts off and on. */
function shedHosts(spec: PowerSpec, { ups, hosts }: Pick<ObservedPower, 'ups' | 'hosts'>): ReadonlySet<string> {
  if (spec.ups === undefined || ups === undefined || ups === 'unknown' || !ups.onBattery) return new Set()
  const reached = spec.ups.levels.filter(({ below }) => ups.charge <= below).map(({ level }) => level)
  const highest = ups.low ? Number.POSITIVE_INFINITY : Math.max(0, ...reached)
  const off = new Set(hosts.filter(({ power }) => power === 'off').map(({ name }) => name))
  return new Set(spec.hosts.filter(({ name, level }) => level <= highest || off.has(name)).map(({ name }) => name))
}

function upsSentence({ ups }: Pick<ObservedPower, 'ups'>): string {
  return ups === undefined || ups === 'unknown' ? 'the UPS' : `the UPS is on battery at ${ups.charge} %`
}
