import { flagText } from '../k3s/config-file.ts'
import type { K3sProcess } from '../world/types.ts'
import type { Tree } from './object.ts'

/* What K3s brings itself, unless it is told to leave it out. */

interface Packaged {
  /** Its name in `disable`. */
  readonly component: string
  readonly objects: (process: K3sProcess) => readonly PackagedObject[]
}

interface PackagedObject extends Tree {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

const SYSTEM = 'kube-system'
const CRITICAL = [
  { key: 'CriticalAddonsOnly', operator: 'Exists' },
  { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' },
]

function deployment(name: string, labels: Record<string, string>, image: string, priority: string): PackagedObject {
  const template = {
    metadata: { labels },
    spec: { priorityClassName: priority, containers: [{ name, image }], tolerations: CRITICAL },
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name,
    namespace: SYSTEM,
    labels,
    generation: 1,
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
    status: {},
  }
}

function service(name: string, labels: Record<string, string>, clusterIP: string, port: number): PackagedObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    name,
    namespace: SYSTEM,
    labels,
    spec: {
      type: 'ClusterIP',
      clusterIP,
      clusterIPs: [clusterIP],
      selector: labels,
      ports: [{ port, protocol: 'TCP', targetPort: port }],
      sessionAffinity: 'None',
    },
    status: { loadBalancer: {} },
  }
}

function chart(name: string, archive: string, values: Tree): PackagedObject {
  return {
    apiVersion: 'helm.cattle.io/v1',
    kind: 'HelmChart',
    name,
    namespace: SYSTEM,
    generation: 1,
    spec: {
      chart: `https://%{KUBERNETES_API}%/static/charts/${archive}.tgz`,
      ...(Object.keys(values).length === 0 ? {} : { valuesContent: JSON.stringify(values) }),
    },
  }
}

export const PACKAGED: readonly Packaged[] = [
  {
    component: 'coredns',
    objects: ({ flags }) => {
      const labels = { 'k8s-app': 'kube-dns' }
      const image = 'rancher/mirrored-coredns-coredns:1.14.3'
      return [
        deployment('coredns', labels, image, 'system-cluster-critical'),
        service('kube-dns', labels, flagText(flags, 'cluster-dns') || '10.43.0.10', 53),
      ]
    },
  },
  {
    component: 'local-storage',
    objects: () => [
      deployment(
        'local-path-provisioner',
        { app: 'local-path-provisioner' },
        'rancher/local-path-provisioner:v0.0.36',
        'system-node-critical',
      ),
      {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        name: 'local-path',
        provisioner: 'rancher.io/local-path',
        reclaimPolicy: 'Delete',
        volumeBindingMode: 'WaitForFirstConsumer',
      },
    ],
  },
  {
    component: 'metrics-server',
    objects: () => {
      const labels = { 'k8s-app': 'metrics-server' }
      const image = 'rancher/mirrored-metrics-server:v0.8.1'
      return [
        deployment('metrics-server', labels, image, 'system-node-critical'),
        service('metrics-server', labels, '10.43.0.15', 443),
      ]
    },
  },
  {
    component: 'traefik',
    objects: () => [
      chart('traefik-crd', 'traefik-crd-41.3.0', {}),
      chart('traefik', 'traefik-41.3.0', { priorityClassName: 'system-cluster-critical', tolerations: CRITICAL }),
    ],
  },
]
