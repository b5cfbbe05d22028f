import { releaseChecksum } from '../../sim/k3s/install.ts'
import { clusterGround } from '../cluster-ground.ts'

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
  const ground = clusterGround(hosts, { from: '192.168.4.220', to: '192.168.4.239' })
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
  class: node
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
