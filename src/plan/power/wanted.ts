import { actorName } from '../../lib/actor-name.ts'
import type { ObservedPower, UpsReading } from '../../model/observed-power.ts'
import type { PowerDone, PowerRequests, PowerSpec, UpsSpec } from '../../model/power.ts'
import { scheduledState } from './schedule.ts'

/** Which state is wanted, by whose word. */
export interface WantedPower {
  readonly state: 'on' | 'off'
  /** The moment since which it is wanted: names this change of state. 0: it was never otherwise. */
  readonly sinceMs: number
  readonly why: string
  readonly source: 'git' | 'schedule' | 'person' | 'ups' | 'abort'
  readonly ignoreHolds: boolean
  /** Hosts that the UPS takes off one after the other, while the rest stays on. */
  readonly shed: ReadonlySet<string>
  /** A level of the battery is reached: what takes longer than its deadline is forced, whatever is declared. */
  readonly urgent: boolean
}

/**
 * The newest word counts: a person's request stands until the schedule speaks again, and the other way round. A battery
 * that runs out is above both, also in the middle of a power-off that somebody ordered, and an request that was given up
 * is as good as its opposite.
 */
export function wantedPower(
  spec: PowerSpec,
  observed: Pick<ObservedPower, 'ups' | 'hosts'>,
  requests: PowerRequests,
  done: PowerDone | undefined,
  nowMs: number,
): WantedPower {
  const word = newestWord(spec, requests, nowMs)
  const aborted = done?.result === 'aborted' && done.sinceMs === word.sinceMs && done.state === word.state
  const asked: WantedPower = aborted
    ? { ...word, state: word.state === 'off' ? 'on' : 'off', source: 'abort', why: `given up: ${done.reason ?? ''}` }
    : word
  const reading = batteryReading(observed, word)
  if (spec.ups === undefined || reading === undefined) return asked
  const highest = levelReached(spec.ups, reading)
  const shed = shedHosts(spec, observed, highest)
  const fed = { ...asked, shed, urgent: highest > 0 }
  const all = spec.hosts.length > 0 && spec.hosts.every(({ name }) => shed.has(name))
  if (asked.state === 'off' || !all) return fed
  return { ...fed, state: 'off', source: 'ups', why: `the UPS is on battery at ${reading.charge} %` }
}

function newestWord(spec: PowerSpec, requests: PowerRequests, nowMs: number): WantedPower {
  const git: WantedPower = {
    state: spec.state,
    sinceMs: 0,
    why: 'declared',
    source: 'git',
    ignoreHolds: false,
    shed: new Set(),
    urgent: false,
  }
  const words: WantedPower[] = [git]
  const scheduled = spec.schedule === undefined ? undefined : scheduledState(spec.schedule, nowMs)
  if (scheduled !== undefined) {
    words.push({ ...git, state: scheduled.state, sinceMs: scheduled.sinceMs, why: 'schedule', source: 'schedule' })
  }
  const request = requests.wanted
  if (request !== undefined) {
    words.push({
      ...git,
      state: request.state,
      sinceMs: request.atMs,
      why: `asked by ${actorName(request.by)}${request.why === '' ? '' : `: ${request.why}`}`,
      source: 'person',
      ignoreHolds: request.ignoreHolds === true,
    })
  }
  return words.reduce((newest, word) => (word.sinceMs >= newest.sinceMs ? word : newest))
}

/**
 * What the UPS says, while it says that the battery feeds. One that has fallen silent then is not taken for one that is
 * back on mains, but somebody who requests on after that knows better.
 */
function batteryReading({ ups }: Pick<ObservedPower, 'ups'>, word: WantedPower): UpsReading | undefined {
  if (ups === undefined || ups === 'unknown' || !ups.onBattery) return undefined
  const overruled = word.source === 'person' && word.state === 'on' && word.sinceMs > (ups.silentSinceMs ?? Infinity)
  return overruled ? undefined : ups
}

/** The highest level that goes at this charge. 0: none yet. */
function levelReached({ levels }: UpsSpec, { charge, low }: UpsReading): number {
  if (low) return Number.POSITIVE_INFINITY
  return Math.max(0, ...levels.filter(({ below }) => charge <= below).map(({ level }) => level))
}

/** While the battery feeds, nothing is woken: a charge that wavers would switch hosts off and on. */
function shedHosts(spec: PowerSpec, { hosts }: Pick<ObservedPower, 'hosts'>, highest: number): ReadonlySet<string> {
  const off = new Set(hosts.filter(({ power }) => power === 'off').map(({ name }) => name))
  return new Set(spec.hosts.filter(({ name, level }) => level <= highest || off.has(name)).map(({ name }) => name))
}
