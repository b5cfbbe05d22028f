import type { Random } from '../src/lib/random.ts'
import { IMAGE, imageOn } from './simulation/manifests.ts'

/** A machine with every field that the generator changes. */
export interface Machine {
  readonly name: string
  readonly host: string
  readonly vmid?: number
  /** An existing guest to take over. */
  readonly external?: number
  readonly shownName: string
  readonly cores: number
  readonly memory: number
  readonly tags: readonly string[]
  readonly description?: string
  readonly diskGb: number
  readonly onBoot: boolean
  readonly started: boolean
  readonly deletion: 'Delete' | 'Orphan'
  /** Blocks as lists, as Crossplane's own examples have them, or as single objects. */
  readonly lists: boolean
}

export const HOSTS = ['pumped-piglet', 'still-fawn', 'fun-bedbug'] as const

const CONNECTION = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec:
  endpoint: https://127.0.0.1:8006
  token: {env: PROXMOX_TOKEN}
  vmids: {from: 300, to: 399}
`

/** The files that declare these machines. With `images`, also the image on each of their hosts. */
export function filesFor(machines: readonly Machine[], images: boolean): Record<string, string> {
  const hosts = images ? [...new Set(machines.map(({ host }) => host))] : []
  return {
    'connection.yaml': CONNECTION,
    ...Object.fromEntries(hosts.map((host) => [`image-${host}.yaml`, imageOn(host)])),
    ...Object.fromEntries(machines.map((machine) => [`${machine.name}.yaml`, machineText(machine)])),
  }
}

/** Between one and five machines, some with an id of their own, on any of the hosts. */
export function drawMachines(random: Random): readonly Machine[] {
  return Array.from({ length: 1 + below(random, 5) }, (_, index) => drawMachine(random, `m-${index + 1}`, index))
}

/** The same estate a commit later: some machines changed, perhaps one more, perhaps one fewer. */
export function drawNext(random: Random, before: readonly Machine[], round: number): readonly Machine[] {
  const changed = before.map((machine) => (below(random, 3) === 0 ? machine : changeMachine(random, machine)))
  const gone = changed.length > 1 && below(random, 3) === 0 ? below(random, changed.length) : -1
  const kept = changed.filter((_, index) => index !== gone)
  return below(random, 3) === 0 ? [...kept, drawMachine(random, `n-${round}`, 20 + round)] : kept
}

function drawMachine(random: Random, name: string, index: number): Machine {
  return {
    name,
    host: pick(random, HOSTS),
    ...(below(random, 2) === 0 ? { vmid: 200 + index } : {}),
    shownName: name,
    cores: 1 + below(random, 4),
    memory: 512 * (1 + below(random, 8)),
    tags: drawTags(random),
    // Three and a half is how large the image is: a disk that stays that size needs no growing.
    diskGb: 4 + below(random, 40),
    onBoot: below(random, 2) === 0,
    started: below(random, 4) > 0,
    deletion: below(random, 4) > 0 ? 'Delete' : 'Orphan',
    lists: below(random, 2) === 0,
  }
}

function changeMachine(random: Random, machine: Machine): Machine {
  const changes: readonly ((before: Machine) => Machine)[] = [
    (before) => ({ ...before, memory: 512 * (1 + below(random, 8)) }),
    (before) => ({ ...before, cores: 1 + below(random, 4) }),
    (before) => ({ ...before, tags: drawTags(random) }),
    (before) => ({ ...before, diskGb: before.diskGb + 1 + below(random, 10) }),
    (before) => ({ ...before, shownName: `${before.name}-${below(random, 9)}` }),
    (before) => ({ ...before, onBoot: !before.onBoot }),
    (before) => ({ ...before, started: !before.started }),
    (before) => ({ ...before, description: `note ${below(random, 9)} = 50 % & "more"` }),
    (before) => ({ ...before, lists: !before.lists }),
    (before) => ({ ...before, deletion: before.deletion === 'Delete' ? 'Orphan' : 'Delete' }),
  ]
  let next = machine
  for (let count = 1 + below(random, 3); count > 0; count--) next = pick(random, changes)(next)
  return next
}

function drawTags(random: Random): readonly string[] {
  return ['db', 'web', 'prod', 'k3s'].filter(() => below(random, 2) === 0)
}

function machineText(machine: Machine): string {
  const block = (fields: string) => (machine.lists ? `[{${fields}}]` : `{${fields}}`)
  const address = machine.lists ? '[{ipv4: [{address: dhcp}]}]' : '{ipv4: {address: dhcp}}'
  const external = machine.external
  const annotations = external === undefined ? '' : `, annotations: {crossplane.io/external-name: "${external}"}`
  const lines = [
    `nodeName: ${machine.host}`,
    `name: ${machine.shownName}`,
    ...(machine.vmid === undefined ? [] : [`vmId: ${machine.vmid}`]),
    ...(machine.description === undefined ? [] : [`description: ${JSON.stringify(machine.description)}`]),
    `tags: [${machine.tags.join(', ')}]`,
    `started: ${machine.started}`,
    `onBoot: ${machine.onBoot}`,
    `cpu: ${block(`cores: ${machine.cores}`)}`,
    `memory: ${block(`dedicated: ${machine.memory}`)}`,
    `agent: ${block('enabled: true')}`,
    `networkDevice: ${block('bridge: vmbr0, model: virtio')}`,
    ...(external === undefined
      ? [
          `disk: ${block(`interface: scsi0, datastoreId: local, size: ${machine.diskGb}, importFrom: "local:import/${IMAGE}"`)}`,
          `initialization: ${block(`datastoreId: local, userAccount: ${block('username: ubuntu')}, ipConfig: ${address}`)}`,
        ]
      : [`disk: ${block(`interface: scsi0, datastoreId: local-zfs, size: ${machine.diskGb}`)}`]),
  ]
  return `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: ${machine.name}${annotations}}
spec:
  deletionPolicy: ${machine.deletion}
  forProvider:
${lines.map((line) => `    ${line}\n`).join('')}`
}

function below(random: Random, limit: number): number {
  return Math.floor(random.next() * limit)
}

function pick<T>(random: Random, from: readonly T[]): T {
  const chosen = from[below(random, from.length)]
  if (chosen === undefined) throw new Error('there is nothing to pick from')
  return chosen
}
