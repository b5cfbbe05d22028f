import { LIMITS } from '../../lib/limits.ts'
import { type LocalK3s, madeMs } from '../../model/observed-cluster.ts'
import { cured, isOutdated, started } from './cures.ts'
import {
  type ClusterFinding,
  holdFor,
  isEmpty,
  losingStep,
  merge,
  NOTHING,
  permitted,
  refusalOf,
  stepOn,
  waitFor,
} from './finding.ts'
import { keptForItsData } from './node-data.ts'
import { mayLower, mayStart } from './quorum.ts'
import { quorumLost } from './quorum-lost.ts'
import { remains } from './replace.ts'
import { isArriving, keptFromWiping } from './strange-data.ts'
import { type ClusterSituation, holdsFilesAlone, isIn, isKept, kubeOf, localOf, type NodeView, sleeps } from './view.ts'

/** The progress of a declared node's join. */
export type Arrival =
  | { readonly is: 'in' }
  | { readonly is: 'asleep' }
  /** Its machine exists, is on, and is proven clean. */
  | { readonly is: 'ready-to-join' }
  /** K3s was started and has not joined yet. No other server may start until it votes. */
  | { readonly is: 'joining'; readonly finding: ClusterFinding; readonly votes: boolean }
  /** Another step, read or decision must come first. */
  | { readonly is: 'busy'; readonly finding: ClusterFinding }

/** Returns what a declared node lacks before it can join, or that it is a member. */
export function arrivalOf(view: ClusterSituation, node: NodeView): Arrival {
  const finding = before(view, node)
  if (finding !== undefined) return { is: 'busy', finding }
  if (sleeps(node)) return { is: 'asleep' }
  const local = localOf(node)
  if (isIn(node)) return inCluster(view, node, local)
  if (local === undefined) return { is: 'busy', finding: booting(view, node) }
  const refused = stale(view, node, local) ?? inUse(node, local) ?? twins(view, node)
  if (refused !== undefined) return { is: 'busy', finding: refused }
  // K3s that has just started has no data yet: what it writes to the cluster belongs to it and is no leftover.
  if (local.data !== 'none' || local.service === 'starting' || local.service === 'running')
    return unfinished(view, node, local)
  if (!isKnown(view, node)) return { is: 'busy', finding: notSeen(view, node) }
  const rest = leftBehind(view, node, `its machine is clean`)
  return rest === undefined ? { is: 'ready-to-join' } : { is: 'busy', finding: rest }
}

/** Checks the machine: whether it exists, is on, and is clean of a former machine. */
function before(view: ClusterSituation, node: NodeView): ClusterFinding | undefined {
  const { machine } = node
  if (machine.busy !== undefined) return waitFor({ node: node.name, awaits: machine.busy, sinceMs: view.nowMs })
  // K3s would start without its prerequisites: a kernel setting that needs a restart, a disk, an address.
  if (machine.unprepared !== undefined && !isIn(node) && !sleeps(node))
    return waitFor({ node: node.name, awaits: machine.unprepared, sinceMs: view.nowMs })
  if (machine.exists === 'unknown') return sleeps(node) ? undefined : notSeen(view, node)
  if (machine.exists === 'no') return absent(view, node)
  if (condemned(view, node)) {
    return permitted(mayLower(view, node, 'delete'), node.name, (permit) =>
      losingStep(
        view,
        node,
        'destroy-machine',
        {
          because: 'ordered',
          summary: `destroy the machine of ${node.name}, which left the cluster`,
          reason: 'it was dead and is being replaced',
          awaits: `no machine ${node.name}`,
        },
        permit,
      ),
    )
  }
  if (machine.power === 'on' || sleeps(node)) return undefined
  if (machine.power === 'unknown') return isIn(node) ? undefined : notSeen(view, node)
  return poweredOn(view, node)
}

