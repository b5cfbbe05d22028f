import { defined } from '../lib/defined.ts'
import { FAILED } from '../lib/failed-on.ts'
import { wordSet } from '../lib/word-list.ts'
import type { EstateStatus, StatusCluster, StatusHost, StatusPower, StatusRow } from './estate-status.ts'
import type { TroubleSort } from './notification.ts'

/**
 * A current problem that a person should know of. It keeps its id while it lasts. If it gets worse, it gets a new id,
 * so that it is reported again.
 */
export interface Trouble {
  readonly id: string
  readonly sort: TroubleSort
  /** `bad`: it does not work, or a person must act. `warn`: a person should look at it. */
  readonly tone: 'bad' | 'warn'
  readonly title: string
  readonly text: string
  /** Its subject: the name of a source, host, cluster, or the key of a resource. */
  readonly about: string
  /** What would help, if known. */
  readonly allow?: string
  /** Since when, if known. */
  readonly sinceMs?: number
  /** Many troubles with the same word are shown as one line. */
  readonly word?: string
}

/**
 * Returns all troubles, worst first. The page, `croft health`, notifications and metrics all show this one judgement.
 * Pure.
 */
export function troublesOf(status: EstateStatus, nowMs: number): readonly Trouble[] {
  const troubles: readonly Trouble[] = [
    ...status.sources.flatMap(({ name, trouble, unreachable }): readonly Trouble[] => {
      if (trouble === undefined) return []
      const title =
        unreachable === true ? `The source ${name} cannot be reached` : `The newest commit of ${name} is not in force`
      return [of('source', name, 'bad', title, { id: unreachable === true ? 'unreachable' : 'source', text: trouble })]
    }),
    ...status.sources.flatMap(({ name, waiting }): readonly Trouble[] => {
      if (waiting === undefined) return []
      const { plan, summary, sinceMs } = waiting
      const allow = plan === undefined ? undefined : `croft ask approve Source/${name}@${plan}`
      return [of('approval', name, 'warn', `A plan of ${name} waits for approval`, { text: summary, allow, sinceMs })]
    }),
    ...manifestTroubles(status),
    ...status.connections
      .filter(({ state }) => state !== 'ok')
      .map(({ name, state, message, endpoint, allow }) =>
        of('connection', name, 'bad', `The connection ${name} is ${state}`, { text: message ?? endpoint, allow }),
      ),
    ...status.clusters
      .filter((cluster) => !offByRequest(cluster, status))
      .flatMap((cluster) => clusterTroubles(cluster, nowMs)),
    ...(status.power ?? []).flatMap(powerTroubles),
    ...hostTroubles(status),
    ...status.checks
      .filter(({ passed }) => passed === 'no')
      .map(({ name, output }) => of('check', name, 'bad', `The check ${name} fails`, { text: output })),
    ...status.rows.flatMap((row) => rowTroubles(row, nowMs)),
    ...driftTroubles(status),
  ]
  return troubles.toSorted((a, b) => Number(a.tone === 'warn') - Number(b.tone === 'warn'))
}

function of(
  sort: TroubleSort,
  about: string,
  tone: Trouble['tone'],
  title: string,
  more: {
    readonly text: string
    readonly allow?: string | undefined
    readonly sinceMs?: number | undefined
    readonly word?: string
    readonly id?: string
  },
): Trouble {
  const { text, allow, sinceMs, word, id } = more
  return {
    id: `${id ?? sort}/${about}`,
    sort,
    tone,
    title,
    text,
    about,
    ...defined({ allow, sinceMs, word }),
  }
}

/** Groups problems by line: one id is reported, and resolved, only once. */
function manifestTroubles({ problems }: EstateStatus): readonly Trouble[] {
  const errors = problems.filter(({ severity }) => severity === 'error')
  return [...Map.groupBy(errors, ({ file, line }) => `${file}:${line}`)].map(([place, here]) =>
    of(
      'manifest',
      place,
      'bad',
      here.every(({ code }) => code === FAILED) ? 'croft itself failed' : `${place} is not valid`,
      {
        text: [...new Set(here.map(({ message }) => message))].join('; '),
        allow: here.find(({ hint }) => hint !== undefined)?.hint,
      },
    ),
  )
}

/** A cluster that is off or going off by order is no trouble. */
function offByRequest({ name }: StatusCluster, { power = [] }: EstateStatus): boolean {
  const order = power.find(({ cluster }) => cluster === name)
  return order !== undefined && ['PoweringOn', 'PoweringOff', 'Off'].includes(order.phase)
}

