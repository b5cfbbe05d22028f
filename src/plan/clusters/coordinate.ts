import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import type { ClusterDecision, ObservedCluster } from '../../model/observed-cluster.ts'
import { agentsIn, serversIn } from './bootstrap.ts'
import { certificatesEnding } from './certificates.ts'
import { departing } from './departing.ts'
import { filesPut } from './files.ts'
import { type ClusterFinding, firstOf, holdFor, isEmpty, merge, NOTHING, refusalOf, stepOn } from './finding.ts'
import { ghostsOut } from './ghosts.ts'
import { labelled } from './labels.ts'
import { giveBack } from './node-work.ts'
import { nodesRefusing } from './nodes-refusing.ts'
import { clusterPhase, nodeRows } from './phases.ts'
import type { GuardAnswer } from './quorum.ts'
import { majorityAway, quorumLost } from './quorum-lost.ts'
import { pinTrapped } from './release-trap.ts'
import { eviction, remediation } from './remediate.ts'
import { agentOut, ordered, serversOut, serversWhole } from './removals.ts'
import { agentsBehind, driftOf, rolloutOf } from './rollout.ts'
import { toleranceSentence } from './servers-change.ts'
import { keptOutside, withoutRecord } from './strange-data.ts'
import { isLeftAsFound, takenOver } from './taken-over.ts'
import { abortedWork, begunWork, nextAgents, nextServer, programsBack } from './upgrade.ts'
import { type ClusterSituation, isIn, isWell, kubeOf, localOf, type NodeView, otherAway, viewOf } from './view.ts'

/**
 * Decides the next steps of a cluster. Pure: independent of how the last attempt ended. At most one server is under
 * work.
 */
export function coordinate(spec: ClusterSpec, observed: ObservedCluster, nowMs: number): ClusterDecision {
  const view = viewOf(spec, observed, nowMs)
  const finding = oneGoesAtATime(view, decide(view))
  const { hops, refusal } = rolloutOf(view)
  const rollsOut = view.servers.some((node) => kubeOf(node) !== undefined && !isLeftAsFound(view, node))
  const nodes = nodeRows(view)
  return {
    ...merge([
      finding,
      housekeeping(view),
      labelled(view, finding),
      filesPut(view, finding),
      certificatesEnding(view),
      nodesRefusing(view),
    ]),
    phase: clusterPhase(
      view,
      finding,
      (rollsOut && hops.length > 0) || (refusal === undefined && agentsBehind(view)),
      nodes,
    ),
    warnings: warningsOf(view),
    faultTolerance: toleranceSentence(spec.servers.length),
    hops,
    nodes,
  }
}

/** Reports whether anything but the coordinator may destroy the machine: only if nothing of its node is left. */
export function mayDestroyMachine(spec: ClusterSpec, observed: ObservedCluster, name: string): GuardAnswer {
  const node = [...viewOf(spec, observed, 0).servers, ...viewOf(spec, observed, 0).agents].find(
    (one) => one.name === name,
  )
  if (node === undefined || (node.kube === 'absent' && node.member === undefined && observed.members !== 'unknown')) {
    return { allowed: true }
  }
  return {
    allowed: false,
    reason: `${name} is still a node of ${spec.name}${node.member === undefined ? '' : ' and holds a vote in etcd'}`,
    allow:
      node.spec === undefined && node.unclaimed !== true
        ? `wait: croft takes it out of ${spec.name} as soon as the cluster allows it, and destroys its machine when it has left`
        : `take it out of the Cluster ${spec.name} first; croft destroys its machine when it has left`,
  }
}

