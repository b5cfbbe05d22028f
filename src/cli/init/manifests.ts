import { RELEASES } from '../../k3s/releases.ts'
import { ipv4Number, ipv4Text } from '../../kinds/fields/address.ts'
import { type Draft, printDrafts } from '../../source/foreign/draft.ts'
import type { FreeRange } from './propose.ts'

/** All decisions of a first estate. */
export interface Choices {
  readonly hosts: readonly string[]
  readonly bridge: string
  readonly disks: string
  readonly files: string
  readonly network: string
  readonly gateway: string
  readonly nameServers: readonly string[]
  /** The first is that of the Kubernetes API, the others are for machines. */
  readonly addresses: FreeRange
  readonly cluster: string
  readonly servers: number
  readonly k3s: string
  /** Login to the nodes without croft. Absent: none. */
  readonly login: { readonly user: string; readonly sshKey: string } | undefined
}

const UBUNTU = 'https://cloud-images.ubuntu.com/noble/current/noble-server-cloudimg-amd64.img'
const KUBE_VIP = 'v1.0.3'

/** The newest known patch of the minor before the newest: what most people run by then. Pure. */
export function usualRelease(): string {
  const newest = RELEASES.at(-1)?.minor ?? 0
  return RELEASES.findLast(({ minor }) => minor < newest)?.version ?? ''
}

/** Returns the manifest of the connection to Proxmox. */
export function connectionManifest(endpoint: string, fingerprint: string | undefined, tokenVariable: string): string {
  return printDrafts([
    manifest('Proxmox', 'default', {
      endpoint,
      ...(fingerprint === undefined ? {} : { fingerprint }),
      token: { env: tokenVariable },
    }),
  ])
}

/** Returns manifests that clusters need: hosts with their local names, addresses, an image and a machine size. */
export function groundManifests(choices: Choices): string {
  const { hosts, bridge, disks, files, network, gateway, nameServers, addresses, login } = choices
  const bindings = { networks: { lan: { bridge } }, storages: { fast: disks, files } }
  const from = ipv4Text(ipv4Number(addresses.from) + 1)
  return printDrafts([
    ...hosts.map((host) => manifest('Host', host, { bindings })),
    manifest('AddressPool', 'nodes', { cidr: network, ranges: [{ from, to: addresses.to }] }),
    manifest('Network', 'lan', {
      addressPool: 'nodes',
      gateway,
      dns: { servers: nameServers.length > 0 ? nameServers : [gateway] },
    }),
    manifest('Image', 'noble', { url: UBUNTU, fileName: 'noble-server-cloudimg-amd64.qcow2', storage: 'files' }, [
      'Ubuntu 24.04. Pin a dated file with its checksum when you depend on it: croft explain image.spec.checksum',
    ]),
    manifest('MachineClass', 'server', {
      cpu: { cores: 2 },
      memory: '4Gi',
      disks: [{ size: '40Gi', image: 'noble', storage: 'fast' }],
      ...(login === undefined ? {} : { user: login.user, sshKeys: [login.sshKey] }),
    }),
  ])
}

export function clusterManifest({ cluster, k3s, hosts, servers, addresses }: Choices): string {
  return printDrafts([
    manifest('Cluster', cluster, {
      version: k3s,
      endpoint: { vip: addresses.from, kubeVip: { version: KUBE_VIP } },
      network: 'lan',
      class: 'server',
      servers: Array.from({ length: servers }, (_, at) => ({
        name: `${cluster}-${at + 1}`,
        host: hosts[at % hosts.length] ?? '',
      })),
    }),
  ])
}

function manifest(kind: string, name: string, spec: unknown, comments: readonly string[] = []): Draft {
  return { manifest: { apiVersion: 'croft.dev/v1alpha1', kind, metadata: { name }, spec }, comments }
}