function clusterTroubles(cluster: StatusCluster, nowMs: number): readonly Trouble[] {
  const { name, phase, unseenSinceMs: since, quorumMargin, faultTolerance, holds, refusals, operation } = cluster
  const quorum = holds.find(({ guard }) => guard === 'quorum-lost' || guard === 'quorum-unseen')
  const objections = [...refusals, ...holds.filter((one) => one !== quorum)].map((one) =>
    one.guard === 'request' && operation !== undefined
      ? operationTrouble(name, operation, one.allow)
      : of('cluster', name, refusals.includes(one) ? 'bad' : 'warn', heldTitle(name, one.guard), {
          id: `cluster/${one.guard ?? 'guard'}`,
          text: one.reason,
          allow: one.allow,
        }),
  )
  if (quorum !== undefined || phase === 'QuorumLost' || (typeof quorumMargin === 'number' && quorumMargin < 0)) {
    const likely = quorum?.guard === 'quorum-unseen' ? 'most likely ' : ''
    const short = typeof quorumMargin === 'number' && quorumMargin < 0 ? -quorumMargin : 'some'
    const still = `The API stands still until ${short} more of its servers run${short === 1 ? 's' : ''}.`
    const { reason: text, allow } = quorum ?? { reason: still, allow: 'bring servers back' }
    return [
      of('cluster', name, 'bad', `${name} has ${likely}lost its quorum`, { id: 'quorum', text, allow, sinceMs: since }),
      ...objections,
    ]
  }
  if (since !== undefined && nowMs - since >= UNSEEN_MS) {
    const text = 'Its API does not answer: it is down, has lost its quorum, or nobody reaches it from here.'
    const allow = 'see which of its servers run: croft health says what each of them shows'
    return [
      of('cluster', name, 'bad', `${name} does not answer`, { id: 'unseen', text, allow, sinceMs: since }),
      ...objections,
    ]
  }
  const unwell = cluster.nodes.filter((node) => node.phase === 'NotReady' || node.phase === 'Flapping')
  if (unwell.length > 0) {
    const names = unwell.slice(0, 3).map((node) => node.name)
    const more = unwell.length > names.length ? ` and ${unwell.length - names.length} more` : ''
    const server = unwell.some(({ role }) => role === 'server')
    const margin = server && quorumMargin === 0 ? ' No other server can fail.' : ''
    const title = `${unwell.length === 1 ? '1 node' : `${unwell.length} nodes`} of ${name} not ready`
    const since = unwell.flatMap(({ readySinceMs }) => readySinceMs ?? [])
    const text = `${names.join(', ')}${more}.${margin}`
    const sinceMs = since.length === 0 ? undefined : Math.min(...since)
    const allow = `bring it back, or see what croft knows of it: croft why Cluster/${name}`
    return [of('cluster', name, server ? 'bad' : 'warn', title, { text, allow, sinceMs }), ...objections]
  }
  if (objections.length > 0 || (phase !== 'Degraded' && phase !== 'Blocked')) return objections
  return [of('cluster', name, 'bad', `${name} is ${phase.toLowerCase()}`, { text: faultTolerance })]
}

function heldTitle(cluster: string, guard: string | undefined): string {
  if (guard === 'certificates') return `Certificates of ${cluster} must be renewed`
  return `${cluster} is held by ${guard ?? 'a guard'}`
}

/** An operation that a command started is no fault, but worth a warning. One that stopped is a fault. */
function operationTrouble(
  cluster: string,
  { name, step, stopped, sinceMs }: NonNullable<StatusCluster['operation']>,
  allow: string,
): Trouble {
  const what = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  if (!stopped) return of('cluster', cluster, 'warn', `${what} is under way`, { id: 'operation', text: step, sinceMs })
  const text = `It has been at this step for too long: ${step}.`
  return of('cluster', cluster, 'bad', `${what} has stopped`, { id: 'operation-stopped', text, allow, sinceMs })
}

/** A restarting API, or one failed look, is no trouble yet. */
const UNSEEN_MS = 60_000

function powerTroubles({ name, holds, refusals, ups }: StatusPower): readonly Trouble[] {
  const objection = (tone: Trouble['tone'], word: string) => (one: StatusPower['holds'][number]) =>
    of('power', name, tone, `Power ${name} is ${word}`, {
      id: `power/${word}/${one.guard ?? 'guard'}`,
      text: one.reason,
      allow: one.allow,
    })
  const all = [...refusals.map(objection('bad', 'refused')), ...holds.map(objection('warn', 'held'))]
  if (ups?.state !== 'battery') return all
  const left = ups.charge === undefined ? 'Nobody knows how much is left' : `${Math.round(ups.charge)} % left`
  const low = ups.low === true ? ', and it says that this is little' : ''
  const tone = ups.low === true || (ups.charge ?? 100) <= LOW_CHARGE ? 'bad' : 'warn'
  const id = tone === 'bad' ? 'ups-low' : 'ups'
  const allow = 'see to the mains; croft power shows what goes off at which charge'
  return [...all, of('ups', name, tone, `The UPS of ${name} is on battery`, { id, text: `${left}${low}`, allow })]
}

