import { defined } from '../../lib/defined.ts'
import type { Declaration } from '../../model/declaration.ts'
import { volumeId } from '../../model/file.ts'
import type { VmCloudInit, VmDisk, VmNic, VmSpec } from '../../model/vm.ts'
import { mebibytes } from '../fields/number.ts'
import type { GivenDevices } from '../hypervisors/hypervisor.ts'
import { keeperOf } from '../hypervisors/registry.ts'
import type { Expanded, FieldProblem, Lookup } from '../kind.ts'
import type { NetworkSpec } from '../network.ts'
import type { HostSpec } from '../schemas/host.ts'
import type { ImageSpec } from '../schemas/image.ts'
import { isVolume, type MachineSpec, type WrittenMachine } from '../schemas/machine.ts'
import { type GivenAddress, givenAddresses } from './addresses.ts'
import { connectionOf, estateOf, findHost, nodeOf, unbound, unknownHost } from './bindings.ts'
import { containerOf } from './container-machine.ts'
import { givenDevices } from './devices.ts'
import { filesNeeded, volumesNeeded } from './files-needed.ts'
import { imageFile } from './image-files.ts'
import { processorIn } from './image-processor.ts'
import { addressingOf, dnsOf, type NetworkCard } from './network-cards.ts'
import { expandAnywhere, isAnywhere } from './placement.ts'
import { isSeeded, seedOf, withMacs } from './seed.ts'
import { withClass } from './with-class.ts'

type MachineDeclaration = Declaration<MachineSpec>
type HostDeclaration = Declaration<HostSpec>

/** The state of building one machine for one host, with its problems so far. */
interface Making {
  readonly machine: MachineDeclaration
  readonly host: HostDeclaration
  readonly given: readonly (GivenAddress | undefined)[]
  readonly lookup: Lookup
  readonly problems: FieldProblem[]
}

type Problems = { readonly problems: readonly FieldProblem[] }

/** A machine as its host would call it: logical names become bridges and datastores, addresses are given. */
export function expandMachine(machine: Declaration<WrittenMachine>, lookup: Lookup): Expanded | Problems {
  const whole = withClass(machine.spec, machine.namespace, lookup)
  if (!('problems' in whole)) return expandWhole({ ...machine, spec: whole.spec }, lookup)
  return { problems: [...whole.problems, ...hostProblem(machine, lookup)] }
}

/** Reports a missing host, even if the rest of the machine is not known yet. */
function hostProblem(
  { spec: { host }, namespace }: Declaration<WrittenMachine>,
  lookup: Lookup,
): readonly FieldProblem[] {
  if (host === 'auto' || findHost(host, namespace, lookup) !== undefined) return []
  return [unknownHost(host, ['spec', 'host'], lookup)]
}

/** Expands a machine with all fields of its class. */
export function expandWhole(
  machine: MachineDeclaration,
  lookup: Lookup,
): (Expanded & { readonly role: 'resource' }) | Problems {
  const problems: FieldProblem[] = []
  const devices = givenDevices(machine, lookup, problems)
  if (problems.length > 0) return { problems }
  if (isAnywhere(machine, lookup))
    return expandAnywhere(machine, devices.host, lookup, (host) => expandOn(machine, host, devices, lookup))
  const host = findHost(machine.spec.host, machine.namespace, lookup)
  if (host === undefined) return { problems: [unknownHost(machine.spec.host, ['spec', 'host'], lookup)] }
  return expandOn(machine, host, devices, lookup)
}

function expandOn(
  machine: MachineDeclaration,
  host: HostDeclaration,
  devices: GivenDevices,
  lookup: Lookup,
): (Expanded & { readonly role: 'resource' }) | Problems {
  const problems: FieldProblem[] = []
  const connection = connectionOf(host, ['spec', 'host'], lookup)
  if ('problem' in connection) problems.push(connection.problem)
  const given = givenAddresses(machine, lookup)
  problems.push(...given.problems)
  const making: Making = { machine, host, given: given.addresses, lookup, problems }
  const disks = machine.spec.disks.flatMap((disk, index) => diskOf(making, disk, index))
  const nics = machine.spec.networks.flatMap((nic, index) => nicOf(making, nic, index))
  if (problems.length > 0 || 'problem' in connection) return { problems }
  const warnedOf = (warnings: readonly FieldProblem[]) => (warnings.length === 0 ? {} : { warnings })
  const warned = warnedOf(given.warnings)
  if (machine.spec.lxc !== undefined) {
    const cards = cardsOf(making, nics)
    const container = containerOf(machine, nodeOf(host), disks, cards, devices.files ?? [])
    const needs = volumesNeeded(container.host, [container.image], lookup)
    return { role: 'resource', ...connection, desired: { type: 'container', container }, needs, ...warned }
  }
  const bare = isSeeded(machine)
    ? seeded(making, disks, nics)
    : { ...vmOf(making, disks, nics), ...cloudInitOf(making, disks, cardsOf(making, nics)) }
  if (problems.length > 0) return { problems }
  const { hypervisor, connection: own } = keeperOf(host, lookup)
  const vm: VmSpec = {
    ...hypervisor.machine(machine, bare, own),
    ...(devices.pci.length === 0 ? {} : { pci: devices.pci }),
    ...(devices.usb.length === 0 ? {} : { usb: devices.usb }),
  }
  return {
    role: 'resource',
    ...connection,
    desired: { type: 'vm', vm },
    needs: [...filesNeeded(vm, lookup), ...devices.needs, ...hypervisor.placesOf(vm, lookup)],
    ...warnedOf([
      ...given.warnings,
      ...neverGiven(machine, vm),
      ...otherProcessor(making, vm.cpu?.architecture ?? hypervisor.processor),
    ]),
  }
}

