import { cleanText } from '../../lib/clean-text.ts'
import { defined } from '../../lib/defined.ts'
import { majority } from '../../lib/majority.ts'
import type { BarSort, Course, CourseBar, CourseTrack, CourseVotes } from '../../model/course.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import {
  type ClusterPlan,
  FETCH_BESIDE,
  isUnderWay,
  type NodePhase,
  type ObservedCluster,
  type ObservedNode,
  type OperationAt,
  type OperationStepAt,
} from '../../model/observed-cluster.ts'
import type { PowerNode, PowerPlan } from '../../model/observed-power.ts'
import type { ClusterVerb, OperationVerb, PowerVerb } from '../../model/step.ts'
import { quorum } from '../../plan/clusters/quorum.ts'

export interface NodeActivity {
  readonly step: string
  readonly sort: BarSort
  readonly says: string
}

interface MomentTrack extends Omit<CourseTrack, 'bars'> {
  readonly doing?: NodeActivity
  /** All that was done since `fromMs`, where it is known exactly: steps may be shorter than the time between two looks. */
  readonly bars?: readonly CourseBar[]
}

/** The running change of a cluster or a Power at one moment, with the affected nodes. */
export interface Moment {
  readonly key: ResourceKey
  readonly atMs: number
  /** When it started, if the process that does it recorded that. */
  readonly fromMs?: number
  /** Absent: no running change. */
  readonly about?: Pick<Course, 'purpose' | 'title'>
  /** The API cannot be read: running work goes on, and nothing new starts. */
  readonly blind?: true
  readonly tracks: readonly MomentTrack[]
  readonly votes?: Omit<CourseVotes, 'atMs'>
}

type Bar = readonly [step: string, sort: BarSort]

/** Verbs with bars. Others take no time, or are of no interest. */
const CLUSTER_BARS: Readonly<Partial<Record<ClusterVerb, Bar>>> = {
  'create-machine': ['create', 'change'],
  'start-machine': ['boot', 'wait'],
  'stop-machine': ['shut down', 'down'],
  'restart-machine': ['restart', 'down'],
  'destroy-machine': ['destroy', 'down'],
  'wipe-k3s': ['wipe', 'change'],
  'prepare-k3s': ['install', 'change'],
  'init-cluster': ['start', 'change'],
  'join-server': ['join', 'change'],
  'join-agent': ['join', 'change'],
  'stop-k3s': ['stop', 'down'],
  'restart-k3s': ['restart', 'down'],
  cordon: ['cordon', 'move'],
  drain: ['drain', 'move'],
  uncordon: ['uncordon', 'move'],
  'upgrade-k3s': ['install', 'change'],
  'configure-k3s': ['configure', 'change'],
  'remove-member': ['remove', 'change'],
  'delete-node': ['remove', 'change'],
  snapshot: ['snapshot', 'change'],
}

const PHASE_BARS: Readonly<Partial<Record<NodePhase, Bar>>> = {
  Booting: ['boot', 'wait'],
  Joining: ['join', 'change'],
  Learner: ['join', 'change'],
  NotReady: ['not ready', 'down'],
  Flapping: ['not ready', 'down'],
  Unknown: ['no answer', 'wait'],
  PoweredOff: ['off', 'off'],
}

const OPERATION_BARS: Readonly<Partial<Record<OperationVerb, Bar>>> = {
  'stop-k3s': ['stop', 'down'],
  'start-k3s': ['start', 'wait'],
  'restart-k3s': ['restart', 'down'],
  'write-files': ['configure', 'change'],
  'restore-snapshot': ['restore', 'change'],
  'forget-db': ['delete data', 'change'],
  'delete-node': ['remove', 'change'],
  snapshot: ['snapshot', 'change'],
  'install-k3s': ['install', 'change'],
  'wipe-k3s': ['wipe', 'change'],
  'renew-certificates': ['renew', 'change'],
}

