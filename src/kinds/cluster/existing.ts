import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Declaration } from '../../model/declaration.ts'
import type { Connection } from '../../model/estate.ts'
import { secretReferenceOf } from '../fields/ssh.ts'
import type { Lookup } from '../kind.ts'
import type { ClusterFields } from './schema.ts'

/**
 * A foreign cluster is only a connection: no cluster planner sees it, so croft cannot touch its nodes, its etcd or its
 * release.
 */
export function existingConnection({ name, spec, origin }: Declaration<ClusterFields>): Connection {
  const { objectWrites: writes } = LIMITS
  const { kubeconfig, context, proxy } = spec
  return {
    name: `cluster/${name}`,
    driver: 'kubernetes',
    endpoint: '',
    existing: {
      name,
      ...(kubeconfig === undefined ? {} : { kubeconfig: secretReferenceOf(kubeconfig) }),
      ...defined({ context, proxy }),
    },
    estate: 'default',
    ids: { from: 0, to: 0 },
    limits: { perHost: writes, perStorage: writes, reads: writes },
    origin,
  }
}

/** The Cluster of that name, where it is one that croft does not run. */
export function existingCluster(
  lookup: Pick<Lookup, 'declaration'>,
  name: string,
): Declaration<ClusterFields> | undefined {
  const found = lookup.declaration('Cluster', name) as Declaration<ClusterFields> | undefined
  return found?.spec.type === 'existing' ? found : undefined
}
