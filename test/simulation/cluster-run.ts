import type { Datacentre } from '../../sim/datacentre.ts'
import { releaseChecksum } from '../../sim/k3s/install.ts'
import { kubernetesWire } from '../../sim/kubernetes/wire.ts'
import { metalShell } from '../../sim/metal/shell.ts'
import type { ClusterVault } from '../../src/drivers/cluster-port.ts'
import type { Wire } from '../../src/lib/wire.ts'
import type { ClusterSecrets } from '../../src/model/cluster.ts'
import type { Estate } from '../../src/model/estate.ts'
import { clusterGround } from '../cluster-ground.ts'
import { estateFrom } from './manifests.ts'
import type { ClusterWays } from './process.ts'
import { type Simulation, type SimulationOptions, simulate } from './run.ts'

/** A vault without a disk: what it holds outlives every process of a run. */
export function memoryVault(): ClusterVault & { readonly kept: Map<string, ClusterSecrets> } {
  const kept = new Map<string, ClusterSecrets>()
  return {
    kept,
    read: async (cluster) => kept.get(cluster),
    write: async (secrets) => {
      kept.set(secrets.cluster, secrets)
    },
  }
}

/** A run with the ways to simulated clusters. */
export function simulateCluster(
  options: Omit<SimulationOptions, 'clusters'> & {
    readonly power?: (datacentre: Datacentre) => ClusterWays['power']
    /** Stands between croft and the API of a cluster. */
    readonly onKubernetes?: (wire: Wire, endpoint: string) => Wire
  },
): Simulation & { readonly vault: ReturnType<typeof memoryVault> } {
  const vault = memoryVault()
  const ways = (datacentre: Datacentre): ClusterWays => ({
    ...powerWays(options.power?.(datacentre)),
    ...kubernetesWays(datacentre),
  })
  const kubernetesWays = ({ world }: Datacentre): ClusterWays => ({
    vault,
    openKubernetes: (target) => {
      const wire = kubernetesWire(world, target)
      return options.onKubernetes?.(wire, target.endpoint) ?? wire
    },
    openShell: (name) => metalShell(world, name),
    fetchText: async (url) => checksums(url),
  })
  return Object.assign(simulate({ preset: 'hosts', ...options, clusters: ways }), { vault })
}

function powerWays(power: ClusterWays['power']): Pick<ClusterWays, 'power'> {
  return power === undefined ? {} : { power }
}

/** The file of checksums that stands beside every release. */
function checksums(url: string): string {
  const version = decodeURIComponent(/\/(v[^/]+)\/sha256sum-/.exec(url)?.[1] ?? '')
  return ['k3s', 'k3s-arm64'].map((name) => `${releaseChecksum(version)}  ${name}\n`).join('')
}

/** The hosts, the network and the image that the clusters of these tests stand on. */
const GROUND = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec:
  endpoint: https://127.0.0.1:8006
  token: {env: PROXMOX_TOKEN}
---
${clusterGround([], { from: '192.168.4.80', to: '192.168.4.99' })}`

function host(name: string, more: string): string {
  return `---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: ${name}}
spec:
  wake: {mac: "${macOf(name)}"}
${more}  bindings:
    networks: {lan: {bridge: vmbr0}}
    storages: {fast: local-zfs, files: local}
`
}

/** What a host is woken by. */
export function macOf(name: string): string {
  return `bc:24:11:00:00:0${1 + (HOSTS as readonly string[]).indexOf(name)}`
}

export const HOSTS = ['pumped-piglet', 'still-fawn', 'fun-bedbug'] as const

/** A cluster whose servers stand on one host each. */
export function clusterManifest(
  more: {
    readonly servers?: readonly string[]
    readonly agents?: readonly string[]
    readonly spec?: string
    readonly version?: string
  } = {},
): string {
  const { servers = ['s1', 's2', 's3'], agents = [], version = 'v1.34.3+k3s1', spec = '' } = more
  const node = (name: string, index: number) => `    - {name: ${name}, host: ${HOSTS[index % HOSTS.length]}}\n`
  return `---
apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: homelab}
spec:
  version: ${version}
  endpoint: {vip: 192.168.4.79, kubeVip: {version: v1.0.3}}
  network: lan
  class: node
  servers:
${servers.map(node).join('')}${agents.length === 0 ? '' : `  agents:\n${agents.map(node).join('')}`}${spec}`
}

/** The same as text, for tests that parse it themselves. */
export const GROUND_AND_HOSTS = `${GROUND}${HOSTS.map((name) => host(name, '')).join('')}`

/** Reads manifests as Git would give them. Throws where they are not valid: a test of nothing proves nothing. */
export function clusterEstate(manifests: string, hostLines: (name: string) => string = () => ''): Estate {
  const hosts = HOSTS.map((name) => host(name, hostLines(name))).join('')
  const estate = estateFrom({ 'estate.yaml': `${GROUND}${hosts}${manifests}` })
  const errors = estate.problems.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(errors.map(({ message, field }) => `${field}: ${message}`).join('\n'))
  return estate
}
