import { releaseChecksum } from '../sim/k3s/install.ts'

/**
 * What the clusters of tests stand on: addresses, the network `lan`, an image, the machine class `node`, and hosts of
 * the simulator with what the network and the storages are called there.
 */
export function clusterGround(
  hosts: readonly string[],
  addresses: { readonly from: string; readonly to: string },
): string {
  return `apiVersion: croft.dev/v1alpha1
kind: AddressPool
metadata: {name: nodes}
spec: {cidr: 192.168.4.0/24, ranges: [{from: ${addresses.from}, to: ${addresses.to}}]}
---
apiVersion: croft.dev/v1alpha1
kind: Network
metadata: {name: lan}
spec: {addressPool: nodes, gateway: 192.168.4.1, dns: {servers: [192.168.4.1], domain: home.arpa}}
---
apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: noble}
spec:
  url: https://cloud-images.ubuntu.com/noble/current/noble-server-cloudimg-amd64.img
  fileName: noble-server-cloudimg-amd64.qcow2
  storage: files
---
apiVersion: croft.dev/v1alpha1
kind: MachineClass
metadata: {name: node}
spec: {cpu: {cores: 2}, memory: 4Gi, disks: [{size: 40Gi, image: noble, storage: fast}]}
${hosts.map((name) => hostOn(name)).join('')}`
}

/** The same with the cluster `homelab` of one server, and of one agent where that is wanted. */
export function oneServer({ agent = false }: { readonly agent?: boolean } = {}): string {
  const version = 'v1.34.3+k3s1'
  return `${clusterGround(['pumped-piglet'], { from: '192.168.4.80', to: '192.168.4.99' })}---
apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: homelab}
spec:
  version: ${version}
  endpoint: {vip: 192.168.4.79, kubeVip: {version: v1.0.3}}
  network: lan
  class: node
  allow: {degraded: true}
  servers: [{name: s1, host: pumped-piglet}]
${agent ? '  agents: [{name: a1, host: pumped-piglet}]\n' : ''}  checksums: {${version}/amd64: ${releaseChecksum(version)}}
`
}

function hostOn(name: string): string {
  return `---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: ${name}}
spec:
  bindings: {networks: {lan: {bridge: vmbr0}}, storages: {fast: local-zfs, files: local}}
`
}