/** The low limit of a battery that reports none. */
const LOW_CHARGE = 20

const BACK = 'bring it back, or say with a Power that it is meant to be off'

/** A host is worth a look from this temperature on. */
export const HOT_C = 75

function hostTroubles(status: EstateStatus): readonly Trouble[] {
  const asleep = hostsAsleep(status)
  return status.hosts.flatMap((host): readonly Trouble[] => {
    if (!host.online)
      return asleep.has(host.name)
        ? []
        : [of('host', host.name, 'bad', `Host ${host.name} is offline`, { text: 'It does not answer.', allow: BACK })]
    const { temperatureC = 0 } = host
    if (temperatureC < HOT_C) return []
    const text = `${Math.round(temperatureC)} °C`
    const allow = 'see to its cooling, or give it less to do'
    return [of('host', host.name, 'warn', `Host ${host.name} is hot`, { id: 'hot', text, allow })]
  })
}

/** Hosts that are off by order of a person or the schedule: that is no trouble. */
export function hostsAsleep({ power = [], hosts }: Pick<EstateStatus, 'power' | 'hosts'>): ReadonlySet<string> {
  const nameOf = hostNames(hosts)
  const going = power.filter(({ wanted, phase }) => wanted.state === 'off' || phase === 'PoweringOn')
  return new Set(
    going.flatMap((one) => one.hosts.filter((host) => host.power === 'off').map(({ name }) => nameOf(name))),
  )
}

/** Returns one name per host for both its name in Git and its hypervisor's. */
export function hostNames(hosts: readonly StatusHost[]): (name: string) => string {
  const other = new Map(
    hosts.flatMap(({ name, alsoCalled }) => (alsoCalled === undefined ? [] : [[alsoCalled, name] as const])),
  )
  // A host's own name comes before another host's second name.
  for (const { name } of hosts) other.delete(name)
  return (name) => other.get(name) ?? name
}

function rowTroubles(row: StatusRow, nowMs: number): readonly Trouble[] {
  const { key, sinceMs } = row
  const said = (otherwise: string) => (row.message === '' || row.message === 'as declared' ? otherwise : row.message)
  if (row.stalled) {
    const word = 'stalled'
    return [of('resource', key, 'bad', `${key} needs a person`, { id: word, text: said('it failed'), sinceMs, word })]
  }
  if (row.do === 'refuse') {
    const text = said('it will not be done as declared')
    return [of('resource', key, 'bad', `${key} is refused`, { id: 'refused', text, sinceMs, word: 'refused' })]
  }
  // The status and time of a held resource describe its current state, not the held change.
  if (row.do === 'hold') {
    const text = `${row.next ?? 'a change'} waits for an approval`
    return [of('approval', key, 'warn', `${key} is held`, { text, word: 'held' })]
  }
  if (row.ready !== 'False' || row.paused || !['nothing', 'wait'].includes(row.do) || isComing(row, nowMs)) return []
  return [
    of('resource', key, 'bad', `${key} is not ready`, {
      id: 'ready',
      text: said('it is not up'),
      sinceMs,
      word: 'not ready',
    }),
  ]
}

/** Reports whether it was just started, moved or changed: not being ready is no trouble yet. */
export function isComing({ reason, sinceMs }: Pick<StatusRow, 'reason' | 'sinceMs'>, nowMs: number): boolean {
  return COMING.has(reason) && (sinceMs === undefined ? Number.POSITIVE_INFINITY : nowMs - sinceMs) < COMING_MS
}

const COMING = wordSet(`
  PowerChanging Seeding AgentDown AgentNotAsked CloudInitRunning NotATemplate NotReadClosely NotInForce Locked
  InProgress
`)
const COMING_MS = 180_000

function driftTroubles({ drifts }: EstateStatus): readonly Trouble[] {
  const groups = Map.groupBy(
    drifts.filter(({ policy }) => policy !== 'ignore'),
    ({ key }) => key,
  )
  return [...groups].map(([key, own]) => {
    const fields = own.map(({ field, declared, observed }) => `${field} is ${observed}, Git says ${declared}`)
    const by = own[0]?.by
    const text = `${fields.slice(0, 3).join('; ')}${by === undefined ? '' : ` (${by.user}, ${by.task})`}`
    const sinceMs = Math.min(...own.map((one) => one.sinceMs))
    return of('drift', key, 'warn', `${key} has drifted`, { text, sinceMs, word: 'drifted' })
  })
}