const POWER_BARS: Readonly<Partial<Record<PowerVerb, Bar>>> = {
  pause: ['stop workloads', 'move'],
  restore: ['start workloads', 'move'],
  'mark-node': ['cordon', 'move'],
  'unmark-node': ['uncordon', 'move'],
  'drain-node': ['drain', 'move'],
  'stop-k3s': ['stop', 'down'],
  'start-k3s': ['start', 'wait'],
  'stop-machine': ['shut down', 'down'],
  'start-machine': ['boot', 'wait'],
  'stop-host': ['shut down', 'down'],
  'wake-host': ['wake', 'wait'],
}

const RUNS_AFTER: Readonly<Partial<Record<OperationVerb, boolean>>> = {
  'stop-k3s': false,
  'start-k3s': true,
  'restart-k3s': true,
}

/**
 * Returns the bars of an operation on a node, step by step. Undefined for a node that no step stops or starts: it is
 * shown as observed. Pure.
 */
function barsByOperation(operation: OperationAt, name: string): readonly CourseBar[] | undefined {
  const steps: readonly OperationStepAt[] = [...(operation.before ?? []), operation]
  if (!steps.some(({ node, verb }) => node === name && RUNS_AFTER[verb] !== undefined)) return undefined
  const bars: CourseBar[] = []
  let runs = true
  for (const [index, step] of steps.entries()) {
    const own = step.node === name
    const doing = own ? barOf(operationBar(step), cleanText(step.summary)) : runs ? undefined : STOPPED
    if (own) runs = RUNS_AFTER[step.verb] ?? runs
    const last = bars.at(-1)
    const next = steps[index + 1]
    const end = next === undefined ? {} : { toMs: next.sinceMs }
    if (doing !== undefined && last?.toMs === step.sinceMs && last.step === doing.step) {
      const { toMs: _, ...open } = last
      bars[bars.length - 1] = { ...open, ...end }
    } else if (doing !== undefined) bars.push({ ...doing, fromMs: step.sinceMs, ...end })
  }
  return bars
}

const STOPPED: NodeActivity = { step: 'stopped', sort: 'off', says: 'K3s does not run' }

/** Returns the running change of a cluster, from its last look. Pure. */
export function clusterMoment(look: ClusterPlan, atMs: number): Moment {
  const { declaration, observed } = look
  const servers = new Set(declaration.spec.servers.map(({ name }) => name))
  const { operation } = observed.requests.hold ?? {}
  const tracks = observed.nodes.map((node) => {
    const bars = operation === undefined ? undefined : barsByOperation(operation, node.name)
    return { ...trackOf(node.name, node.role, doingOn(look, node)), ...defined({ bars }) }
  })
  const blind = isBlind(look)
  const about = blind ? CHANGES : aboutCluster(look, tracks, atMs)
  const votes = votesOf(observed, servers)
  return {
    key: declaration.key,
    atMs,
    ...(about === undefined ? {} : { about }),
    ...(blind ? { blind } : {}),
    ...(operation === undefined ? {} : { fromMs: operation.before?.[0]?.sinceMs ?? operation.sinceMs }),
    tracks,
    ...(votes === undefined ? {} : { votes }),
  }
}

const CHANGES = { purpose: 'change', title: 'Node changes' } as const

/** Reports whether a formed cluster does not answer: its unknown nodes are no change then. */
function isBlind({ decision, observed }: ClusterPlan): boolean {
  if (observed.requests.hold !== undefined || decision.steps.length > 0) return false
  return decision.phase === 'Unknown' || decision.phase === 'QuorumLost'
}

function aboutCluster(look: ClusterPlan, tracks: Moment['tracks'], atMs: number): Moment['about'] {
  const { decision, observed, declaration } = look
  const { hold } = observed.requests
  if (hold !== undefined) {
    const { operation } = hold
    if (!isUnderWay(operation, atMs)) return undefined
    return { purpose: 'operation', title: capital(cleanText(operation.name)) }
  }
  const busy = tracks.some(({ doing }) => doing !== undefined && !STANDS.has(doing.step))
  if (!busy && decision.steps.length === 0) return undefined
  const { version } = declaration.spec
  if (decision.phase === 'Upgrading' && observed.nodes.some((node) => isUpgraded(node, version)))
    return { purpose: 'upgrade', title: `Upgrade to ${version}` }
  // A backup by schedule is no change of a cluster.
  const changes = tracks.some(({ doing }) => doing !== undefined && QUIET.every((step) => step !== doing.step))
  if (!changes) return undefined
  return decision.phase === 'Forming' ? { ...CHANGES, title: 'Forming the cluster' } : CHANGES
}

