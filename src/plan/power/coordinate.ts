import { actorName } from '../../lib/actor-name.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type {
  ClusterPower,
  ObservedPower,
  PowerDecision,
  PowerHold,
  PowerNode,
  PowerPhase,
} from '../../model/observed-power.ts'
import type { PersonHold, PowerDone, PowerRequests, PowerSpec } from '../../model/power.ts'
import { goDown } from './down.ts'
import { batteryTime, isUnfinished, merge, NOTHING, type PowerFinding } from './finding.ts'
import { IDLE, idleNodes } from './sleepers.ts'
import { tierRows } from './timeline.ts'
import { goUp, hasMarks } from './up.ts'
import { isDown, nodesOf, type PowerSituation, spoken, type Targets, waitName } from './view.ts'
import { type WantedPower, wantedPower } from './wanted.ts'

/**
 * Decides the next steps for the power of a cluster or site. Computed from the observation, never from the progress of
 * an earlier attempt: a crash is one more thing to observe. `requests` holds only those that still apply.
 */
export function coordinatePower(
  spec: PowerSpec,
  observed: ObservedPower,
  requests: PowerRequests,
  done: PowerDone | undefined,
  nowMs: number,
): PowerDecision {
  const wanted = wantedPower(spec, observed, requests, done, nowMs)
  const targets = targetsOf(spec, observed, wanted)
  const view: PowerSituation = { spec, observed, wanted, targets, changing: isChanging(wanted, done, observed), nowMs }
  // A hold does not stop what the battery shuts down, even while it stops the rest.
  const shed = wanted.urgent !== 'no' ? targetsOf(spec, observed, { ...wanted, state: 'on' }) : undefined
  const holdable = wanted.source !== 'ups' && shed?.cluster !== true && (wanted.state === 'off' || targets.cluster)
  const holds = holdable ? holdsOf(view, requests.holds) : []
  const freed: PowerSituation = holds.length === 0 ? view : { ...view, targets: shed ?? NONE }
  const going = merge([goDown(freed), batteryTime(freed)])
  const rising = wanted.state === 'off' ? NOTHING : merge([goUp(view), idleNodes(view)])
  const finding = going.abort === undefined ? merge([going, rising]) : { ...NOTHING, warnings: going.warnings }
  const allHolds = [...holds, ...finding.holds]
  const ended = endOf(view, finding, allHolds, going.abort)
  return {
    phase: phaseOf(view, finding, allHolds),
    wanted: { state: wanted.state, sinceMs: wanted.sinceMs, why: wanted.why },
    steps: finding.steps,
    waits: finding.waits,
    holds: allHolds,
    refusals: refusalsOf(view),
    warnings: finding.warnings,
    tiers: tierRows(view, finding),
    machines: machinesOf(view, finding),
    holdsCluster: observed.cluster !== undefined && holdsCluster(view, holds.length > 0),
    asleep: [...targets.asleep].filter((name) => nodesOf(view).some((node) => node.name === name && isDown(node))),
    ...(ended === undefined ? {} : { ended }),
  }
}

/** Reports whether the wanted state was not reached since it was ordered. */
function isChanging(
  { state, sinceMs, source }: WantedPower,
  done: PowerDone | undefined,
  observed: ObservedPower,
): boolean {
  const { cluster } = observed
  // Going back ends when the cluster answers and no mark of croft is left; marks are checked elsewhere.
  if (source === 'abort') return cluster !== undefined && cluster.api !== 'yes'
  const same = done?.sinceMs === sinceMs && done.state === state
  if (same) return false
  if (state === 'off' || cluster === undefined) return done !== undefined || sinceMs > 0 || state === 'off'
  // Only a cluster that went down is brought up: one under formation would wait for itself.
  return cluster.formed && (done?.state === 'off' || isPutDown(cluster))
}

/** Reports whether the API does not answer and a node was stopped or switched off. */
function isPutDown({ api, nodes }: ClusterPower): boolean {
  return api !== 'yes' && nodes.some((node) => isDown(node) || node.k3s === 'stopped')
}

/** Returns the power state that each machine must keep until its turn, so that no other part of croft changes it. */
function machinesOf(view: PowerSituation, finding: PowerFinding): PowerDecision['machines'] {
  const starting = new Set(finding.steps.flatMap((step) => (step.verb === 'start-machine' ? [step.machine] : [])))
  const left = view.observed.machines.filter(
    ({ key, power, exists }) =>
      exists === 'yes' && (power === 'off' || (power === 'unknown' && view.changing)) && !starting.has(key),
  )
  const machines: Record<ResourceKey, 'on' | 'off' | 'leave'> = {}
  // An on-demand machine is not declared to run, so its start is set here.
  const sleepers = nodesOf(view).filter(({ onDemand, machine }) => onDemand && starting.has(machine))
  for (const { machine } of sleepers) if (machine !== undefined) machines[machine] = 'on'
  for (const { key } of left) machines[key] = 'leave'
  return Object.assign(machines, finding.machines)
}

/** Reports whether power holds the cluster: while power moves nodes, croft must not replace, upgrade or repair them. */
function holdsCluster(view: PowerSituation, held: boolean): boolean {
  if (view.targets.cluster) return !held || hasMarks(view) || nodesOf(view).some(({ mark }) => mark !== undefined)
  const going = nodesOf(view).some((node) => view.targets.nodes.has(node.name) && !isDown(node))
  return going || view.changing || hasMarks(view) || view.targets.nodes.size > view.targets.asleep.size
}

