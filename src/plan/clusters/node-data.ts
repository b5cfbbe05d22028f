import type { ClusterHold } from '../../model/observed-cluster.ts'
import { isDue } from './orders.ts'
import { type ClusterSituation, isKept, type NodeView } from './view.ts'

/**
 * Returns why croft does not destroy the machine of a dead node by itself: neither Git nor a person released its disks,
 * and nothing proves that they hold only K3s. A box is only wiped, which keeps volumes and snapshots.
 */
export function keptForItsData(view: ClusterSituation, node: NodeView, why: string): ClusterHold | undefined {
  const { spec } = view
  if (spec.remediation.dataMayGo || !isKept(node) || node.machine.exists === 'no' || isDue(view, node)) return undefined
  return {
    node: node.name,
    guard: 'node-data',
    reason: `${why}; a replacement destroys its machine with all its disks: volumes of pods (local-path, for one), snapshots that lie only there, data disks`,
    allow: `bring ${node.name} back; or, if its data may go, run croft cluster replace ${spec.name} ${node.name}, or write remediation: {dataMayGo: true} for every dead node of ${spec.name}`,
  }
}
