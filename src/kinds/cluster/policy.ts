import type { Policy } from '../../model/policy.ts'
import type { Cluster, Member } from './members.ts'

/**
 * What may be done with the machine of a node. Servers hold the cluster's memory: they are protected unless the
 * declaration says otherwise.
 */
export function machinePolicy(cluster: Cluster, member: Member): Policy {
  const { deletion, paused, manage, replace } = cluster.policy
  return {
    deletion,
    paused,
    manage,
    replace,
    protect: cluster.spec.protect ?? (cluster.policy.protect || member.role === 'server'),
  }
}
