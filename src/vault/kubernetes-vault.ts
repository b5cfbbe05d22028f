import type { ClusterVault } from '../drivers/cluster-port.ts'
import { type KubernetesClient, segment } from '../kubernetes/client.ts'
import { at } from '../kubernetes/objects.ts'
import { patiently, type Wait } from '../kubernetes/patience.ts'
import type { ClusterSecrets } from '../model/cluster.ts'
import { formatSecrets, readSecrets } from './record.ts'

export interface KubernetesVaultPlace {
  readonly client: KubernetesClient
  readonly namespace: string
  /** While the API is away. */
  readonly wait?: Wait
}

/** Keeps each cluster's identity in a Secret. Refuses a write if another writer changed it since it was read. */
export function openKubernetesVault({ client, namespace, wait }: KubernetesVaultPlace): ClusterVault {
  const collection = `/api/v1/namespaces/${segment(namespace)}/secrets`
  const nameFor = (cluster: string) => `croft-vault-${cluster}`
  const pathOf = (cluster: string) => `${collection}/${segment(nameFor(cluster))}`
  const versions = new Map<string, unknown>()

  const look = async (cluster: string): Promise<ClusterSecrets | undefined> => {
    const got = await patiently(wait, () => client.get(pathOf(cluster)))
    if (got.is === 'error' && got.status === 404) {
      versions.delete(cluster)
      return undefined
    }
    if (got.is !== 'answer') throw new Error(got.is === 'error' ? got.refusal.message : got.message)
    versions.set(cluster, at(got.value, 'metadata', 'resourceVersion'))
    const text = at(got.value, 'data', 'cluster')
    const place = `the Secret ${namespace}/${nameFor(cluster)}`
    if (typeof text !== 'string') throw new Error(`${place} is not a record of a cluster`)
    try {
      const secrets = readSecrets(Buffer.from(text, 'base64').toString('utf8'))
      if (secrets.cluster === cluster) return secrets
    } catch (error) {
      throw new Error(`${place} cannot be used: ${error instanceof Error ? error.message : 'it cannot be read'}`)
    }
    throw new Error(`${place} is the record of another cluster`)
  }

  return {
    read: look,
    async write(secrets) {
      const { cluster } = secrets
      if (!versions.has(cluster)) await look(cluster)
      const data = { cluster: Buffer.from(formatSecrets(secrets)).toString('base64') }
      const doing = `write the record of the cluster ${cluster}`
      const labels = { 'app.kubernetes.io/managed-by': 'croft' }
      const resourceVersion = versions.get(cluster)
      const made =
        resourceVersion === undefined
          ? await client.create(
              collection,
              { metadata: { name: nameFor(cluster), namespace, labels }, type: 'croft.dev/cluster', data },
              doing,
            )
          : await client.merge(pathOf(cluster), { metadata: { resourceVersion }, data }, doing)
      // Drop the version: the next read gets the new one.
      versions.delete(cluster)
      if (made.is !== 'answer') throw new Error(made.is === 'error' ? made.refusal.message : made.message)
    },
  }
}