function absent(view: ClusterSituation, node: NodeView): ClusterFinding | undefined {
  if (!isKept(node)) {
    return holdFor({
      node: node.name,
      guard: 'host-missing',
      reason: `the host of ${node.name} is not there`,
      allow: 'connect it, or declare another machine',
    })
  }
  if (!isKnown(view, node)) return notSeen(view, node)
  return (
    leftBehind(view, node, 'its machine is gone') ??
    stepOn(view, node, 'create-machine', {
      summary: `make the machine of ${node.name}`,
      reason: `${node.name} is declared and has no machine`,
      awaits: `${node.name} booted, its agent answering`,
      untilMs: view.nowMs + LIMITS.machineBootMs,
    })
  )
}

/** Starts the machine of a node that is off. */
export function poweredOn(view: ClusterSituation, node: NodeView): ClusterFinding {
  return permitted(mayStart(view, node), node.name, (permit) =>
    stepOn(
      view,
      node,
      'start-machine',
      {
        summary: `start the machine of ${node.name}`,
        reason: `${node.name} is declared to be on`,
        awaits: `${node.name} booted, its agent answering`,
        untilMs: view.nowMs + LIMITS.machineBootMs,
      },
      permit,
    ),
  )
}

/** Removes the etcd member, Node and password of a former machine before the new one joins. */
function leftBehind(view: ClusterSituation, node: NodeView, why: string): ClusterFinding | undefined {
  if (!view.formed) return undefined
  const finding = remains(view, node, why)
  return isEmpty(finding) ? undefined : finding
}

function inCluster(view: ClusterSituation, node: NodeView, local: LocalK3s | undefined): Arrival {
  const kube = kubeOf(node)
  if (node.member?.learner === true) return joining(view, node, local)
  if (kube === undefined || local === undefined || kube.work !== undefined) return { is: 'in' }
  // Clear contradictions before any start: an empty machine cannot be this Node's.
  if (local.data === 'none') {
    const finding = leftBehind(view, node, 'its machine is clean')
    return finding === undefined ? { is: 'in' } : { is: 'busy', finding }
  }
  const refused = stale(view, node, local)
  if (refused !== undefined) return { is: 'busy', finding: refused }
  if (local.service === 'stopped' || local.service === 'failed')
    return { is: 'busy', finding: started(view, node, local) }
  return { is: 'in' }
}

/** A node with this cluster's data that is not a member: it is joining, its join failed, or it was removed. */
function unfinished(view: ClusterSituation, node: NodeView, local: LocalK3s): Arrival {
  const untilMs = local.sinceMs + LIMITS.clusterJoinMs
  const running = local.service === 'starting' || local.service === 'running'
  if (!running && !view.formed && holdsFilesAlone(view.observed.identity, node.name, local))
    return notBegun(view, node, local)
  if (running && (view.nowMs < untilMs || !isKnown(view, node))) {
    return joining(view, node, local)
  }
  if (!isKnown(view, node)) {
    // The API is certainly down, so this stopped server may be what the quorum lacks. If that is uncertain, do not
    // start it: croft itself may have stopped it.
    return { is: 'busy', finding: view.observed.api === 'no' ? started(view, node, local) : notSeen(view, node) }
  }
  return { is: 'busy', finding: cured(view, node, local, running) }
}

/** The first server before the cluster exists: installed again, unless K3s failed with exactly that installation. */
function notBegun(view: ClusterSituation, node: NodeView, local: LocalK3s): Arrival {
  if (local.service !== 'failed' || isOutdated(view, node, local)) return { is: 'ready-to-join' }
  const reason = `K3s does not start on ${node.name}, the first server${local.failure === undefined ? '' : `: ${local.failure}`}`
  const allow = `correct the declaration of ${view.spec.name}; journalctl -u k3s on ${node.name} says more`
  return { is: 'busy', finding: holdFor({ node: node.name, guard: 'first-start', reason, allow }) }
}

