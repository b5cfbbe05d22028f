import { type Asked, createKubernetesClient, type KubernetesClient } from '../../kubernetes/client.ts'
import type { Foreign } from '../../kubernetes/objects.ts'
import { realMs } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterSecrets } from '../../model/cluster.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import type { AdminCredentials, ClusterDeps } from '../cluster-port.ts'
import { adminCredentials } from './make-secrets.ts'

/** One client for each endpoint of a cluster, with an admin's certificate that is renewed in time. */
interface ApiWays {
  client(endpoint: string, secrets: ClusterSecrets): KubernetesClient | undefined
  /** Asks an endpoint for the Nodes, and gives up after `patience`. */
  ask(
    endpoint: string,
    secrets: ClusterSecrets,
    signal: AbortSignal,
    patience?: number,
  ): Promise<Asked<readonly Foreign[]>>
  close(): Promise<void>
}

const NODES = '/api/v1/nodes'

export function createApiWays(declaration: ClusterDeclaration, deps: ClusterDeps): ApiWays {
  const ways = new Map<string, KubernetesClient>()
  let credentials: (AdminCredentials & { readonly caHash: string }) | undefined

  function admin(secrets: ClusterSecrets): AdminCredentials | undefined {
    const now = deps.clock.now()
    // A certificate that was signed while our clock was ahead is invalid once the clock is right again.
    const inForce = (own: AdminCredentials) => now >= own.fromMs && own.untilMs - now > LIMITS.adminRenewMs
    if (credentials?.caHash !== secrets.caHash || !inForce(credentials)) {
      const made = adminCredentials(secrets, now)
      credentials = made === undefined ? undefined : { ...made, caHash: secrets.caHash }
      for (const one of ways.values()) void one.close()
      ways.clear()
    }
    return credentials
  }

  function client(endpoint: string, secrets: ClusterSecrets): KubernetesClient | undefined {
    const own = admin(secrets)
    if (own === undefined) return undefined
    const there = ways.get(endpoint)
    if (there !== undefined) return there
    const wire = deps.openKubernetes({
      endpoint,
      caPem: own.caPem,
      certificatePem: own.certificatePem,
      key: own.key,
      ...defined({ proxy: declaration.proxy, egress: declaration.egress }),
    })
    const made = createKubernetesClient(wire)
    ways.set(endpoint, made)
    return made
  }

  async function ask(
    endpoint: string,
    secrets: ClusterSecrets,
    signal: AbortSignal,
    patience: number = secrets.formed ? LIMITS.clusterAnswerMs : LIMITS.clusterFirstAnswerMs,
  ): Promise<Asked<readonly Foreign[]>> {
    const chosen = client(endpoint, secrets)
    if (chosen === undefined) {
      return { is: 'silence', sent: 'no', code: 'ERR_NO_CA', message: 'the client CA of this cluster is not known' }
    }
    return within(deps, patience, signal, (limited) => chosen.list(NODES, {}, limited))
  }

  return {
    client,
    ask,
    async close() {
      await Promise.all([...ways.values()].map((one) => one.close()))
      ways.clear()
    },
  }
}

/** Sets a timeout, so that one server that never answers does not delay the others. */
async function within<T>(
  { clock }: ClusterDeps,
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const [late, over] = [new AbortController(), new AbortController()]
  const stop = () => late.abort()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) late.abort()
  void clock.sleep(realMs(clock, ms), over.signal).then(() => {
    if (!over.signal.aborted) late.abort()
  })
  try {
    return await work(late.signal)
  } finally {
    over.abort()
    signal.removeEventListener('abort', stop)
  }
}
