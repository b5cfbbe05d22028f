import { mendedRelease, trapIn } from '../../k3s/release-traps.ts'
import type { ClusterHold } from '../../model/observed-cluster.ts'
import { type ClusterSituation, kubeOf, localOf, type NodeView } from './view.ts'

/**
 * Returns the hold that keeps the member of a first server: its release has the trap, and its configuration says
 * `cluster-init` or is unreadable, so it may start again. If others vote, croft gives a healthy server the way to them;
 * a stopped server is wiped before it starts.
 */
export function removalTrapped(view: ClusterSituation, node: NodeView): ClusterHold | undefined {
  const version = kubeOf(node)?.version ?? ''
  const trap = trapIn(version)
  if (trap === undefined || view.members === 'unknown' || view.members.length < 2 || !mayBegin(view, node))
    return undefined
  return {
    node: node.name,
    guard: 'release-trap',
    reason: `${node.name} runs ${version}, on which ${trap.what} (${trap.source}), and its member is to be removed`,
    allow: `write "server" with the address of another server in place of "cluster-init" into its config.yaml, or switch its machine off; if it is dead, run croft cluster forget ${view.spec.name} ${node.name}; or move to ${mendedRelease(version)} first`,
  }
}

function mayBegin({ observed }: ClusterSituation, node: NodeView): boolean {
  const { machine } = node
  if (machine.exists === 'no' || machine.power === 'off') return false
  if (observed.requests.forget?.some((order) => order.node === node.name) === true) return false
  const local = localOf(node)
  if (local !== undefined && ['absent', 'stopped', 'failed'].includes(local.service)) return false
  return local?.begins ?? observed.identity?.firstServer === node.name
}

/** Warns of a declared release with a known fault. */
export function pinTrapped({ spec }: ClusterSituation): readonly string[] {
  const trap = trapIn(spec.version)
  if (trap === undefined) return []
  return [`on ${spec.version} ${trap.what} (${trap.source}); pin ${mendedRelease(spec.version)} or later`]
}