function joining(view: ClusterSituation, node: NodeView, local: LocalK3s | undefined): Arrival {
  const { member } = node
  const votes = member?.learner === false && member.up === 'yes'
  const sinceMs = local?.sinceMs ?? view.nowMs
  const stage = member === undefined ? 'an etcd learner' : votes ? 'a Node' : 'an etcd voter'
  const becomes = `${node.name} to become ${node.role === 'agent' ? 'a Node' : stage}`
  const finding = waitFor({
    node: node.name,
    awaits: isKnown(view, node) ? becomes : `the API to answer: only it says whether ${node.name} is in`,
    sinceMs,
    untilMs: sinceMs + LIMITS.clusterJoinMs,
  })
  return { is: 'joining', finding, votes }
}

/** Data of another cluster, or certificates that do not belong together: croft never joins such a machine. */
function stale(view: ClusterSituation, node: NodeView, local: LocalK3s): ClusterFinding | undefined {
  if (node.strange !== undefined) return stranger(view, node, node.strange)
  if (local.away !== undefined) return diskAway(view, node, local.away)
  const own = view.observed.identity?.caHash
  const mixed = local.mixedCa === true
  if (!mixed && (local.data === 'none' || local.data === own || isArriving(local))) return undefined
  const whose = local.data === 'other' ? 'unreadable' : `cluster ${local.data.slice(0, 12)}`
  const what = mixed
    ? `${node.name} holds certificates of more than one CA`
    : `${node.name} holds stale K3s state (${whose})`
  // If our own cluster answers, it decides about this member; otherwise the node may belong to a living cluster.
  const kept = view.observed.api === 'yes' && holdsPlace(node) ? undefined : keptFromWiping(view, node)
  if (kept !== undefined) return kept
  if (view.observed.identity === undefined) return unrecorded(view, node, what)
  if (holdsPlace(node)) {
    return refusalOf({
      node: node.name,
      guard: 'stale-state',
      reason: `${what}, and is a member of etcd`,
      allow: `look at it; if it is lost, run croft cluster replace ${view.spec.name} ${node.name}`,
    })
  }
  const { staleState } = view.spec
  const recreate = staleState === 'recreate' && isKept(node)
  if (staleState === 'refuse' || (staleState === 'recreate' && !recreate)) {
    return refusalOf({
      node: node.name,
      guard: 'stale-state',
      reason: what,
      allow: `if it is this cluster's own data, run croft cluster recover ${view.spec.name} --from a server that runs; else wipe it and join (staleState: wipe), or recreate its machine (staleState: recreate)`,
    })
  }
  return permitted(mayLower(view, node, 'delete'), node.name, (permit) =>
    losingStep(
      view,
      node,
      recreate ? 'destroy-machine' : 'wipe-k3s',
      {
        because: 'ordered',
        summary: recreate ? `destroy the machine of ${node.name} to create it again` : `wipe K3s from ${node.name}`,
        reason: what,
        awaits: recreate ? `no machine ${node.name}` : `no K3s data on ${node.name}`,
      },
      permit,
    ),
  )
}

/** An empty directory below a disk that is not there is no empty disk. */
function diskAway({ spec }: ClusterSituation, { name }: NodeView, why: string): ClusterFinding {
  return refusalOf({
    node: name,
    guard: 'disk-away',
    reason: `${name}: ${why}`,
    allow: `mount what belongs on ${name}; or, if its data is lost, run croft cluster replace ${spec.name} ${name}`,
  })
}

/** Without the record nothing tells whose data it is: most likely its own. */
function unrecorded({ spec }: ClusterSituation, { name }: NodeView, what: string): ClusterFinding {
  return refusalOf({
    node: name,
    guard: 'record-missing',
    reason: `${what}, and the record of ${spec.name} (CA and token) is missing: it may be its own`,
    allow: `bring the vault or escrow/${spec.name}.cluster.age back, or its servers: croft reads the record back from one that runs`,
  })
}

/** Holds a node with data of this cluster and an unknown state of K3s: croft neither starts nor wipes it. */
function inUse(node: NodeView, { service, heldBy }: LocalK3s): ClusterFinding | undefined {
  if (service !== 'unknown') return undefined
  return holdFor({
    node: node.name,
    guard: 'live-cluster',
    reason: `${node.name} holds data of this cluster, has no unit or process of K3s, and a program listens on a port of K3s or etcd (${heldBy ?? 'unknown'})`,
    allow: `stop that program, or if it is not K3s, give it another port; ss -tlnp on ${node.name} names it`,
  })
}