function decide(view: ClusterSituation): ClusterFinding {
  const { hold } = view.observed.requests
  if (hold?.power === 'off') return NOTHING
  if (hold !== undefined) return holdFor({ guard: hold.guard ?? 'request', reason: hold.reason, allow: hold.allow })
  const unrecorded = keptOutside(view) ?? withoutRecord(view)
  if (unrecorded !== undefined) return unrecorded
  const ghosts = ghostsOut(view)
  if (!isEmpty(ghosts)) return ghosts
  const aborted = abortedWork(view)
  if (!isEmpty(aborted)) return aborted
  const [sickServers, sickAgents] = [remediation(view, view.servers), remediation(view, view.agents)]
  return merge([
    lostQuorum(view),
    twinsRefused(view),
    sleepersRefused(view),
    takenOver(view),
    servers(view, sickServers),
    withoutSteps(sickServers),
    agents(view, sickAgents),
  ])
}

/**
 * Allows one irreversible step per cluster at a time, regardless of its cause. The others wait, also in later passes,
 * until the node that lost its data is back or its deadline has passed.
 */
function oneGoesAtATime(view: ClusterSituation, finding: ClusterFinding): ClusterFinding {
  const going = finding.steps.filter(({ destroys }) => destroys !== undefined)
  if (going.length === 0) return finding
  const back = [...view.servers, ...view.agents].find((node) => isOnItsWayBack(view, node))
  const first = back === undefined ? going[0] : going.find(({ node }) => node === back.name)
  const later = going.filter((step) => step !== first)
  if (later.length === 0) return finding
  const awaited =
    back === undefined ? `${first?.node ?? view.spec.name}, which goes first` : `${back.name}, which is on its way back`
  return {
    ...finding,
    steps: finding.steps.filter((step) => !later.includes(step)),
    waits: [
      ...finding.waits,
      ...later.map(({ node, summary }) => defined({ awaits: `${awaited}: ${summary}`, sinceMs: view.nowMs, node })),
    ],
  }
}

/** Reports whether a declared node of a formed cluster is empty and returning, and its join is not overdue. */
function isOnItsWayBack(view: ClusterSituation, node: NodeView): boolean {
  const local = localOf(node)
  if (!view.formed || node.spec === undefined || isIn(node) || local?.data !== 'none') return false
  return node.machine.power === 'on' && view.nowMs - local.sinceMs < LIMITS.clusterJoinMs
}

/** The first judgement with a finding decides for all servers, so that two are never changed at once. */
function servers(view: ClusterSituation, sick: ClusterFinding): ClusterFinding {
  return firstOf([
    () => underWork(view),
    () => onlySteps(sick),
    () => onlySteps(eviction(view)),
    () => onlySteps(serversOut(view, 'dead')),
    () => ordered(view, view.servers, 'down'),
    () => serversIn(view),
    () => atWill(view),
  ])
}

/** Continues the one marked server. If there are ever two, the one that is down comes first. */
function underWork(view: ClusterSituation): ClusterFinding {
  const marked = view.servers.filter((node) => kubeOf(node)?.work !== undefined)
  const [node] = [...marked].sort((a, b) => Number(a.member?.up === 'yes') - Number(b.member?.up === 'yes'))
  if (node === undefined) return NOTHING
  return firstOf([() => yielding(view, node), () => departing(view, node), () => begunWork(view, node)])
}

/** While another server is away, a healthy one is left alone: the other needs the turn. */
function yielding(view: ClusterSituation, node: NodeView): ClusterFinding {
  const untouched = isWell(node) && (localOf(node)?.service ?? 'running') === 'running'
  const away = untouched ? otherAway(view, node) : undefined
  return away === undefined ? NOTHING : giveBack(view, node, `${away} is away, and comes first`)
}

/** Work without urgency: done only while every declared server is a member and healthy. */
function atWill(view: ClusterSituation): ClusterFinding {
  if (!view.formed) return NOTHING
  if (serversWhole(view)) {
    return firstOf([() => serversOut(view, 'any'), () => ordered(view, view.servers, 'any'), () => nextServer(view)])
  }
  // Compute it all, so that refusals show before the cluster is healthy, but drop the steps.
  return withoutSteps(merge([serversOut(view, 'any'), nextServer(view)]))
}