/** Warns of declared addresses without effect: croft neither sets nor checks them. */
function neverGiven({ spec, policy }: MachineDeclaration, vm: VmSpec): readonly FieldProblem[] {
  if (vm.seed !== undefined || vm.cloudInit !== undefined || policy.adopt !== undefined) return []
  return spec.networks.flatMap(({ address }, index) =>
    address === undefined || address === 'dhcp' || address === 'pool'
      ? []
      : [
          {
            code: 'address-not-set',
            path: ['spec', 'networks', index, 'address'],
            severity: 'warning',
            message: `nothing gives the machine ${address}: it starts from no image that would read its addresses`,
            hint: 'name an image for its first disk; or set the address inside the machine, and make sure that nothing else uses it',
          },
        ],
  )
}

/** Images for another processor than the machine has: it would start, and show nothing. */
function otherProcessor({ machine, lookup }: Making, processor: string | undefined): readonly FieldProblem[] {
  if (processor === undefined || machine.policy.adopt !== undefined) return []
  return machine.spec.disks.flatMap(({ image }, index) => {
    if (image === undefined) return []
    const text = findImage(image, machine, lookup)?.spec.url ?? image
    const named = processorIn(text)
    if (named === undefined || named === processor) return []
    return [
      {
        code: 'other-processor',
        path: ['spec', 'disks', index, 'image'],
        severity: 'warning',
        message: `the image ${image} is for ${named} by its name (${text.split('/').at(-1)}), and the machine has ${processor}: it would not boot`,
        hint: `name an image for ${processor === 'x86_64' ? 'amd64' : 'arm64'}, or give the file a name that does not say otherwise`,
      },
    ]
  })
}

function findImage(name: string, machine: MachineDeclaration, lookup: Lookup): Declaration<ImageSpec> | undefined {
  return (lookup.declaration('Image', name, machine.namespace) ?? lookup.declaration('Image', name)) as
    | Declaration<ImageSpec>
    | undefined
}

/** Returns a machine with its cloud-init document, and hardware addresses that the document can name. */
function seeded(making: Making, disks: readonly VmDisk[], nics: readonly VmNic[]): VmSpec {
  const { machine, host, lookup, problems } = making
  const known = withMacs(machine, estateOf(host, lookup), nics)
  const seed = seedOf(machine, host, cardsOf(making, known), lookup, problems)
  const vm = vmOf(making, disks, known)
  if (seed === undefined) return vm
  // Proxmox adds a drive to the boot order with the first disc that is put into it. Last, it is never booted from.
  return { ...vm, seed, bootOrder: [...(vm.bootOrder ?? []), seed.slot] }
}

function cardsOf({ machine, given, lookup }: Making, nics: readonly VmNic[]): readonly NetworkCard[] {
  return nics.map((nic, index) => ({
    nic,
    given: given[index],
    network: networkOf(machine.spec.networks[index]?.network ?? '', machine, lookup)?.spec,
    ipv6: machine.spec.networks[index]?.ipv6,
  }))
}

function vmOf({ machine, host }: Making, disks: readonly VmDisk[], nics: readonly VmNic[]): VmSpec {
  const { spec } = machine
  const adopt = machine.policy.adopt
  const firstDisk = disks[0]
  return defined<VmSpec>({
    host: nodeOf(host),
    vmid: spec.proxmox?.vmid ?? (adopt === undefined ? undefined : Number(adopt)),
    name: machine.name,
    power: spec.power === 'on' ? 'running' : 'stopped',
    onBoot: spec.onBoot,
    protection: spec.proxmox?.protection,
    pool: spec.proxmox?.pool,
    tags: spec.tags && [...new Set(spec.tags.map((tag) => tag.toLowerCase()))],
    description: spec.description,
    cpu: defined({ cores: spec.cpu.cores, type: spec.cpu.type }),
    memory: { dedicatedMb: mebibytes(spec.memory) ?? 0 },
    bios: spec.proxmox?.bios,
    machine: spec.proxmox?.machine,
    scsiHardware: spec.proxmox?.scsiHardware ?? (adopt === undefined ? 'virtio-scsi-single' : undefined),
    serial: spec.proxmox?.serialPort === true ? [{ slot: 'serial0', device: 'socket' }] : undefined,
    disks,
    nics,
    agent: { enabled: spec.agent },
    bootOrder: firstDisk === undefined || adopt !== undefined ? undefined : [firstDisk.slot],
  })
}

