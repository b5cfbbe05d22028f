import type { EtcdCluster, World } from '../../world/types.ts'
import { type KubeObject, list, text, tree } from '../object.ts'
import { all, find, put, remove } from '../store.ts'

/** Kinds that own others, with where they are kept. */
const OWNERS: Readonly<Record<string, string>> = {
  Node: '/nodes',
  Deployment: 'apps/deployments',
  ReplicaSet: 'apps/replicasets',
  StatefulSet: 'apps/statefulsets',
  DaemonSet: 'apps/daemonsets',
  Job: 'batch/jobs',
  CronJob: 'batch/cronjobs',
  HelmChart: 'helm.cattle.io/helmcharts',
}

const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions'
/** Holds a definition whose objects are being deleted. */
export const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io'

/** What belonged to something that is gone goes too; a namespace that is to go takes all that is in it. */
export function collectGarbage(world: World, cluster: EtcdCluster): void {
  const { store } = cluster
  const leaving = new Set<string>()
  for (const space of store.tables.get('/namespaces')?.values() ?? [])
    if (space.metadata.deletionTimestamp !== undefined) leaving.add(space.metadata.name)
  const filled = new Set<string>()
  for (const [resource, table] of store.tables) {
    for (const object of table.values()) {
      const { metadata } = object
      const inLeaving = metadata.namespace !== undefined && leaving.has(metadata.namespace)
      if (inLeaving) filled.add(metadata.namespace ?? '')
      const owners = metadata.ownerReferences
      const orphan =
        owners !== undefined &&
        owners.length > 0 &&
        owners.every(({ kind, name, uid }) => {
          const place = OWNERS[kind]
          if (place === undefined) return false
          const owner = find(store, place, place === '/nodes' ? undefined : metadata.namespace, name)
          return owner?.metadata.uid !== uid
        })
      if (!inLeaving && !orphan) continue
      if (metadata.finalizers !== undefined && metadata.finalizers.length > 0) {
        if (metadata.deletionTimestamp === undefined) put(store, resource, terminating(object, world.clock.now(), 0))
        continue
      }
      if (resource === '/pods' && metadata.deletionTimestamp === undefined && tree(object.spec).nodeName !== undefined)
        put(store, resource, terminating(object, world.clock.now()))
      else if (resource !== '/pods' || tree(object.spec).nodeName === undefined)
        remove(store, resource, metadata.namespace, metadata.name)
    }
  }
  for (const definition of all(store, DEFINITIONS))
    if (definition.metadata.finalizers?.includes(CLEANUP) === true && all(store, definedBy(definition)).length === 0)
      remove(store, DEFINITIONS, undefined, definition.metadata.name)
  for (const name of leaving) {
    if (filled.has(name)) continue
    const space = find(store, '/namespaces', undefined, name)
    if (list(tree(space?.spec).finalizers).every((one) => one === 'kubernetes'))
      remove(store, '/namespaces', undefined, name)
  }
}

/** Where the objects of a definition are kept. */
export function definedBy({ spec }: KubeObject): string {
  return `${text(tree(spec).group)}/${text(tree(tree(spec).names).plural)}`
}

export function terminating<T extends { readonly metadata: object }>(object: T, nowMs: number, graceSeconds = 30): T {
  return {
    ...object,
    metadata: {
      ...object.metadata,
      deletionTimestamp: `${new Date(nowMs + graceSeconds * 1000).toISOString().slice(0, 19)}Z`,
      deletionGracePeriodSeconds: graceSeconds,
    },
  }
}
