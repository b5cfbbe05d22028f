import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The hosts that `croft sim` has unless told otherwise, in its order: it deals its guests out to them in turn. */
const HOSTS = ['pumped-piglet', 'still-fawn', 'fun-bedbug']
const FIRST_VMID = 1000

/**
 * Declares the guests that `croft sim --vms COUNT` makes, one file for each, as a person with many machines would have
 * them. A tree has at most 5,000 files, so the connection shares the first one.
 */
export function writeEstate(
  directory: string,
  count: number,
  connection: { readonly endpoint: string; readonly fingerprint: string },
): void {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  for (let index = 0; index < count; index++) {
    const vmid = FIRST_VMID + index
    const text = machine(vmid, HOSTS[index % HOSTS.length] ?? '')
    writeFileSync(join(directory, `vm-${vmid}.yaml`), index === 0 ? `${proxmox(connection)}---\n${text}` : text)
  }
}

function proxmox(connection: { readonly endpoint: string; readonly fingerprint: string }): string {
  // With an Estate of its own, croft writes no further file into a directory that is as large as one may be.
  return `apiVersion: croft.dev/v1alpha1
kind: Estate
metadata:
  name: bench
spec:
  uid: "0123456789abcdef"
---
apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata:
  name: default
spec:
  endpoint: ${connection.endpoint}
  fingerprint: "${connection.fingerprint}"
  token:
    env: PROXMOX_TOKEN
`
}

function machine(vmid: number, host: string): string {
  return `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata:
  name: vm-${vmid}
  annotations:
    crossplane.io/external-name: "${vmid}"
spec:
  forProvider:
    nodeName: ${host}
    name: vm-${vmid}
    vmId: ${vmid}
    started: true

    cpu:
      cores: 2
    memory:
      dedicated: 2048

    operatingSystem:
      type: l26
    scsiHardware: virtio-scsi-pci
    disk:
      - interface: scsi0
        datastoreId: local-zfs
        size: 10

    networkDevice:
      - bridge: vmbr0
        model: virtio

    agent:
      enabled: true

  providerConfigRef:
    name: default
`
}
