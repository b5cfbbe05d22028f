import { isPodReady } from '../../sim/k3s/kubelet.ts'
import { endPod } from '../../sim/kubernetes/controllers/owned-pods.ts'
import type { KubeObject } from '../../sim/kubernetes/object.ts'
import { all, put, update } from '../../sim/kubernetes/store.ts'
import type { EtcdCluster } from '../../sim/world/types.ts'
import type { Simulation } from './run.ts'

/** Programs in the cluster that bring their things back as long as they run themselves. */
export interface Actors {
  /** How often one of them scaled something up that was down. */
  readonly fights: string[]
}

const LOOK_MS = 1_000

/** What Git says, which Argo CD sees to, and what the operator of the photos sees to. */
const SEEN_TO: Readonly<Record<string, readonly (readonly [string, number])[]>> = {
  'argocd-application-controller': [
    ['web', 3],
    ['photos', 1],
    ['photos-operator', 1],
  ],
  'photos-operator': [['photos', 1]],
}

export function startActors(simulation: Simulation, cluster: EtcdCluster): Actors {
  const { clock } = simulation
  const fights: string[] = []
  const look = () => {
    for (const [actor, things] of Object.entries(SEEN_TO)) {
      if (!runs(cluster, actor)) continue
      for (const [name, replicas] of things) {
        update(cluster.store, 'apps/deployments', 'default', name, (object) => {
          const spec = object.spec as { readonly replicas?: number }
          if (spec.replicas === replicas) return undefined
          fights.push(`${actor} took ${name} from ${spec.replicas} to ${replicas}`)
          return { ...object, spec: { ...spec, replicas } }
        })
      }
    }
    if (runs(cluster, 'cnpg-controller-manager')) keepDatabases(simulation, cluster)
    clock.schedule(clock.now() + LOOK_MS, look)
  }
  look()
  return { fights }
}

/** Does a pod of it run, on a node that is up? */
function runs(cluster: EtcdCluster, name: string): boolean {
  return all(cluster.store, '/pods').some((pod) => {
    const node = (pod.spec as { readonly nodeName?: string }).nodeName ?? ''
    const lives = cluster.kubelets.get(node)?.alive === true
    return pod.metadata.labels?.app === name && lives && isPodReady(pod)
  })
}

const DATABASES = 'postgresql.cnpg.io/clusters'

/** CloudNativePG as far as power is concerned: instances with a volume each, none of them while it is hibernated. */
function keepDatabases({ datacentre }: Simulation, cluster: EtcdCluster): void {
  for (const database of all(cluster.store, DATABASES)) {
    const { name, namespace = 'default' } = database.metadata
    const asleep = database.metadata.annotations?.['cnpg.io/hibernation'] === 'on'
    const own = all(cluster.store, '/pods').filter(({ metadata }) => metadata.labels?.['cnpg.io/cluster'] === name)
    if (asleep) {
      for (const pod of own) if (pod.metadata.deletionTimestamp === undefined) endPod(datacentre.world, cluster, pod)
    } else if (own.length === 0) put(cluster.store, '/pods', instance(name, namespace, datacentre.world.clock.now()))
    const readyInstances = own.filter(isPodReady).length
    update(cluster.store, DATABASES, namespace, name, (object) => {
      const status = object.status as { readonly readyInstances?: number } | undefined
      return status?.readyInstances === readyInstances ? undefined : { ...object, status: { readyInstances } }
    })
  }
}

function instance(name: string, namespace: string, nowMs: number): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${name}-1`, namespace, uid: `${name}-1-${nowMs}`, labels: { 'cnpg.io/cluster': name } },
    spec: {
      containers: [{ name: 'postgres', image: 'example/postgres:17' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `${name}-1` } }],
    },
    status: { phase: 'Pending' },
  }
}

/** A database of CloudNativePG with its definition, so that the API serves it. */
export function addDatabase(cluster: EtcdCluster, namespace: string, name: string): void {
  put(cluster.store, 'apiextensions.k8s.io/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'clusters.postgresql.cnpg.io', uid: 'clusters.postgresql.cnpg.io' },
    spec: {
      group: 'postgresql.cnpg.io',
      scope: 'Namespaced',
      names: { plural: 'clusters', kind: 'Cluster', singular: 'cluster' },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} } }],
    },
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  })
  put(cluster.store, DATABASES, {
    apiVersion: 'postgresql.cnpg.io/v1',
    kind: 'Cluster',
    metadata: { name, namespace, uid: `${namespace}-${name}` },
    spec: { instances: 1 },
  })
}
