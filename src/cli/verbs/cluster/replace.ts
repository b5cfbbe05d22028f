import { closing } from '../../closing.ts'
import { changeOrders } from '../../clusters/orders.ts'
import { CliError, EXIT, UsageError } from '../../exit.ts'
import { openState } from '../../state.ts'
import { noteOperation } from '../machine/journal.ts'
import type { ClusterVerb } from './find.ts'

/** Has a node leave its cluster and come back anew; the coordinator does it when everything else is well. */
export const replace: ClusterVerb = async (runtime, { cluster, state, words }) => {
  const [node] = words
  const nodes = [...cluster.spec.servers, ...cluster.spec.agents].map(({ name }) => name)
  if (node === undefined)
    throw new UsageError(`Name the node: croft cluster replace ${cluster.name} ${nodes[0] ?? ''}.`)
  if (!nodes.includes(node)) throw new CliError(`${node} is no node of ${cluster.name}. It has ${nodes.join(', ')}.`)
  await using store = closing(await openState(runtime, state))
  const atMs = runtime.clock.now()
  await changeOrders(store.it, cluster.name, (orders) => ({
    ...orders,
    replace: [...orders.replace.filter((order) => order.node !== node), { node, atMs }],
  }))
  const message = `${node} will be replaced: cordoned, drained, removed from etcd, recreated, joined`
  await noteOperation(runtime, store.it, cluster.key, 'replace', 'done', message)
  runtime.out.write(`${cluster.key}: ${message}\n`)
  return EXIT.ok
}

/** Agrees to the removal of an etcd member that nobody stands behind. The quorum guard still has its say. */
export const removeMember: ClusterVerb = async (runtime, { cluster, state, words }) => {
  const [id] = words
  if (id === undefined || !/^[0-9a-f]{1,16}$/.test(id)) {
    throw new UsageError(
      'Name the member by its id, as croft plan shows it: croft cluster remove-member 9a1e48b3d305ad3b.',
    )
  }
  await using store = closing(await openState(runtime, state))
  await changeOrders(store.it, cluster.name, (orders) => ({
    ...orders,
    removeMembers: [...new Set([...orders.removeMembers, id])],
  }))
  const message = `the etcd member ${id} will be removed if no node stands behind it`
  await noteOperation(runtime, store.it, cluster.key, 'remove-member', 'done', message)
  runtime.out.write(`${cluster.key}: ${message}\n`)
  return EXIT.ok
}
