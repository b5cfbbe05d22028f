import type { MachineLife, ObservedCluster, ObservedNode, ReplaceOrder } from '../../model/observed-cluster.ts'
import type { ClusterSituation, NodeView } from './view.ts'

/**
 * Returns the replacement orders that still apply after an observation: bound to the machine that must go, and without
 * those whose machine is gone. Compares no clocks: the servers' may be behind ours, and a restore brings old Nodes
 * back. Pure.
 */
export function standingOrders(
  orders: readonly ReplaceOrder[],
  { nodes }: Pick<ObservedCluster, 'nodes'>,
): readonly ReplaceOrder[] {
  return orders.flatMap((order) => {
    const node = nodes.find(({ name }) => name === order.node)
    if (!isOpen(order, node)) return []
    return node === undefined ? [order] : [{ ...order, goes: bound(order, lifeOf(node)) }]
  })
}

/** Reports whether the machine of the order still exists. An order of an older croft names none, and is over. */
export function isOpen({ goes }: ReplaceOrder, node: ObservedNode | undefined): boolean {
  if (goes === undefined) return false
  if (node === undefined) return true
  const { machine, k3s, kube } = node
  if (machine.exists === 'no') return false
  // A box stays: only the K3s on it is replaced.
  if (!machine.ours && kube === 'absent' && k3s !== 'unknown' && k3s.data === 'none') return false
  if (goes === 'unseen') return true
  const now = lifeOf(node)
  const another = goes.machineId !== undefined && now.machineId !== undefined && goes.machineId !== now.machineId
  return !another && !(goes.wipes !== undefined && now.wipes !== undefined && now.wipes > goes.wipes)
}

/** Reports whether the node is ordered to be replaced and its old machine still exists. */
export function isDue(view: ClusterSituation, node: NodeView): boolean {
  if (node.spec === undefined) return false
  return view.observed.requests.replace.some((order) => order.node === node.name && isOpen(order, node))
}

function bound({ goes }: ReplaceOrder, now: MachineLife): MachineLife {
  return goes === 'unseen' || goes === undefined ? now : { ...now, ...goes }
}

function lifeOf({ machine, k3s }: ObservedNode): MachineLife {
  const wipes = k3s === 'unknown' ? undefined : k3s.wipes
  return {
    ...(machine.machineId === undefined ? {} : { machineId: machine.machineId }),
    ...(wipes === undefined ? {} : { wipes }),
  }
}
