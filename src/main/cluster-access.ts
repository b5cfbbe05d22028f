import { readFileSync } from 'node:fs'
import type { ClusterAccess, ClusterPlace } from '../cli/runtime.ts'
import type { KubernetesLogin } from '../drivers/release-port.ts'
import { LIMITS } from '../lib/limits.ts'
import { openTlsWire } from '../lib/tls-wire.ts'
import { proxyFor } from '../lib/tunnel.ts'
import type { Wire } from '../lib/wire.ts'
import { Secret } from '../model/secret.ts'

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
/** Watches hold one connection each, for as long as they last. */
const WAY = {
  maxSockets: 128,
  idleMs: LIMITS.idleClusterConnectionMs,
  timeouts: { connectMs: LIMITS.connectTimeoutMs, requestMs: LIMITS.requestTimeoutMs },
}

/** The way to the API of a cluster: by a kubeconfig, or as the pod that we are in. */
export async function openCluster(place: ClusterPlace, env: NodeJS.ProcessEnv): Promise<ClusterAccess> {
  if (place.kubeconfig !== undefined) return byKubeconfig(place.kubeconfig, place.context, env)
  const [host, port] = [env.KUBERNETES_SERVICE_HOST, env.KUBERNETES_SERVICE_PORT]
  if (host === undefined || port === undefined)
    return { problem: 'this is not a pod of a cluster; name a kubeconfig with --kubeconfig' }
  const endpoint = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
  const wire = openTlsWire({ ...WAY, endpoint, authority: file('ca.crt') })
  return { wire: withToken(wire), namespace: file('namespace').trim() }
}

/** Returns the login of the surrounding pod. */
export function insideLogin(env: NodeJS.ProcessEnv): KubernetesLogin | { readonly problem: string } {
  const [host, port] = [env.KUBERNETES_SERVICE_HOST, env.KUBERNETES_SERVICE_PORT]
  if (host === undefined || port === undefined) return { problem: 'this is not a pod of a cluster' }
  return {
    endpoint: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    caPem: file('ca.crt'),
    token: new Secret(file('token').trim()),
  }
}

async function byKubeconfig(name: string, context: string | undefined, env: NodeJS.ProcessEnv): Promise<ClusterAccess> {
  const { readKubeconfig } = await import('../kubernetes/kubeconfig.ts')
  let text: string
  try {
    text = readFileSync(name, 'utf8')
  } catch (error) {
    return {
      problem: `the kubeconfig ${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    }
  }
  const access = readKubeconfig(text, context)
  if ('problem' in access) return { problem: `the kubeconfig ${name} cannot be used: ${access.problem}` }
  const { endpoint, caPem, certificatePem, key } = access
  const client = { certificate: certificatePem, key: key.reveal() }
  const proxy = proxyFor(endpoint, env)
  const wire = openTlsWire({ ...WAY, endpoint, authority: caPem, client, ...(proxy === undefined ? {} : { proxy }) })
  return { wire }
}

/** The kubelet writes a new token long before the old one ends: it is read for each call. */
function withToken(wire: Wire): Wire {
  const authorized = <R extends { readonly headers: Readonly<Record<string, string>> }>(request: R): R => ({
    ...request,
    headers: { ...request.headers, authorization: `Bearer ${file('token').trim()}` },
  })
  return {
    send: (request, signal) => wire.send(authorized(request), signal),
    ...(wire.stream === undefined
      ? {}
      : {
          stream: (request, onText, signal) =>
            wire.stream?.(authorized(request), onText, signal) ?? Promise.reject(new Error('no stream')),
        }),
    close: () => wire.close(),
  }
}

function file(name: string): string {
  return readFileSync(`${ACCOUNT}/${name}`, 'utf8')
}
