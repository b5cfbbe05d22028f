import { releaseChecksum } from '../../src/sim/k3s/install.ts'

const VERSION = 'v1.34.3+k3s1'

/** One machine on a host of the simulator's preset `homelab`. */
export const MACHINE = `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: web}
spec:
  forProvider:
    nodeName: still-fawn
    vmId: 120
    started: true
    disk: [{interface: scsi0, datastoreId: local-zfs, size: 8}]
`

/** A cluster of three servers and what it stands on, for the hosts of the simulator's preset `hosts`. */
export function clusterManifests(hosts: readonly string[], version = VERSION): Readonly<Record<string, string>> {
  const ground = `apiVersion: croft.dev/v1alpha1
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
  fileName: noble-server-cloudimg-amd64.qcow2
  storage: files
---
apiVersion: croft.dev/v1alpha1
kind: MachineClass
metadata: {name: server}
spec: {cpu: {cores: 2}, memory: 4Gi, disks: [{size: 40Gi, image: noble, storage: fast}]}
${hosts
  .map(
    (name) => `---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: ${name}}
spec:
  bindings: {networks: {lan: {bridge: vmbr0}}, storages: {fast: local-zfs, files: local}}
`,
  )
  .join('')}`
  const servers = ['edge-1', 'edge-2', 'edge-3'].map(
    (name, index) => `    - {name: ${name}, host: ${hosts[index % hosts.length]}}`,
  )
  const cluster = `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: edge}
spec:
  version: ${version}
  endpoint: {vip: 192.168.4.219, kubeVip: {version: v1.0.3}}
  network: lan
  class: server
  servers:
${servers.join('\n')}
  checksums: {${[...new Set([VERSION, version])].map((one) => `${one}/amd64: ${releaseChecksum(one)}`).join(', ')}}
  upgrade: {soak: 20s}
`
  const check = `apiVersion: croft.dev/v1alpha1
kind: HealthCheck
metadata: {name: edge}
spec: {cluster: edge, every: 5s}
`
  return { 'ground.yaml': ground, 'cluster.yaml': cluster, 'check.yaml': check }
}
