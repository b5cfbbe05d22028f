import { actorName } from '../../lib/actor-name.ts'
import type { ObservedPower, UpsReading } from '../../model/observed-power.ts'
import type { PowerDone, PowerHost, PowerRequests, PowerSpec, UpsSpec } from '../../model/power.ts'
import { scheduledState } from './schedule.ts'

/** The wanted state, and who wants it. */
export interface WantedPower {
  readonly state: 'on' | 'off'
  /** The time of the order, which identifies this change of state. 0: never changed. */
  readonly sinceMs: number
  readonly why: string
  readonly source: 'git' | 'schedule' | 'person' | 'ups' | 'abort'
  readonly ignoreHolds: boolean
  /** Hosts that their UPS shuts down one after the other, while the rest stays on. */
  readonly shed: ReadonlySet<string>
  /** Those among them whose turn it is by their level; the others were off before. */
  readonly going: ReadonlySet<string>
  /** Hosts that croft does not wake now, with the reason if a person would not expect it. */
  readonly unwoken: ReadonlyMap<string, string | undefined>
  /** At a battery level, work over its deadline is forced despite its declared policy. `low`: only minutes are left. */
  readonly urgent: 'no' | 'level' | 'low'
}

/**
 * Returns the wanted power state. The newest order wins: a person's request holds until the next change of the
 * schedule, and the other way round. An empty battery overrides both, also during an ordered power-off. An abandoned
 * request counts as its opposite.
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
  const { ups } = spec
  if (ups === undefined) return asked
  const batteries = new Map(
    Object.entries(observed.ups).flatMap(([name, reading]) => {
      const battery = batteryReading(reading, word)
      return battery === undefined ? [] : [[name, battery] as const]
    }),
  )
  const reached = (host: PowerHost) => levelReached(ups, batteries.get(host.fedBy ?? ''))
  const going = goingHosts(spec, batteries, reached)
  // While a battery feeds them, hosts that are off stay off.
  const resting = observed.hosts.filter(({ name, power }) => power === 'off' && isFed(name, spec, batteries))
  const shed = new Set([...going, ...resting.map(({ name }) => name)])
  const some = spec.hosts.some((host) => reached(host) > 0)
  const fed: WantedPower = {
    ...asked,
    shed,
    going,
    unwoken: unwokenHosts(spec, observed, ups, asked),
    urgent: some ? ([...batteries.values()].some(({ low }) => low) ? 'low' : 'level') : 'no',
  }
  const all = spec.hosts.length > 0 && spec.hosts.every(({ name }) => going.has(name))
  if (asked.state === 'off' || !all) return fed
  const charge = Math.min(...[...batteries.values()].map((battery) => battery.charge))
  return { ...fed, state: 'off', source: 'ups', why: `the UPS is on battery at ${charge} %` }
}

function newestWord(spec: PowerSpec, requests: PowerRequests, nowMs: number): WantedPower {
  const git: WantedPower = {
    state: spec.state,
    sinceMs: 0,
    why: 'declared',
    source: 'git',
    ignoreHolds: false,
    shed: new Set(),
    going: new Set(),
    unwoken: new Map(),
    urgent: 'no',
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
 * Returns the UPS's reading while it is on battery. If it falls silent then, it still counts as on battery, unless a
 * person orders power on after that.
 */
function batteryReading(ups: UpsReading | 'unknown', word: WantedPower): UpsReading | undefined {
  if (ups === 'unknown' || !ups.onBattery) return undefined
  const overruled = word.source === 'person' && word.state === 'on' && word.sinceMs > (ups.silentSinceMs ?? Infinity)
  return overruled ? undefined : ups
}

/** Returns the highest level that shuts down at this charge, or 0 for none. */
function levelReached({ levels }: UpsSpec, battery: UpsReading | undefined): number {
  if (battery === undefined) return 0
  if (battery.low) return Number.POSITIVE_INFINITY
  return Math.max(0, ...levels.filter(({ below }) => battery.charge <= below).map(({ level }) => level))
}

function isFed(host: string, { hosts }: PowerSpec, batteries: ReadonlyMap<string, UpsReading>): boolean {
  return hosts.some(({ name, fedBy = '' }) => name === host && batteries.has(fedBy))
}

/** Hosts whose level their own UPS has reached, and with the last chance to switch others off those others. */
function goingHosts(
  { hosts }: PowerSpec,
  batteries: ReadonlyMap<string, UpsReading>,
  reached: (host: PowerHost) => number,
): ReadonlySet<string> {
  const going = hosts.filter((host) => host.level <= reached(host))
  // With croft's own host, or the one whose NUT server speaks for a UPS, the last chance goes to switch the others off.
  const isLastChance = ({ fedBy = '' }: PowerHost) =>
    batteries.has(fedBy) && going.some(({ own, tells }) => own || tells.includes(fedBy))
  return new Set(hosts.filter((host) => going.includes(host) || isLastChance(host)).map(({ name }) => name))
}

/** Returns hosts that must not be woken: their UPS is on battery, silent, or not charged enough. */
function unwokenHosts(
  { hosts }: PowerSpec,
  { ups }: Pick<ObservedPower, 'ups'>,
  { wakeAbove }: UpsSpec,
  word: WantedPower,
): ReadonlyMap<string, string | undefined> {
  const insists = word.source === 'person' && word.state === 'on'
  const unwoken = new Map<string, string | undefined>()
  for (const { name, fedBy = '' } of hosts) {
    const reading = ups[fedBy] ?? 'unknown'
    if (reading === 'unknown') {
      if (!insists) unwoken.set(name, `the UPS ${fedBy} has never answered, so it may be on battery`)
    } else if (batteryReading(reading, word) !== undefined) unwoken.set(name, undefined)
    else if (!reading.onBattery && !(insists && word.ignoreHolds) && (reading.low || reading.charge < wakeAbove))
      unwoken.set(name, `the UPS ${fedBy} is charged to ${reading.charge} % only`)
  }
  return unwoken
}
