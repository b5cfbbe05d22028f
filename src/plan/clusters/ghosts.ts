import type { EtcdMember } from '../../model/observed-cluster.ts'
import { type ClusterFinding, ghostStep, holdFor, merge, NOTHING, permitted } from './finding.ts'
import { allowed } from './quorum.ts'
import { type ClusterSituation, localOf, type NodeView } from './view.ts'

/**
 * Removes etcd members without a Node, a process or a joining machine. They hold a vote that can never be cast. All
 * other work waits until they are gone, one step for each.
 */
export function ghostsOut(view: ClusterSituation): ClusterFinding {
  if (view.members === 'unknown' || view.observed.api !== 'yes') return NOTHING
  const ghosts = view.members.filter((member) => isGhost(view, member))
  return merge(ghosts.slice(0, 1).map((ghost) => banish(view, ghost)))
}

export function isGhost(view: ClusterSituation, member: EtcdMember): boolean {
  if (member.up !== 'no') return false
  const node = view.servers.find(({ name }) => name === member.node)
  // A second member of the same name, beside the running one, belongs to that node's former data.
  if (node === undefined || (node.member !== undefined && node.member.id !== member.id)) return true
  return node.kube === 'absent' && !comesBack(view, node)
}

/** Reports whether the machine may bring its member back, or is being repaired by another step. */
function comesBack(view: ClusterSituation, node: NodeView): boolean {
  const local = localOf(node)
  if (node.machine.exists === 'no') return false
  if (local === undefined) return true
  return local.data === view.observed.identity?.caHash
}

function banish(view: ClusterSituation, ghost: EtcdMember): ClusterFinding {
  const declared = view.servers.some((node) => node.name === ghost.node && node.spec !== undefined)
  const wanted =
    declared || view.spec.ghostMembers === 'remove' || view.observed.requests.removeMembers.includes(ghost.id)
  const reason = `etcd has a member ${ghost.name || ghost.id} that belongs to no node; its vote is never cast`
  if (!wanted) {
    return holdFor({
      guard: 'ghost-member',
      reason,
      allow: `run croft cluster remove-member ${view.spec.name} ${ghost.id}, or set ghostMembers: remove`,
    })
  }
  const answer = allowed({ do: 'remove-member', node: ghost.node, member: ghost.id }, view)
  return permitted(answer, ghost.node, (permit) => ghostStep(view, ghost, reason, permit))
}
