import { linkRevision } from '../../src/controller/sources/link-revision.ts'
import type { Estate } from '../../src/model/estate.ts'
import { createParseCache } from '../../src/source/files/parse-cache.ts'
import { readFiles } from '../../src/source/files/read-files.ts'

/** One machine of a simulated estate, in the words that matter to the simulation. */
export interface Wanted {
  readonly name: string
  readonly host: string
  /** Declared id; without it croft chooses one. */
  readonly vmid?: number
  readonly memory?: number
  readonly diskGb?: number
  readonly deletion?: 'Delete' | 'Orphan'
  readonly started?: boolean
}

export const IMAGE = 'noble-server-cloudimg-amd64.qcow2'

/** Three servers with declared ids and three agents whose ids croft chooses, over three hosts. */
export const SIX: readonly Wanted[] = [
  { name: 'server-1', host: 'pumped-piglet', vmid: 201 },
  { name: 'server-2', host: 'still-fawn', vmid: 202 },
  { name: 'server-3', host: 'fun-bedbug', vmid: 203 },
  { name: 'agent-1', host: 'pumped-piglet' },
  { name: 'agent-2', host: 'still-fawn' },
  { name: 'agent-3', host: 'fun-bedbug' },
]

const connection = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec:
  endpoint: https://127.0.0.1:8006
  token: {env: PROXMOX_TOKEN}
  vmids: {from: 300, to: 399}
`

/** The image that the machines here are made from, on one host. */
export function imageOn(host: string): string {
  return `apiVersion: virtualenvironmentdownloadfile.crossplane.io/v1alpha1
kind: EnvironmentDownloadFile
metadata: {name: noble-${host}}
spec:
  forProvider:
    nodeName: ${host}
    datastoreId: local
    contentType: import
    fileName: ${IMAGE}
    url: https://cloud-images.ubuntu.com/noble/current/${IMAGE}
`
}

function vm(wanted: Wanted): string {
  return `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: ${wanted.name}}
spec:
  deletionPolicy: ${wanted.deletion ?? 'Delete'}
  forProvider:
    nodeName: ${wanted.host}
    name: ${wanted.name}
    ${wanted.vmid === undefined ? '' : `vmId: ${wanted.vmid}`}
    started: ${wanted.started ?? true}
    cpu: [{cores: 2, type: host}]
    memory: [{dedicated: ${wanted.memory ?? 2048}}]
    agent: [{enabled: true}]
    disk: [{interface: scsi0, datastoreId: local, size: ${wanted.diskGb ?? 20}, importFrom: "local:import/${IMAGE}"}]
    networkDevice: [{bridge: vmbr0, model: virtio}]
    initialization: [{datastoreId: local, userAccount: [{username: ubuntu}], ipConfig: [{ipv4: [{address: dhcp}]}]}]
`
}

const cache = createParseCache()
const encoder = new TextEncoder()

/** Reads files as the product does: text in, estate out. */
export function estateFrom(files: Readonly<Record<string, string>>): Estate {
  const read = readFiles({
    files: Object.entries(files).map(([path, text]) => ({ path, bytes: encoder.encode(text) })),
    links: [],
    cache,
  })
  return linkRevision(read)
}

/** The files that declare these machines and the images they are made from. */
export function filesOf(
  machines: readonly Wanted[],
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const hosts = [...new Set(machines.map((machine) => machine.host))]
  return {
    'connection.yaml': connection,
    ...Object.fromEntries(hosts.map((host) => [`images/${host}.yaml`, imageOn(host)])),
    ...Object.fromEntries(machines.map((machine) => [`machines/${machine.name}.yaml`, vm(machine)])),
    ...more,
  }
}

const estates = new Map<string, Estate>()

/** The estate that declares exactly these machines. Read once: thousands of runs share it. */
export function estateOf(machines: readonly Wanted[]): Estate {
  const name = JSON.stringify(machines)
  const known = estates.get(name)
  if (known !== undefined) return known
  const made = estateFrom(filesOf(machines))
  const wrong = made.problems.filter((problem) => problem.severity === 'error')
  if (wrong.length > 0) throw new Error(wrong.map((problem) => problem.message).join('\n'))
  estates.set(name, made)
  return made
}
