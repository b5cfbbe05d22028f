import { find } from '../kubernetes/store.ts'
import { between } from '../world/chance.ts'
import type { EtcdCluster, K3sProcess } from '../world/types.ts'
import { flagText } from './config-file.ts'
import { CLIENT_KUBELET, DATA, kubeletLeaf } from './disk.ts'
import { isWritable } from './etcd.ts'
import { kubeletStarts } from './kubelet.ts'
import { hostOf, serverAt } from './network.ts'
import { admitAgent } from './node-password.ts'
import { after, sinceStart } from './process.ts'
import { givenToken, isShort, mayBeAgent, TRUST_WARNING, tokenProblem } from './tokens.ts'

export const PASSWORD_REJECTED =
  "Node password rejected, duplicate hostname or contents of '/etc/rancher/node/password' may not match server node-passwd entry, try enabling a unique node name with the --with-node-id flag"

/** `k3s agent`: tries for ever. It gives up only on what no waiting can change: no server, no token. */
export function startAgent(process: K3sProcess): void {
  const { files } = process.computer.machine
  const url = flagText(process.flags, 'server')
  const token = givenToken(process.flags, files, 'token')
  if (token === '') {
    sinceStart(process, 810, () => process.exit(1, 'fatal', 'Error: --token is required'))
    return
  }
  if (url === '') {
    sinceStart(process, 450, () => process.exit(1, 'fatal', 'Error: --server is required'))
    return
  }
  sinceStart(process, 200, () => {
    const host = hostOf(url)
    process.log('info', `Starting k3s agent ${process.version}`)
    process.log('info', `Updated load balancer k3s-agent-load-balancer default server: ${host}:6443`)
    process.log('info', `Running load balancer k3s-agent-load-balancer 127.0.0.1:6444 -> [] [default: ${host}:6443]`)
    validate(process, url, token, false)
  })
}

function validate(process: K3sProcess, url: string, token: string, warned: boolean): void {
  const { world } = process.computer
  const again = (afterMs: number, why: string) => {
    process.log('error', `Failed to validate connection to cluster at ${url}: ${why}`)
    after(process, afterMs, () => validate(process, url, token, warned))
  }
  if (!url.startsWith('https://')) {
    again(2_000, 'only https:// URLs are supported, invalid scheme: http://127.0.0.1:6444')
    return
  }
  const server = serverAt(world, hostOf(url))
  if (server === undefined) {
    after(process, 6_000, () =>
      again(
        2_000,
        'failed to get CA certs: Get "https://127.0.0.1:6444/cacerts": read tcp 127.0.0.1:50070->127.0.0.1:6444: read: connection reset by peer',
      ),
    )
    return
  }
  const problem = tokenProblem(token, server, world.clock.now())
  if (problem !== undefined) {
    again(2_000, problem)
    return
  }
  if (isShort(token) && !warned) process.log('warning', TRUST_WARNING)
  retrieve(process, url, token)
}

/** Asks for its configuration and its certificates. */
function retrieve(process: K3sProcess, url: string, token: string): void {
  const { world } = process.computer
  const wait = (why: string, ms: number) => {
    process.log('info', `Waiting to retrieve agent configuration; server is not ready: ${why}`)
    after(process, ms, () => validate(process, url, token, true))
  }
  const server = serverAt(world, hostOf(url))
  const cluster = server?.cluster
  if (server === undefined || cluster === undefined) {
    wait('failed to retrieve configuration from server: EOF', 5_000)
    return
  }
  if (!mayBeAgent(token, server, world.clock.now()) && !isMember(process, cluster)) {
    wait('failed to retrieve configuration from server: not authorized', between(world.random, [7_000, 10_000]))
    return
  }
  if (
    !isWritable(cluster) ||
    server.phase === 'supervisor' ||
    server.phase === 'waiting' ||
    server.phase === 'removed'
  ) {
    wait('failed to retrieve configuration from server: runtime core not ready', 5_000)
    return
  }
  if (!admitAgent(process, cluster)) {
    wait(`/var/lib/rancher/k3s/agent/serving-kubelet.crt: ${PASSWORD_REJECTED}`, between(world.random, [8_400, 10_500]))
    return
  }
  runs(process, cluster)
}

/** One that is in shows the certificate of its kubelet: its token may have expired or gone since, its Node may not. */
function isMember(process: K3sProcess, cluster: EtcdCluster): boolean {
  const { files } = process.computer.machine
  const copy = files.text(`${DATA}/agent/server-ca.crt`)
  if (
    files.read(CLIENT_KUBELET) === undefined ||
    copy === undefined ||
    copy !== cluster.bootstrap.files.get('server-ca.crt')
  )
    return false
  return find(cluster.store, '/nodes', undefined, process.nodeName) !== undefined
}

function runs(process: K3sProcess, cluster: EtcdCluster): void {
  const { world } = process.computer
  const { files } = process.computer.machine
  process.cluster = cluster
  files.write(`${DATA}/agent/server-ca.crt`, cluster.bootstrap.files.get('server-ca.crt') ?? '')
  files.write(CLIENT_KUBELET, kubeletLeaf(files, process.nodeName, world.clock.now()))
  const leftMs = process.startedMs + between(world.random, world.k3s.timing.agentNodeMs) - world.clock.now()
  after(process, Math.max(1_500, leftMs), () => {
    process.phase = 'ready'
    kubeletStarts(process, cluster)
    after(process, 600, () => process.ready())
  })
}
