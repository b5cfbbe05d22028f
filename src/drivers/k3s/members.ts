import { type MemberList, nodeOfMember } from '../../k3s/membership.ts'
import type { NodeFacts } from '../../k3s/node-program.ts'
import type { EtcdMember, ObservedMachine, YesNoUnknown } from '../../model/observed-cluster.ts'
import { type ObservedKubeNode, optional } from './read-node.ts'

/** All evidence about one server's etcd. */
export interface Witness {
  readonly machine: ObservedMachine
  /** Of the current observation. */
  readonly facts?: NodeFacts
  /** It did not answer in this observation: its Node may show an older state. */
  readonly silent?: true
  /** Its etcd belongs to another cluster, so our member of that name does not run. */
  readonly stranger?: true
  /** `absent` only if the API said so. */
  readonly seen: ObservedKubeNode | 'absent' | 'unknown'
}

/** Returns the members with their known state. Without evidence a member is neither up nor down. */
export function judgeMembers(list: MemberList, witnesses: ReadonlyMap<string, Witness>): readonly EtcdMember[] {
  // A new member has no name until it runs.
  const arriving = [...witnesses.values()].some(
    ({ facts }) => facts?.role === 'server' && isMoving(facts.service) && facts.etcd?.self === undefined,
  )
  return list.members.map(({ id, name, learner }): EtcdMember => {
    const node = nodeOfMember(name)
    const witness = witnesses.get(node)
    const up = name === '' ? (arriving ? 'unknown' : 'no') : isUp(id, name, witness)
    const etcd =
      witness?.stranger !== true && witness?.facts?.etcd?.self === id ? witness.facts.etcd.version : undefined
    return {
      id,
      name,
      node,
      learner,
      up,
      ...optional('leader', list.leader === undefined ? undefined : list.leader === id),
      ...optional('etcd', etcd),
    }
  })
}

/**
 * Returns the members from K3s's annotations of the Nodes, if etcd's own list is unreadable. Members without a Node are
 * missing.
 */
export function membersOfNodes(nodes: readonly ObservedKubeNode[]): MemberList {
  return {
    members: nodes.flatMap(({ etcdName, voter }) =>
      etcdName === undefined || voter === 'not-a-member'
        ? []
        : [{ id: etcdName, name: etcdName, learner: voter === 'learner' }],
    ),
  }
}

function isUp(id: string, name: string, witness: Witness | undefined): YesNoUnknown {
  // The node is unknown: it has neither machine nor Node.
  if (witness === undefined) return 'no'
  const { machine, facts, seen, stranger } = witness
  if (stranger === true) return 'no'
  if (machine.exists === 'no' || machine.power === 'off') return 'no'
  if (facts !== undefined) {
    if (facts.etcd?.self === id) return 'yes'
    // It runs etcd with another id: this member belongs to its former data.
    if (facts.etcd?.self !== undefined) return 'no'
    if (!isMoving(facts.service)) return 'no'
  }
  if (seen === 'unknown' || seen === 'absent' || witness.silent === true) return 'unknown'
  if (seen.etcdName !== undefined && seen.etcdName !== name) return 'no'
  if (seen.voter === 'unhealthy' || seen.voter === 'not-a-member') return 'no'
  const speaks = seen.voter === 'voter' || seen.voter === 'learner'
  return speaks && seen.kube.ready === 'yes' ? 'yes' : 'unknown'
}

function isMoving(service: NodeFacts['service']): boolean {
  return service === 'starting' || service === 'running'
}
