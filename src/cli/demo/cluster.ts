import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { cleanLines } from '../render/text.ts'
import type { RunningSimulator } from '../runtime.ts'
import { narrate } from './narrate.ts'
import { type Scene, SceneFailed, type Stage } from './scene.ts'

const VERSION = 'v1.34.3+k3s1'
export const SERVERS = ['edge-1', 'edge-2', 'edge-3']
const GROUND_FILE = 'edge/ground.yaml'
const CLUSTER_FILE = 'edge/cluster.yaml'

export const cluster: Scene = {
  title: 'A cluster that croft makes: one declaration, one push, two servers',
  async play(stage) {
    const { style, simulator } = stage
    const manifest = clusterManifest(simulator, 2)
    write(stage, GROUND_FILE, groundManifest(simulator.hosts()))
    write(stage, CLUSTER_FILE, manifest)
    stage.say(`${style.paint('dim', '$')} cat ${CLUSTER_FILE}`)
    stage.say(style.paint('dim', cleanLines(manifest).replace(/^/gm, '    ')))
    const seconds = await pushed(stage, 'Add the cluster edge')
    verifyServers(stage, SERVERS.slice(0, 2))
    stage.say(
      `\n${style.paint('green', '✔')} two control-plane nodes Ready ${style.paint('bold', `${seconds} s`)} after the push ` +
        '(simulated; a machine takes its time to boot).',
    )
    stage.say('  Nobody logged in anywhere, and no disk of theirs ever held a token.')
  },
}

export const thirdServer: Scene = {
  title: 'It grows to three servers: one line, one push',
  async play(stage) {
    const { style, simulator } = stage
    write(stage, CLUSTER_FILE, clusterManifest(simulator, 3))
    stage.say(`${style.paint('dim', '$')} git diff`)
    stage.say(style.paint('green', `+${serverLine(simulator.hosts(), 2)}`))
    stage.say(style.paint('red', `-${DEGRADED}`))
    const seconds = await pushed(stage, 'Add a third server to edge')
    verifyServers(stage, SERVERS)
    stage.say(
      `\n${style.paint('green', '✔')} three votes in etcd ${style.paint('bold', `${seconds} s`)} after the push: ` +
        'from now on the cluster survives the loss of one server.',
    )
  },
}

/** Pushes and syncs the changes, and returns the simulated seconds that it took. */
async function pushed(stage: Stage, message: string): Promise<number> {
  const commit = await stage.repository.push(message)
  stage.say(`${stage.style.paint('dim', '$')} git commit -m "${message}" && git push   ${commit.slice(0, 7)}`)
  const narrator = narrate(stage)
  const began = stage.clock.now()
  await stage.sync({
    ...narrator,
    plan: (plan) => narrator.tell(`planned: ${plan.entries.length} things and a cluster`),
  })
  return Math.round((stage.clock.now() - began) / 1000)
}

/** Verifies behind every API, independently of croft's own knowledge. */
export function verifyServers({ simulator }: Stage, servers: readonly string[]): void {
  const nodes = simulator.nodes()
  const missing = servers.filter((name) => !nodes.some((node) => node.name === name && node.ready && node.votes))
  if (missing.length > 0) throw new SceneFailed(`in the datacentre itself not Ready with a vote: ${missing.join(', ')}`)
}

function write({ repository }: Stage, file: string, text: string): void {
  mkdirSync(path.dirname(path.join(repository.directory, file)), { recursive: true })
  writeFileSync(path.join(repository.directory, file), text)
}

/** Returns manifests that clusters need: network and storage names of each host, addresses, an image, a size. */
function groundManifest(hosts: readonly string[]): string {
  const bound = hosts.map(
    (name) => `---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: ${name}}
spec:
  bindings: {networks: {lan: {bridge: vmbr0}}, storages: {fast: local-zfs, files: local}}
`,
  )
  return `apiVersion: croft.dev/v1alpha1
kind: AddressPool
metadata: {name: edge}
spec: {cidr: 192.168.4.0/24, ranges: [{from: 192.168.4.220, to: 192.168.4.239}]}
---
apiVersion: croft.dev/v1alpha1
kind: Network
metadata: {name: lan}
spec: {addressPool: edge, gateway: 192.168.4.1, dns: {servers: [192.168.4.1], domain: home.arpa}}
---
apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: noble}
spec:
  url: https://cloud-images.ubuntu.com/noble/current/noble-server-cloudimg-amd64.img
  fileName: noble-edge.qcow2
  storage: files
---
apiVersion: croft.dev/v1alpha1
kind: MachineClass
metadata: {name: server}
spec: {cpu: {cores: 2}, memory: 4Gi, disks: [{size: 40Gi, image: noble, storage: fast}]}
${bound.join('')}`
}

/** croft refuses an even number of servers without this consent. */
const DEGRADED = '  allow: {degraded: true}'

function serverLine(hosts: readonly string[], index: number): string {
  return `    - {name: ${SERVERS[index]}, host: ${hosts[index % hosts.length]}}`
}

function clusterManifest(simulator: RunningSimulator, count: number): string {
  const servers = SERVERS.slice(0, count).map((_, index) => serverLine(simulator.hosts(), index))
  const sha256 = simulator.releaseChecksum(VERSION)
  return `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: edge}
spec:
  version: ${VERSION}
  endpoint: {vip: 192.168.4.219, kubeVip: {version: v1.0.3}}
  network: lan
  class: server
  servers:
${servers.join('\n')}
${count === 2 ? `${DEGRADED}\n` : ''}  checksums: {${VERSION}/amd64: ${sha256}}
`
}
