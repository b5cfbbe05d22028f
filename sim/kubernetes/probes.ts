import type { WireRequest, WireResponse } from '../../src/lib/wire.ts'
import { isWritable } from '../k3s/etcd.ts'
import { rightOf } from '../k3s/tokens.ts'
import type { EtcdCluster, K3sProcess } from '../world/types.ts'
import { frontStatus, json, plainText } from './status.ts'

/** What K3s itself serves on the same port, with or without an API behind it. */
export function supervise(process: K3sProcess, url: URL, request: WireRequest): WireResponse | undefined {
  const path = url.pathname
  if (path === '/ping') return plainText(200, 'pong')
  if (path === '/cacerts') return json(200, process.files.get('server-ca.crt') ?? '', 'text/plain')
  if (!path.startsWith('/v1-k3s/')) return undefined
  const header = request.headers.authorization ?? request.headers.Authorization ?? ''
  const basic = /^Basic (.+)$/.exec(header)?.[1]
  if (basic === undefined) return frontStatus(403, 'Forbidden', 'forbidden')
  const [user = '', password = ''] = Buffer.from(basic, 'base64').toString('utf8').split(':')
  const agents = process.agentPassword ?? process.password
  const right =
    user === 'node'
      ? password === agents
        ? 'agent'
        : 'none'
      : rightOf(password, process, process.computer.world.clock.now())
  if (right === 'none') return frontStatus(401, 'Unauthorized', 'not authorized')
  if (path === '/v1-k3s/server-bootstrap') {
    if (right !== 'server') return frontStatus(403, 'Forbidden', 'forbidden')
    return json(200, JSON.stringify({ keys: Object.fromEntries(BOOTSTRAP_KEYS.map((key) => [key, ''])) }))
  }
  if (path === '/v1-k3s/readyz')
    return process.phase === 'ready'
      ? plainText(200, 'ok')
      : frontStatus(503, 'ServiceUnavailable', 'runtime core not ready')
  if (path === '/v1-k3s/client-ca.crt') return json(200, process.files.get('client-ca.crt') ?? '', 'text/plain')
  if (path === '/v1-k3s/server-ca.crt') return json(200, process.files.get('server-ca.crt') ?? '', 'text/plain')
  if (path === '/v1-k3s/apiservers') return json(200, `${JSON.stringify(apiServers(process))}\n`)
  if (path === '/v1-k3s/encrypt/status') return json(200, JSON.stringify(encryptionStatus(process)))
  return json(200, JSON.stringify({ ServerNodeName: process.nodeName }))
}

const BOOTSTRAP_KEYS = (
  'ClientCA ClientCAKey ETCDPeerCA ETCDPeerCAKey ETCDServerCA ETCDServerCAKey EncryptionConfig ' +
  'EncryptionHash IPSECKey PasswdFile RequestHeaderCA RequestHeaderCAKey ServerCA ServerCAKey ' +
  'ServiceKey'
).split(' ')

function apiServers({ cluster }: K3sProcess): readonly string[] {
  return [...(cluster?.members.values() ?? [])]
    .filter(({ process }) => process?.alive === true && process.phase === 'ready')
    .map(({ address }) => `${address}:6443`)
}

export function encryptionStatus({ cluster }: K3sProcess): Record<string, unknown> {
  const encryption = cluster?.encryption
  const hashes = new Set([...(cluster?.members.values() ?? [])].map(({ process }) => process?.encryptionHash))
  hashes.delete(undefined)
  return {
    stage: encryption?.stage,
    activekey: `AES-CBC ${encryption?.key}`,
    enable: encryption?.enabled,
    hashmatch: hashes.size <= 1,
  }
}

const CHECKS = [
  'ping',
  'log',
  'etcd',
  'etcd-readiness',
  'kms-providers',
  'informer-sync',
  'poststarthook/start-apiextensions-informers',
  'poststarthook/bootstrap-controller',
  'shutdown',
]

/** Health of the API as it sees itself: 500 with the list while something is not well. */
export function probe(process: K3sProcess, cluster: EtcdCluster, url: URL): WireResponse | undefined {
  if (!/^\/(readyz|livez|healthz)$/.test(url.pathname)) return undefined
  const etcd = isWritable(cluster) || process.sickSinceMs === undefined
  const failed = (check: string) =>
    (check.startsWith('etcd') && !etcd) || (check.startsWith('poststarthook/') && process.phase !== 'ready')
  const bad = CHECKS.some(failed)
  const lines = CHECKS.map((check) => (failed(check) ? `[-]${check} failed: reason withheld` : `[+]${check} ok`)).join(
    '\n',
  )
  const name = url.pathname.slice(1)
  if (bad) return plainText(500, `${lines}\n${name} check failed\n`)
  return plainText(200, url.searchParams.has('verbose') ? `${lines}\n${name} check passed\n` : 'ok')
}
