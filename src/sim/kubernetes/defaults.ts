import { flagList } from '../k3s/config-file.ts'
import type { EtcdCluster, K3sProcess } from '../k3s/types.ts'
import { uuid } from '../world/chance.ts'
import { stamp, type Tree } from './object.ts'
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
  const component = (name: string, labels: Record<string, string>, image: string) => {
    if (disabled.has(name)) return
    const deployment = name === 'local-storage' ? 'local-path-provisioner' : name
    const template = {
      metadata: { labels },
      spec: {
        containers: [{ name: deployment, image }],
        tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' }],
      },
    }
    const spec = { replicas: 1, selector: { matchLabels: labels }, template }
    make('apps/deployments', 'apps/v1', 'Deployment', deployment, 'kube-system', {
      labels,
      generation: 1,
      spec,
      status: {},
    })
  }
  component('coredns', { 'k8s-app': 'kube-dns' }, 'rancher/mirrored-coredns-coredns:1.14.3')
  component('local-storage', { app: 'local-path-provisioner' }, 'rancher/local-path-provisioner:v0.0.36')
  component('metrics-server', { 'k8s-app': 'metrics-server' }, 'rancher/mirrored-metrics-server:v0.8.1')
  if (!disabled.has('local-storage'))
    make('storage.k8s.io/storageclasses', 'storage.k8s.io/v1', 'StorageClass', 'local-path', '', {
      provisioner: 'rancher.io/local-path',
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'WaitForFirstConsumer',
    })
}
