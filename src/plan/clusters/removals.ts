import { type ClusterFinding, firstOf, holdFor, NOTHING, refusalOf } from './finding.ts'
import { believedDead } from './forget.ts'
import { isDue } from './orders.ts'
import { quorum } from './quorum.ts'
import { departure, holdsOurs } from './replace.ts'
import { serversChange } from './servers-change.ts'
import { awaitsCni, type ClusterSituation, isIn, isWell, kubeOf, type NodeView } from './view.ts'

/**
 * Removes undeclared servers: one at a time, and a live one only while every declared server is a healthy member. The
 * next waits until the cluster is whole again.
 */
export function serversOut(view: ClusterSituation, which: 'dead' | 'any'): ClusterFinding {
  const gone = view.servers.filter((node) => leaves(node) && hasAnything(view, node))
  if (which === 'any' && gone.some(({ unclaimed }) => unclaimed === true)) return unclaimedNodes(view, gone)
  const wanted = gone
    .filter(({ unclaimed }) => unclaimed !== true)
    .filter((node) => which === 'any' || isDown(view, node))
  if (wanted.length === 0 || view.spec.servers.length === 0) return NOTHING
  const voters = view.members === 'unknown' ? 0 : quorum(view.members).voters
  const { refusal } = serversChange(view.spec.servers.length, voters, view.spec.allow.degraded)
  // A server without a vote costs no quorum: finish the removal that has started.
  const [first] = [...wanted].sort((a, b) => Number(a.member !== undefined) - Number(b.member !== undefined))
  if (first === undefined) return NOTHING
  if (refusal !== undefined && first.member !== undefined) return refusalOf(refusal)
  return departure(view, first, 'remove', whyLeaving(first))
}

/** Reports whether the node leaves: Git does not name it, or declares another role, with which it then joins again. */
export function leaves({ spec, becomes }: NodeView): boolean {
  return spec === undefined || becomes !== undefined
}

export function whyLeaving({ name, becomes, role }: NodeView): string {
  return becomes === undefined ? `${name} is no longer declared` : `${name} is in as ${role} and declared as ${becomes}`
}

/** Removes an undeclared agent. */
export function agentOut(view: ClusterSituation, node: NodeView): ClusterFinding {
  if (!leaves(node) || !hasAnything(view, node)) return NOTHING
  if (node.unclaimed === true) return unclaimedNodes(view, [node])
  return departure(view, node, 'remove', whyLeaving(node))
}

/** Reports nodes that this directory never declared, as far as known: they stay. */
function unclaimedNodes({ spec }: ClusterSituation, nodes: readonly NodeView[]): ClusterFinding {
  const names = nodes.filter(({ unclaimed }) => unclaimed === true).map(({ name }) => name)
  return holdFor({
    guard: 'not-of-this-directory',
    reason: `${names.join(', ')} ${names.length === 1 ? 'is a node' : 'are nodes'} of ${spec.name}, and nothing says that this directory ever declared ${names.length === 1 ? 'it' : 'them'}`,
    allow: `declare ${names.length === 1 ? 'it' : 'them'}; or, to have ${names.length === 1 ? 'it' : 'them'} taken out, list Cluster/${spec.name}@${names[0] ?? ''} under deletes of an Approval`,
  })
}

/** Replaces the nodes that a person ordered. `down`: only those that have left the cluster or are dead. */
export function ordered(view: ClusterSituation, nodes: readonly NodeView[], which: 'down' | 'any'): ClusterFinding {
  const due = nodes.filter((node) => isDue(view, node) && (which === 'any' || isDown(view, node)))
  return firstOf(due.map((node) => () => departure(view, node, 'replace', 'a person asked for it')))
}

/** Reports whether every declared server is a healthy member and every voter up, so that croft may disturb one. */
export function serversWhole(view: ClusterSituation): boolean {
  if (view.observed.api !== 'yes' || view.members === 'unknown') return false
  if (view.members.some(({ learner, up }) => learner || up !== 'yes')) return false
  const declared = view.servers.filter(({ spec }) => spec !== undefined)
  return declared.every(
    (node) =>
      isIn(node) && (isWell(node) || (awaitsCni(view, node) && node.member?.up === 'yes' && !node.member.learner)),
  )
}

function hasAnything(view: ClusterSituation, node: NodeView): boolean {
  if (kubeOf(node) !== undefined || node.member !== undefined || node.passwordSecret === 'yes') return true
  return node.machine.exists === 'yes' && (node.machine.ours || holdsOurs(view, node))
}

/** If a server does not answer, nothing proves whether its etcd runs: then its NotReady Node decides. */
function isDown(view: ClusterSituation, node: NodeView): boolean {
  if (node.member?.up === 'yes') return false
  if (believedDead(view, node) !== undefined) return true
  if (node.member?.up === 'unknown') return kubeOf(node)?.ready === 'no'
  return node.kube === 'absent' || kubeOf(node)?.ready === 'no'
}