/** States of a node, as opposed to actions on it. */
const STANDS: ReadonlySet<string> = new Set(['off', 'not ready', 'no answer'])
const QUIET = [...STANDS, 'snapshot', 'soak']

function doingOn({ decision, observed }: ClusterPlan, node: ObservedNode): NodeActivity | undefined {
  const { operation } = observed.requests.hold ?? {}
  if (operation !== undefined) return doingByOperation(operation, node)
  const step = decision.steps.find((one) => one.node === node.name && CLUSTER_BARS[one.verb] !== undefined)
  const wait = decision.waits.find((one) => one.node === node.name)
  const says = cleanText(step?.summary ?? wait?.awaits ?? '')
  if (step?.target === FETCH_BESIDE) return barOf(['fetch', 'change'], says)
  if (step !== undefined) return barOf(CLUSTER_BARS[step.verb], says)
  if (wait?.soak === true) return { step: 'soak', sort: 'wait', says }
  const work = workOn(node)
  if (work !== undefined) return { ...workBar(node, work.changedMs !== undefined, observed), says }
  const phase = decision.nodes.find(({ name }) => name === node.name)
  const bar = phase === undefined ? undefined : PHASE_BARS[phase.phase]
  if (bar !== undefined) return barOf(bar, says === '' ? cleanText(phase?.message ?? '') : says)
  return wait === undefined ? undefined : { step: 'wait', sort: 'wait', says }
}

/** Reports whether a node runs another release, or is being upgraded to this one. */
function isUpgraded(node: ObservedNode, version: string): boolean {
  return typeof node.kube === 'object' && (node.kube.version !== version || node.kube.work?.purpose === 'upgrade')
}

function workOn({ kube }: ObservedNode) {
  return typeof kube === 'object' ? kube.work : undefined
}

/** Returns the bar of a node between steps: drained before the change, then K3s restarts, then waiting. */
function workBar(
  node: ObservedNode,
  changed: boolean,
  { members }: ObservedCluster,
): Pick<NodeActivity, 'step' | 'sort'> {
  if (!changed) return { step: 'drain', sort: 'move' }
  const runs = typeof node.k3s === 'object' && node.k3s.service === 'running'
  const votes =
    node.role === 'agent' ||
    (members !== 'unknown' && members.some((member) => member.node === node.name && member.up === 'yes'))
  return runs && votes ? { step: 'wait', sort: 'wait' } : { step: 'restart', sort: 'down' }
}

function doingByOperation(step: OperationStepAt, node: ObservedNode): NodeActivity | undefined {
  if (step.node === node.name) return barOf(operationBar(step), cleanText(step.summary))
  const stopped = typeof node.k3s === 'object' && (node.k3s.service === 'stopped' || node.k3s.service === 'absent')
  return stopped ? STOPPED : undefined
}

function operationBar({ verb, until }: OperationStepAt): Bar {
  if (verb === 'start-k3s' && until === 'node-well') return ['rejoin', 'wait']
  return OPERATION_BARS[verb] ?? [verb.replaceAll('-', ' '), 'change']
}

function isAway(k3s: ObservedNode['k3s']): boolean {
  return typeof k3s === 'object' && k3s.service !== 'running'
}

/** With no member to ask, all that can be known is that every server is down. */
function votesOf(observed: ObservedCluster, servers: ReadonlySet<string>): Moment['votes'] {
  const { members } = observed
  if (members !== 'unknown') {
    // A Node stays Ready for a while after its K3s was stopped; the machine itself shows the truth.
    const away = new Set(observed.nodes.flatMap(({ name, k3s }) => (isAway(k3s) ? [name] : [])))
    const judged = members.map((member) => (away.has(member.node) ? { ...member, up: 'no' as const } : member))
    const { voters, up, majority: needed } = quorum(judged)
    return voters === 0 ? undefined : { up, voters, needed }
  }
  if (servers.size === 0 || observed.identity?.formed === false) return undefined
  const own = observed.nodes.filter(({ name }) => servers.has(name))
  const down = own.every(
    ({ machine, k3s }) => machine.power === 'off' || (typeof k3s === 'object' && k3s.service === 'stopped'),
  )
  return { up: down ? 0 : 'unknown', voters: servers.size, needed: majority(servers.size) }
}