function agents(view: ClusterSituation, sick: ClusterFinding): ClusterFinding {
  const each = view.agents.map((node) =>
    firstOf([
      () => departing(view, node),
      () => begunWork(view, node),
      () => ordered(view, [node], 'any'),
      () => agentOut(view, node),
    ]),
  )
  return merge([...each, agentsIn(view), sick, nextAgents(view), programsBack(view)])
}

function lostQuorum(view: ClusterSituation): ClusterFinding {
  const away = majorityAway(view)
  const lost = quorumLost(view)
  if (!lost && away === undefined) return NOTHING
  return holdFor({
    guard: lost ? 'quorum-lost' : 'quorum-unseen',
    reason: lost
      ? `${away === undefined ? '' : `${away.text}: `}etcd has lost its majority; croft never resets a cluster by itself`
      : `${away?.text}, and the API does not answer: etcd has most likely lost its majority`,
    allow: `${away?.next ?? 'bring servers back'}; if their disks are lost, run croft cluster restore ${view.spec.name} with the last usable snapshot${neverRan(view)}`,
  })
}

/** A record from Git proves only that there may have been a cluster. */
function neverRan({ spec, observed }: ClusterSituation): string {
  return observed.identity?.unsure === true
    ? `; only if ${spec.name} never ran, move escrow/${spec.name}.cluster.age away: croft then starts a first one`
    : ''
}

function twinsRefused(view: ClusterSituation): ClusterFinding {
  const pairs = new Map<string, NodeView>()
  for (const node of [...view.servers, ...view.agents]) {
    if (node.twins.length > 0) pairs.set([node.name, ...node.twins].sort().join(' and '), node)
  }
  return merge(
    [...pairs.keys()].map((names) =>
      refusalOf({
        guard: 'machine-id',
        reason: `${names} have the same machine-id: they are copies of one booted image`,
        allow: 'make them from an image that was never booted, or empty /etc/machine-id and restart',
      }),
    ),
  )
}

function sleepersRefused(view: ClusterSituation): ClusterFinding {
  const sleepers = view.spec.servers.filter(({ power }) => power === 'onDemand')
  return merge(
    sleepers.map(({ name }) =>
      refusalOf({
        node: name,
        guard: 'power',
        reason: `${name} is a server and may be off: it would hold a vote while it sleeps`,
        allow: `make ${name} an agent, or say power: always`,
      }),
    ),
  )
}

function warningsOf(view: ClusterSituation): readonly string[] {
  const { servers } = view.spec
  return [
    ...(servers.length % 2 === 0 ? [toleranceSentence(servers.length)] : []),
    ...pinTrapped(view),
    // The hold already reports nodes that stay as they were found.
    ...view.servers.filter((node) => !isLeftAsFound(view, node)).flatMap((node) => driftOf(view, node)),
  ]
}

function onlySteps(finding: ClusterFinding): ClusterFinding {
  return finding.steps.length > 0 ? finding : NOTHING
}

function withoutSteps(finding: ClusterFinding): ClusterFinding {
  return finding.steps.length > 0 ? NOTHING : finding
}

/** Records and cleanup that remain after a join. They block nothing, so they run beside other due steps. */
function housekeeping(view: ClusterSituation): ClusterFinding {
  const { identity, api, requests } = view.observed
  if (requests.hold !== undefined || api !== 'yes' || identity === undefined) return NOTHING
  const first = view.servers.find(({ name }) => name === identity.firstServer) ?? view.servers[0]
  const formed =
    identity.formed || first === undefined
      ? NOTHING
      : stepOn(view, first, 'note-formed', {
          summary: `record that ${view.spec.name} is formed`,
          reason: 'its API answers',
          awaits: 'the record that says so',
        })
  const tokens = [...view.servers, ...view.agents]
    .filter((node) => node.joinToken === true && kubeOf(node)?.ready === 'yes')
    .map((node) =>
      stepOn(view, node, 'delete-join-token', {
        summary: `delete the token that ${node.name} joined with`,
        reason: `${node.name} is in`,
        awaits: 'no bootstrap token of it',
      }),
    )
  return merge([formed, ...tokens])
}
