import { endpointUrl } from '../../k3s/config.ts'
import type { Asked, KubernetesClient } from '../../kubernetes/client.ts'
import type { Foreign } from '../../kubernetes/objects.ts'
import { realMs } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterSecrets } from '../../model/cluster.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import type { YesNoUnknown } from '../../model/observed-cluster.ts'
import type { ClusterDeps } from '../cluster-port.ts'
import { createApiWays } from './api-ways.ts'

export type NodesAnswer =
  | {
      readonly api: 'yes'
      readonly nodes: readonly Foreign[]
      /** The declared endpoint, if it did not answer: people and agents have no other address. */
      readonly silentEndpoint?: string
      /** Set if it answers later than the servers, and by how much. */
      readonly slowEndpoint?: { readonly endpoint: string; readonly ms: number }
    }
  | { readonly api: Exclude<YesNoUnknown, 'yes'>; readonly message: string }

/** The connection to a cluster's API: over its endpoint, or else over any of its servers. */
export interface Access {
  /** Reads the Nodes, which also finds the working way. */
  nodes(secrets: ClusterSecrets, signal: AbortSignal): Promise<NodesAnswer>
  /** Returns the client of the last working way. */
  client(secrets: ClusterSecrets): KubernetesClient | undefined
  /** Adds addresses of undeclared servers, from their Nodes. */
  learn(addresses: readonly string[]): void
  close(): Promise<void>
}

export function createAccess(declaration: ClusterDeclaration, deps: ClusterDeps): Access {
  const ways = createApiWays(declaration, deps)
  let good: string | undefined
  let learnt: readonly string[] = []
  const declared = endpointUrl(declaration.spec)
  // A request to the declared endpoint continues after its timeout: only its end tells a slow endpoint from a dead one.
  let pending: Promise<Asked<readonly Foreign[]>> | undefined
  let lateMs: number | undefined

  async function askDeclared(secrets: ClusterSecrets, signal: AbortSignal): Promise<Asked<readonly Foreign[]>> {
    const beganMs = deps.clock.monotonicMs()
    const answer = await ways.ask(declared, secrets, signal)
    const tookMs = deps.clock.monotonicMs() - beganMs
    lateMs = answer.is === 'answer' && tookMs >= patient() ? tookMs / realMs(deps.clock, 1) : undefined
    return answer
  }

  const patient = () => realMs(deps.clock, LIMITS.endpointAnswerMs)

  /** Stops waiting for the declared endpoint once another address answers; the request itself continues. */
  async function declaredSoon(secrets: ClusterSecrets, signal: AbortSignal): Promise<Asked<readonly Foreign[]>> {
    pending ??= askDeclared(secrets, signal).finally(() => {
      pending = undefined
    })
    const over = new AbortController()
    const late = deps.clock.sleep(patient(), over.signal).then(() => TOO_LATE)
    const answer = await Promise.race([pending, late])
    over.abort()
    return answer
  }

  /** Returns an address that answers while the declared endpoint is still pending. */
  async function quickOne(
    others: readonly string[],
    secrets: ClusterSecrets,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const beganMs = deps.clock.monotonicMs()
    const answers = await Promise.all(
      others.map(async (endpoint) => {
        const { is } = await ways.ask(endpoint, secrets, signal, LIMITS.endpointAnswerMs)
        return { endpoint, is, tookMs: deps.clock.monotonicMs() - beganMs }
      }),
    )
    const quick = answers.filter(({ is, tookMs }) => is === 'answer' && tookMs < patient())
    return quick.sort((a, b) => a.tookMs - b.tookMs)[0]?.endpoint
  }

  return {
    async nodes(secrets, signal) {
      const all = endpointsOf(declaration, learnt)
      const first = good !== undefined && all.includes(good) ? good : declared
      const failed: Asked<readonly Foreign[]>[] = []
      // A silent endpoint is asked again beside the answering server, and used once it is back.
      const [tried, back] = await Promise.all([
        first === declared ? askDeclared(secrets, signal) : ways.ask(first, secrets, signal),
        first === declared ? Promise.resolve(undefined) : declaredSoon(secrets, signal),
      ])
      if (back?.is === 'answer') {
        good = declared
        return { api: 'yes', nodes: back.value }
      }
      if (tried.is === 'answer' && first === declared) {
        // One delay may be chance. From now on a faster server is asked in parallel.
        const others = lateMs === undefined ? [] : all.filter((endpoint) => endpoint !== declared)
        good = (await quickOne(others, secrets, signal)) ?? declared
        return { api: 'yes', nodes: tried.value }
      }
      if (tried.is === 'answer') {
        good = first
        const slow = lateMs === undefined ? undefined : { endpoint: declared, ms: lateMs }
        return {
          api: 'yes',
          nodes: tried.value,
          ...(slow === undefined ? { silentEndpoint: declared } : { slowEndpoint: slow }),
        }
      }
      failed.push(tried)
      const others = all.filter((endpoint) => endpoint !== first && endpoint !== declared)
      const answers = await Promise.all(
        others.map(async (endpoint) => ({ endpoint, asked: await ways.ask(endpoint, secrets, signal) })),
      )
      for (const { endpoint, asked } of answers) {
        if (asked.is === 'answer') {
          good = endpoint
          return { api: 'yes', nodes: asked.value, silentEndpoint: declared }
        }
        failed.push(asked)
      }
      good = undefined
      if (back !== undefined) failed.push(back)
      return { api: downOrUnknown(failed), message: messageOf(failed) }
    },
    client(secrets) {
      const endpoint = good ?? endpointsOf(declaration, learnt)[0]
      return endpoint === undefined ? undefined : ways.client(endpoint, secrets)
    },
    learn(addresses) {
      learnt = addresses
    },
    close: () => ways.close(),
  }
}

const TOO_LATE: Asked<never> = {
  is: 'silence',
  sent: 'maybe',
  code: 'ETIMEDOUT',
  message: 'the declared endpoint did not answer in time',
}

/** Returns the endpoint first, then every server's own address, which is in its certificate too. */
function endpointsOf({ spec }: ClusterDeclaration, learnt: readonly string[]): readonly string[] {
  const own = [...spec.servers.flatMap(({ nodeIps }) => nodeIps.slice(0, 1)), ...learnt]
  return [...new Set([endpointUrl(spec), ...own.map(addressUrl)])]
}

function addressUrl(address: string): string {
  return address.includes(':') ? `https://[${address}]:6443` : `https://${address}:6443`
}

/** Returns `no` only on proof: a host refused the connection, or an API cannot reach its etcd. */
function downOrUnknown(failed: readonly Asked<unknown>[]): 'no' | 'unknown' {
  const says = (asked: Asked<unknown>) =>
    (asked.is === 'silence' && asked.code === 'ECONNREFUSED') || (asked.is === 'error' && asked.status >= 500)
  return failed.some(says) ? 'no' : 'unknown'
}

function messageOf(failed: readonly Asked<unknown>[]): string {
  const [first] = failed
  if (first === undefined || first.is === 'answer') return 'nobody was asked'
  return first.is === 'error' ? first.refusal.message : first.message
}
