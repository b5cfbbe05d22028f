import { compareEtcd } from '../../k3s/version.ts'
import { majority } from '../../lib/majority.ts'

/** etcd's own messages for refused changes. */
export type EtcdRefusal =
  | 'etcdserver: unhealthy cluster'
  | 'etcdserver: too many learner members in cluster'
  | 'etcdserver: re-configuration failed due to not enough started members'

/** From this release on etcd accepts a new member while a minority is away. */
const LENIENT_ADD = '3.6.11'

/** Returns why etcd would refuse a new learner. An unknown release is judged like the stricter ones. */
export function refusesAdd(state: {
  readonly voters: number
  readonly connected: number
  readonly learners: number
  readonly etcd: string | undefined
}): EtcdRefusal | undefined {
  const { voters, connected, learners, etcd } = state
  if (learners > 0) return 'etcdserver: too many learner members in cluster'
  const lenient = etcd !== undefined && compareEtcd(etcd, LENIENT_ADD) >= 0
  const accepted = lenient ? voters === 1 || connected >= majority(voters + 1) : connected === voters
  return accepted ? undefined : 'etcdserver: unhealthy cluster'
}

/** Returns why etcd would refuse to remove this voter. `othersUp` counts the other started voters. */
export function refusesRemove(state: {
  readonly voters: number
  readonly othersUp: number
  readonly targetUp: boolean
}): EtcdRefusal | undefined {
  const { voters, othersUp, targetUp } = state
  const needed = majority(voters - 1)
  // For a live voter etcd counts itself as connected and subtracts one: the same number, but another error.
  if (targetUp) return othersUp >= needed ? undefined : 'etcdserver: unhealthy cluster'
  return othersUp >= needed ? undefined : 'etcdserver: re-configuration failed due to not enough started members'
}