const GOING: Readonly<Partial<Record<PowerPlan['decision']['phase'], Moment['about']>>> = {
  PoweringOff: { purpose: 'power-off', title: 'Power off' },
  PoweringOn: { purpose: 'power-on', title: 'Power on' },
}

/** Returns the running change of a Power, with the votes of its cluster. Pure. */
export function powerMoment(look: PowerPlan, cluster: ClusterPlan | undefined, atMs: number): Moment {
  const { declaration, decision, observed } = look
  const nodes = observed.cluster?.nodes ?? []
  const workloads = workloadsDoing(look)
  const about = GOING[decision.phase]
  const servers = new Set(nodes.filter(({ role }) => role === 'server').map(({ name }) => name))
  const votes = cluster === undefined ? undefined : votesOf(cluster.observed, servers)
  const machines = observed.machines.filter(({ role, exists }) => role !== 'node' && exists === 'yes')
  return {
    key: declaration.key,
    atMs,
    ...(about === undefined ? {} : { about }),
    tracks: [
      ...(observed.cluster === undefined ? [] : [trackOf('Workloads', 'workloads', workloads)]),
      ...nodes.map((node) => trackOf(node.name, node.role, onNode(look, node))),
      ...machines.map(({ key, name, power }) =>
        trackOf(
          name,
          'machine',
          byPower(look, name, ({ machine }) => machine === key, power === 'off'),
        ),
      ),
      ...declaration.spec.hosts.map(({ name }) => {
        const off = observed.hosts.find((host) => host.name === name)?.power === 'off'
        return trackOf(
          name,
          'host',
          byPower(look, name, ({ host }) => host === name, off),
        )
      }),
    ],
    ...(votes === undefined ? {} : { votes }),
  }
}

function trackOf(name: string, sort: CourseTrack['sort'], doing: NodeActivity | undefined): Moment['tracks'][number] {
  return { name, sort, ...(doing === undefined ? {} : { doing }) }
}

type PowerStep = PowerPlan['decision']['steps'][number]

function onNode(look: PowerPlan, { name, power, k3s }: PowerNode): NodeActivity | undefined {
  const doing = byPower(look, name, ({ node }) => node === name, power === 'off')
  if (doing !== undefined || (k3s !== 'stopped' && k3s !== 'absent')) return doing
  return STOPPED
}

function byPower(
  { decision }: PowerPlan,
  name: string,
  own: (step: PowerStep) => boolean,
  off: boolean,
): NodeActivity | undefined {
  const step = decision.steps.find((one) => own(one) && POWER_BARS[one.verb] !== undefined)
  if (step !== undefined) return barOf(POWER_BARS[step.verb], cleanText(step.summary))
  if (off) return { step: 'off', sort: 'off', says: '' }
  const wait = decision.waits.find(({ what }) => what === name || what.endsWith(` on ${name}`))
  return wait === undefined ? undefined : { step: 'wait', sort: 'wait', says: cleanText(wait.awaits) }
}

const OF_WORKLOADS = new Set(['gitops', 'operators', 'apps', 'databases', 'storage-clients', 'volumes'])

function workloadsDoing({ decision }: PowerPlan): NodeActivity | undefined {
  const goes = decision.wanted.state === 'off'
  const steps = decision.steps.filter(({ workload }) => workload !== undefined)
  const waits = decision.waits.filter(({ tier }) => OF_WORKLOADS.has(tier))
  if (steps.length === 0 && waits.length === 0) return undefined
  const says = [...steps.map(({ summary }) => summary), ...waits.map(({ what, awaits }) => `${what}: ${awaits}`)]
  const more = says.length > 1 ? ` and ${says.length - 1} more` : ''
  return barOf(POWER_BARS[goes ? 'pause' : 'restore'], `${cleanText(says[0] ?? '')}${more}`)
}

function barOf(bar: Bar | undefined, says: string): NodeActivity {
  const [step, sort] = bar ?? ['wait', 'wait']
  return { step, sort, says }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