/**
 * Refuses to touch a K3s that runs outside the cluster under the name of one of its servers: its original disk may
 * return, and only a person knows.
 */
function stranger({ spec }: ClusterSituation, { name }: NodeView, why: string): ClusterFinding {
  return refusalOf({
    node: name,
    guard: 'stranger',
    reason: `${name} runs a cluster of its own beside ${spec.name}: ${why}`,
    allow: `if the disk of ${name} is not mounted, mount it and restart K3s there: it is a member again with its data; if its data is lost, run croft cluster replace ${spec.name} ${name}`,
  })
}

/** Reports whether a wipe would lose the node's Node, vote or join. A member that is down is of former data. */
function holdsPlace(node: NodeView): boolean {
  return isIn(node) || (node.member !== undefined && (node.member.learner || node.member.up !== 'no'))
}

/** The whole cluster is refused with the names of all twins; here only this node waits. */
function twins(view: ClusterSituation, node: NodeView): ClusterFinding | undefined {
  if (node.twins.length === 0) return undefined
  return waitFor({ node: node.name, awaits: `a machine-id of its own for ${node.name}`, sinceMs: view.nowMs })
}

/** Reports whether the machine may be recreated: its replacement runs, it left the cluster, its data need not stay. */
function condemned(view: ClusterSituation, node: NodeView): boolean {
  if (!view.formed || !isKnown(view, node) || !isKept(node) || node.machine.exists !== 'yes') return false
  if (node.kube !== 'absent' || node.member !== undefined) return false
  if (node.remediation === undefined || node.remediation.over === true) return false
  return keptForItsData(view, node, 'it was dead') === undefined
}

function booting(view: ClusterSituation, node: NodeView): ClusterFinding {
  const { upMs } = node.machine
  const bornMs = madeMs(node.machine) ?? view.nowMs
  // A machine that is older than its uptime has restarted: count its boot from the restart.
  const sinceMs = upMs === undefined ? bornMs : Math.max(bornMs, view.nowMs - upMs)
  const untilMs = sinceMs + LIMITS.machineBootMs
  const because = node.silence === undefined ? '' : `: ${node.silence}`
  const awaits = `${node.name} booted, its agent answering${because}`
  const wait = waitFor({ node: node.name, awaits, sinceMs, untilMs })
  if (view.nowMs < untilMs || !isKnown(view, node)) return wait
  // Without a record the node's cluster is unknown: advising to delete it could destroy a running cluster.
  const told =
    view.observed.identity === undefined
      ? {
          reason: `${node.name} is on and nothing answers on it${because}; croft has no record of ${view.spec.name}, so it may be a node of a cluster that runs`,
          allow: `let croft look into ${node.name} (guest agent or SSH), or look at its console; until then croft changes nothing on it`,
        }
      : {
          reason: `${node.name} is on and not in the cluster, and nothing answers on it${because}`,
          allow: `look at its console, or run croft cluster replace ${view.spec.name} ${node.name}`,
        }
  return merge([wait, holdFor({ node: node.name, guard: 'unreachable', ...told })])
}

function notSeen(view: ClusterSituation, node: NodeView): ClusterFinding {
  // While the majority is lost the answer is unknown, and the lost majority already waits for a person.
  if (quorumLost(view)) return NOTHING
  return waitFor({
    node: node.name,
    awaits: `news of the machine of ${node.name}, which nothing reports now`,
    sinceMs: view.nowMs,
  })
}

/** Reports whether the node's membership is known. Before the cluster is formed it is: no node is a member. */
function isKnown(view: ClusterSituation, node: NodeView): boolean {
  if (!view.formed) return true
  return view.observed.api === 'yes' && node.kube !== 'unknown' && (node.role === 'agent' || view.members !== 'unknown')
}