function diskOf(making: Making, disk: MachineSpec['disks'][number], index: number): readonly VmDisk[] {
  const { host, lookup, problems } = making
  const storages = host.spec.bindings.storages
  const storage = Object.hasOwn(storages, disk.storage) ? storages[disk.storage] : undefined
  const path = ['spec', 'disks', index]
  if (storage === undefined) {
    problems.push(unbound('storages', disk.storage, host, [...path, 'storage'], lookup))
    return []
  }
  const importFrom = disk.image === undefined ? undefined : imageVolume(making, disk.image, [...path, 'image'])
  if (disk.image !== undefined && importFrom === undefined) return []
  return [
    defined<VmDisk>({
      slot: `scsi${index}`,
      storage,
      sizeGb: (mebibytes(disk.size) ?? 0) / 1024,
      importFrom,
      ssd: disk.ssd,
      discard: disk.discard === undefined ? undefined : disk.discard ? 'on' : 'ignore',
      backup: disk.backup,
    }),
  ]
}

function imageVolume(
  { machine, host, lookup, problems }: Making,
  name: string,
  path: readonly (string | number)[],
): string | undefined {
  const image = findImage(name, machine, lookup)
  if (image === undefined) {
    const known = lookup.all('Image').map((other) => other.name)
    problems.push({
      code: 'unknown-reference',
      path,
      message: `there is no Image ${name}`,
      ...(known.length === 0 ? {} : { hint: `declared images: ${known.join(', ')}` }),
    })
    return undefined
  }
  if (image.spec.hosts !== undefined && !image.spec.hosts.includes(host.name)) {
    problems.push({
      code: 'unbound',
      path,
      message: `Image ${name} is not kept on host ${host.name}; it is on ${image.spec.hosts.join(', ')}`,
      hint: `add ${host.name} to hosts of Image ${name}, or leave hosts out`,
    })
    return undefined
  }
  const file = imageFile(image, host)
  if (file === undefined) {
    problems.push(unbound('storages', image.spec.storage, host, path, lookup))
    return undefined
  }
  return volumeId(file.file)
}

function nicOf(
  { machine, host, lookup, problems }: Making,
  nic: MachineSpec['networks'][number],
  index: number,
): readonly VmNic[] {
  const networks = host.spec.bindings.networks
  const binding = Object.hasOwn(networks, nic.network) ? networks[nic.network] : undefined
  if (binding === undefined) {
    problems.push(unbound('networks', nic.network, host, ['spec', 'networks', index, 'network'], lookup))
    return []
  }
  const network = networkOf(nic.network, machine, lookup)
  return [
    defined<VmNic>({
      slot: `net${index}`,
      bridge: binding.bridge,
      model: 'virtio',
      mac: nic.mac?.toUpperCase(),
      vlan: binding.vlan ?? network?.spec.vlan,
      firewall: nic.firewall,
      mtu: network?.spec.mtu,
    }),
  ]
}

/** Proxmox's own cloud-init, for a machine that was taken over or whose user data is a snippet on the host. */
function cloudInitOf(
  { machine }: Making,
  disks: readonly VmDisk[],
  cards: readonly NetworkCard[],
): { readonly cloudInit?: VmCloudInit } {
  const { spec } = machine
  const storage = disks[0]?.storage
  const fromImage = disks.some((disk) => disk.importFrom !== undefined)
  const configured = spec.user !== undefined || spec.sshKeys !== undefined || spec.userData !== undefined || fromImage
  if (storage === undefined || !configured) return {}
  const dns = dnsOf(cards)
  const cloudInit = defined<VmCloudInit>({
    storage,
    slot: 'ide2',
    user: spec.user,
    sshKeys: spec.sshKeys,
    addresses: cards.length === 0 ? undefined : addressingOf(cards).map((one) => defined(one)),
    dnsServers: spec.dns?.servers ?? dns?.servers,
    dnsDomain: spec.dns?.domain ?? dns?.domain,
    userData: isVolume(spec.userData) ? spec.userData : undefined,
  })
  return { cloudInit }
}

function networkOf(name: string, machine: MachineDeclaration, lookup: Lookup): Declaration<NetworkSpec> | undefined {
  const found = lookup.declaration('Network', name, machine.namespace) ?? lookup.declaration('Network', name)
  return found as Declaration<NetworkSpec> | undefined
}
