import { createHash } from 'node:crypto'
import { uuid } from '../../world/chance.ts'
import type { EtcdCluster, World } from '../../world/types.ts'
import { type KubeObject, list, stamp, tree } from '../object.ts'
import { all, put, remove } from '../store.ts'
import { terminating } from './collect.ts'

/* The pods of a workload: which there are, how they are made and how they end. */

export function podsOwnedBy(cluster: EtcdCluster, owner: KubeObject): KubeObject[] {
  return all(cluster.store, '/pods').filter((pod) =>
    pod.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid),
  )
}

export interface PodPlan {
  readonly name?: string
  readonly node?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly tolerations?: readonly unknown[]
  /** Volumes beside those of its template. */
  readonly claims?: readonly unknown[]
}

export function newPod(world: World, cluster: EtcdCluster, owner: KubeObject, plan: PodPlan | undefined): void {
  const template = tree(tree(owner.spec).template)
  const meta = tree(template.metadata)
  const generateName = `${owner.metadata.name}-`
  const suffix = templateHash(uuid(world.random)).slice(0, 5)
  const podSpec = tree(template.spec)
  put(cluster.store, '/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...born(world, plan?.name ?? `${generateName}${suffix}`, owner.metadata.namespace),
      ...(plan?.name === undefined ? { generateName } : {}),
      labels: { ...(tree(meta.labels) as Record<string, string>), ...plan?.labels },
      ...(meta.annotations === undefined ? {} : { annotations: meta.annotations as Record<string, string> }),
      ownerReferences: [ownedBy(owner)],
    },
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      ...podSpec,
      ...(plan?.claims === undefined || plan.claims.length === 0
        ? {}
        : { volumes: [...list(podSpec.volumes), ...plan.claims] }),
      ...(plan?.node === undefined ? {} : { nodeName: plan.node }),
      tolerations: plan?.tolerations ?? [
        ...list(podSpec.tolerations),
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
        { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
    },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  })
}

export function endPod(world: World, cluster: EtcdCluster, pod: KubeObject): void {
  const { namespace, name, deletionTimestamp } = pod.metadata
  if (deletionTimestamp !== undefined) return
  if (tree(pod.spec).nodeName === undefined) remove(cluster.store, '/pods', namespace, name)
  else
    put(
      cluster.store,
      '/pods',
      terminating(pod, world.clock.now(), Number(tree(pod.spec).terminationGracePeriodSeconds ?? 30)),
    )
}

export function born(world: World, name: string, namespace: string | undefined) {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid: uuid(world.random),
    generation: 1,
    creationTimestamp: stamp(world.clock.now()),
  }
}

export function ownedBy({ apiVersion, kind, metadata }: KubeObject) {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true, blockOwnerDeletion: true }
}

const SAFE = 'bcdfghjklmnpqrstvwxz2456789'

export function templateHash(template: unknown): string {
  const digest = createHash('sha256')
    .update(JSON.stringify(template) ?? '')
    .digest()
  return [...digest.subarray(0, 10)].map((byte) => SAFE[byte % SAFE.length]).join('')
}
