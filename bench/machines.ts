import type { Scenario } from './scenarios.ts'

/** The connection, and the permission to destroy as many machines as there are. */
export function approvedConnection(
  { endpoint, fingerprint }: { readonly endpoint: string; readonly fingerprint?: string },
  size: number,
): string {
  const pinned = fingerprint === undefined ? '' : ` fingerprint: "${fingerprint}",`
  return `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: "${endpoint}",${pinned} token: {env: PROXMOX_TOKEN}, vmids: {from: 2000, to: 4999}, limits: {creations: 32}}
---
apiVersion: croft.dev/v1alpha1
kind: Approval
metadata: {name: everything}
spec: {reason: a benchmark, maxDeletes: ${size}, expires: "2099-01-01T00:00:00Z"}
`
}

/** One of many stopped machines, dealt out to the hosts in turn. */
export function machine(at: number, memory: number, { hosts, storage }: Scenario): string {
  return `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: bench-${at}}
spec:
  deletionPolicy: Delete
  forProvider:
    nodeName: ${hosts[at % hosts.length]}
    started: false
    cpu: [{cores: 1}]
    memory: [{dedicated: ${memory}}]
    disk: [{interface: scsi0, datastoreId: ${storage}, size: 1}]
    networkDevice: [{bridge: vmbr0}]
`
}
