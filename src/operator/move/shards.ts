import { createHash } from 'node:crypto'
import type { KubernetesClient } from '../../kubernetes/client.ts'
import { at, type Foreign } from '../../kubernetes/objects.ts'
import { type DeclaredObject, declaredObject } from '../objects.ts'
import { partition, type Shard } from '../partition.ts'
import { collectionOf, servedKinds } from '../served.ts'

/** The objects of a cluster as the operator divides them, at one moment. */
export interface ListedCluster {
  readonly shards: readonly Shard[]
  readonly objects: readonly DeclaredObject[]
  /** The uid in the Estate object; undefined: there is none. */
  readonly estateUid: string | undefined
}

export async function listCluster(client: KubernetesClient, home: string, signal: AbortSignal): Promise<ListedCluster> {
  const served = await servedKinds(client, signal)
  if (served.is !== 'answer') throw new Error(served.is === 'error' ? served.refusal.message : served.message)
  const objects: DeclaredObject[] = []
  for (const kind of served.value) {
    const listed = await client.list(collectionOf(kind, home), {}, signal)
    if (listed.is !== 'answer') throw new Error(listed.is === 'error' ? listed.refusal.message : listed.message)
    objects.push(...listed.value.flatMap((object: Foreign) => declaredObject(kind, object, home) ?? []))
  }
  const estate = objects.find((one) => one.served.kind.kind === 'Estate')
  const uid = at(estate?.object, 'spec', 'uid')
  return { shards: partition(objects).shards, objects, estateUid: typeof uid === 'string' ? uid : undefined }
}

/** Returns the cluster's identity: the uid of a namespace that lives as long as the cluster. */
export async function clusterIdentity(client: KubernetesClient): Promise<string> {
  const system = await client.get('/api/v1/namespaces/kube-system')
  const uid = system.is === 'answer' ? at(system.value, 'metadata', 'uid') : undefined
  if (typeof uid !== 'string') throw new Error('the namespace kube-system cannot be read: it says who this cluster is')
  return createHash('sha256').update(uid).digest('hex').slice(0, 16)
}
