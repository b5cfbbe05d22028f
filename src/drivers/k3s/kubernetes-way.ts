import type { ClusterDeclaration } from '../../model/estate.ts'
import type { ClusterDeps } from '../cluster-port.ts'
import type { KubernetesWay } from '../port.ts'
import { createAccess } from './access.ts'

/** The connection to a cluster's API with the credentials of its vault. */
export function kubernetesWay(cluster: ClusterDeclaration, load: () => Promise<ClusterDeps>): KubernetesWay {
  let opened: Promise<{ readonly deps: ClusterDeps; readonly access: ReturnType<typeof createAccess> }> | undefined
  let known = false
  const open = async () => {
    const deps = await load()
    return { deps, access: createAccess(cluster, deps) }
  }
  return {
    async find(signal) {
      opened ??= open()
      const { deps, access } = await opened
      const secrets = await deps.vault.read(cluster.name)
      // Before its first server has answered, the API does not exist.
      if (secrets === undefined || !secrets.formed) return { is: 'unformed' }
      if (!known) {
        const asked = await access.nodes(secrets, signal)
        if (asked.api !== 'yes') return { is: 'away', message: asked.message }
        known = true
      }
      const client = access.client(secrets)
      return client === undefined ? { is: 'away', message: 'no address of a server is known' } : { is: 'open', client }
    },
    lost() {
      known = false
    },
    async close() {
      if (opened !== undefined) await (await opened).access.close()
    },
  }
}
