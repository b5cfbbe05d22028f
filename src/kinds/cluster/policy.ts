import type { Policy } from '../../model/policy.ts'
import type { Cluster, Member } from './members.ts'

/**
 * What may be done with the machine of a node. Servers hold the cluster's memory: taking the whole cluster out of Git
 * does not destroy them, unless `protect: false` was said before.
 */
export function machinePolicy(cluster: Cluster, member: Member): Policy {
  const { adopt: _adopt, rotate: _rotate, ...policy } = cluster.policy
  return {
    ...policy,
    ...(member.role === 'server' && cluster.spec.protect !== false ? { serverOf: cluster.key } : {}),
  }
}