function endOf(
  view: PowerSituation,
  finding: PowerFinding,
  holds: readonly PowerHold[],
  abort: string | undefined,
): PowerDecision['ended'] {
  if (abort !== undefined) return { result: 'aborted', reason: abort }
  if (!view.changing || holds.length > 0 || isUnfinished(finding)) return undefined
  const { wanted } = view
  if (wanted.state === 'off') return isAllOff(view) ? { result: 'done', reason: 'everything is off' } : undefined
  return isAllOn(view, finding) ? { result: 'done', reason: 'everything is on' } : undefined
}

function isAllOff({ observed, targets }: PowerSituation): boolean {
  return (
    (observed.cluster?.nodes ?? []).every((node) => !targets.nodes.has(node.name) || isDown(node)) &&
    observed.machines.every(
      ({ key, power, exists }) => !targets.machines.has(key) || power === 'off' || exists === 'no',
    ) &&
    observed.hosts.every(({ name, power }) => !targets.hosts.has(name) || power === 'off')
  )
}

function isAllOn(view: PowerSituation, finding: PowerFinding): boolean {
  const { observed, targets } = view
  if (finding.steps.length > 0 || isUnfinished(finding) || hasMarks(view)) return false
  if (observed.cluster !== undefined && spoken(view)?.workloads === 'unknown') return false
  return observed.cluster === undefined || targets.cluster || observed.cluster.api === 'yes'
}

function phaseOf(view: PowerSituation, finding: PowerFinding, holds: readonly PowerHold[]): PowerPhase {
  if (view.wanted.state === 'off') {
    // For a cluster that croft does not manage only the workloads go off: then it is off.
    const workloadsOnly = view.observed.cluster?.nodes.length === 0 && isUnfinished(finding)
    if (isAllOff(view) && finding.steps.length === 0 && !workloadsOnly) return 'Off'
    return holds.length > 0 ? 'Held' : 'PoweringOff'
  }
  if (holds.length > 0) return 'Held'
  if (view.targets.cluster || view.targets.nodes.size > view.targets.asleep.size) return 'PoweringOff'
  return finding.steps.length > 0 || isUnfinished(finding) || view.changing || hasMarks(view) ? 'PoweringOn' : 'On'
}

function refusalsOf(view: PowerSituation): readonly PowerHold[] {
  return nodesOf(view)
    .filter(({ onDemand, role }) => onDemand && role === 'server')
    .map(({ name }) => ({
      guard: 'vote',
      reason: `${name} is a server and declared onDemand: it would hold a vote while it sleeps`,
      allow: `make ${name} an agent, or say power: always`,
    }))
}

/**
 * Returns what keeps the cluster from going down: people, backups, jobs, and holds. Checked until the first node has
 * stopped; later it would only keep a cluster half down.
 */
function holdsOf(view: PowerSituation, set: readonly PersonHold[]): readonly PowerHold[] {
  const { spec, observed, wanted } = view
  if (wanted.ignoreHolds || hasStopped(view)) return []
  const holds: PowerHold[] = set.map(({ by, why, sinceMs, untilMs }) => ({
    guard: 'hold',
    reason: `${actorName(by)} holds it since ${time(sinceMs)} until ${time(untilMs)}${why === '' ? '' : `: ${why}`}`,
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
 * Reports whether a node was stopped for this power-off, by our mark if readable. A node that died, sleeps on demand or
 * went off with the battery proves nothing: it must not end all holds.
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

/** Nothing must go off. */
const NONE: Targets = {
  cluster: false,
  nodes: new Set(),
  machines: new Set(),
  hosts: new Set(),
  asleep: new Set(),
}

function targetsOf(spec: PowerSpec, observed: ObservedPower, wanted: WantedPower): Targets {
  const nodes = observed.cluster?.nodes ?? []
  const whole = wanted.state === 'off'
  const hosts = new Set(whole ? spec.hosts.map(({ name }) => name) : wanted.shed)
  const asleep = new Set(whole ? [] : nodes.filter((node) => sleeps(node, spec, observed)).map(({ name }) => name))
  for (const node of nodes) {
    // A sleeping node without a VM is a box: the box goes down.
    if (asleep.has(node.name) && node.machine === undefined && node.host !== undefined) hosts.add(node.host)
  }
  const onShed = (host: string | undefined) => host !== undefined && hosts.has(host)
  const servers = nodes.filter(({ role }) => role === 'server')
  const left = servers.filter(({ host }) => !onShed(host))
  const takes = servers.some(({ host }) => host !== undefined && wanted.going.has(host))
  // Without a majority of servers the remaining nodes have no cluster: then the whole cluster goes down in order.
  const cluster = whole || (takes && left.length < Math.floor(servers.length / 2) + 1)
  const machines = observed.machines.filter((machine) => machine.role !== 'node' && (whole || onShed(machine.host)))
  return {
    cluster,
    nodes: new Set(
      nodes.filter((node) => cluster || onShed(node.host) || asleep.has(node.name)).map(({ name }) => name),
    ),
    machines: new Set(machines.map(({ key }) => key)),
    hosts,
    asleep,
  }
}

/** Reports whether an on-demand node sleeps: no pod waits for it and it was idle long enough, or its drain started. */
function sleeps(node: PowerNode, spec: PowerSpec, observed: ObservedPower): boolean {
  // A server holds a vote in etcd: it never sleeps, even if declared on demand.
  if (!node.onDemand || node.role === 'server') return false
  // Before a node has joined, the pods that it could run are unknown.
  if (node.kube === 'absent') return false
  if ((observed.cluster?.wanting[node.name] ?? []).length > 0) return false
  if (node.power === 'off' || (node.mark !== undefined && node.podsToMove === 0)) return true
  const idleMs = observed.waitedMs[waitName('workers', node.name, IDLE)] ?? 0
  return node.podsToMove === 0 && idleMs >= spec.idleMs
}
