import { flagList } from '../k3s/config-file.ts'
import { uuid } from '../world/chance.ts'
import type { EtcdCluster, K3sProcess } from '../world/types.ts'
import { kindOf } from './catalogue.ts'
import { stamp, type Tree } from './object.ts'
import { PACKAGED } from './packaged.ts'
import { attachControllers } from './reconcile.ts'
import { find, put } from './store.ts'

/** What a new cluster holds before anybody puts something into it. A server that joins finds it there. */
export function seedObjects(process: K3sProcess, cluster: EtcdCluster): void {
  const { world } = process.computer
  attachControllers(world, cluster)
  if (find(cluster.store, '/namespaces', undefined, 'kube-system') !== undefined) return
  const make = (resource: string, apiVersion: string, kind: string, name: string, namespace: string, rest: Tree) => {
    put(cluster.store, resource, {
      apiVersion,
      kind,
      metadata: {
        name,
        ...(namespace === '' ? {} : { namespace }),
        uid: uuid(world.random),
        creationTimestamp: stamp(world.clock.now()),
        ...(rest.labels === undefined ? {} : { labels: rest.labels as Record<string, string> }),
        ...(rest.generation === undefined ? {} : { generation: 1 }),
      },
      ...Object.fromEntries(Object.entries(rest).filter(([key]) => key !== 'labels' && key !== 'generation')),
    })
  }
  for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system']) {
    make('/namespaces', 'v1', 'Namespace', name, '', {
      labels: { 'kubernetes.io/metadata.name': name },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    })
    make('/configmaps', 'v1', 'ConfigMap', 'kube-root-ca.crt', name, {
      data: { 'ca.crt': process.files.get('server-ca.crt') ?? '' },
    })
    make('/serviceaccounts', 'v1', 'ServiceAccount', 'default', name, {})
  }
  make('/services', 'v1', 'Service', 'kubernetes', 'default', {
    labels: { component: 'apiserver', provider: 'kubernetes' },
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.43.0.1',
      clusterIPs: ['10.43.0.1'],
      ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }],
      sessionAffinity: 'None',
    },
    status: { loadBalancer: {} },
  })
  const disabled = new Set(flagList(process.flags, 'disable'))
  for (const { component, objects } of PACKAGED) {
    if (disabled.has(component)) continue
    for (const { apiVersion, kind, name, namespace, ...rest } of objects(process)) {
      const resource = kindOf(cluster.store, apiVersion, kind)
      if (resource !== undefined) make(resource.key, apiVersion, kind, name, namespace ?? '', rest)
    }
  }
}
