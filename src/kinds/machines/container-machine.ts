import { defined } from '../../lib/defined.ts'
import type {
  ContainerDevice,
  ContainerMount,
  ContainerNic,
  ContainerRootDisk,
  ContainerSpec,
} from '../../model/container.ts'
import type { Declaration } from '../../model/declaration.ts'
import type { VmDisk, VmNic } from '../../model/vm.ts'
import { mebibytes } from '../fields/number.ts'
import type { FieldProblem, RawManifest } from '../kind.ts'
import type { MachineSpec, WrittenMachine } from '../schemas/machine.ts'
import { addressingOf, type CardSettings, dnsOf, type NetworkCard } from './network-cards.ts'

/** A machine that is a container: its first disk is unpacked from the template, the others are mounted into it. */
export function containerOf(
  machine: Declaration<MachineSpec>,
  host: string,
  disks: readonly VmDisk[],
  cards: readonly NetworkCard[],
  devices: readonly ContainerDevice[],
): ContainerSpec {
  const { spec } = machine
  const { lxc } = spec
  const adopt = machine.policy.adopt
  const [root] = disks
  const dns = dnsOf(cards)
  const addresses = addressingOf(cards)
  return defined<ContainerSpec>({
    host,
    vmid: spec.proxmox?.vmid ?? (adopt === undefined ? undefined : Number(adopt)),
    name: spec.hostname ?? machine.name,
    power: spec.power === 'on' ? 'running' : 'stopped',
    onBoot: spec.onBoot,
    protection: spec.proxmox?.protection,
    pool: spec.proxmox?.pool,
    tags: spec.tags && [...new Set(spec.tags.map((tag) => tag.toLowerCase()))],
    description: spec.description,
    image: root?.importFrom,
    unprivileged: lxc?.unprivileged ?? (adopt === undefined ? true : undefined),
    cpu: { cores: spec.cpu.cores },
    memory: defined({
      dedicatedMb: mebibytes(spec.memory) ?? 0,
      swapMb: lxc?.swap === undefined ? undefined : mebibytes(lxc.swap),
    }),
    rootDisk: root && defined<ContainerRootDisk>({ storage: root.storage, sizeGb: root.sizeGb }),
    mounts: disks.slice(1).map((disk, index) =>
      defined<ContainerMount>({
        slot: `mp${index}`,
        path: spec.disks[index + 1]?.path ?? '',
        storage: disk.storage,
        sizeGb: disk.sizeGb,
        backup: disk.backup,
      }),
    ),
    nics: cards.map(({ nic }, index) => nicOf(nic, index, addresses[index] as CardSettings)),
    dns:
      (spec.dns ?? dns) &&
      defined({ servers: spec.dns?.servers ?? dns?.servers, domain: spec.dns?.domain ?? dns?.domain }),
    features: lxc?.nesting === undefined ? undefined : { nesting: lxc.nesting },
    devices: devices.length === 0 ? undefined : devices,
    sshKeys: spec.sshKeys,
  })
}

/** Fields that mean nothing for a container, and what one cannot be made without. */
export function checkContainerMachine(spec: WrittenMachine, _manifest: RawManifest): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  const bad = (path: readonly (string | number)[], message: string, hint?: string) =>
    problems.push({ code: 'bad-value', path: ['spec', ...path], message, ...defined({ hint }) })
  if (spec.lxc === undefined) {
    for (const [index, disk] of spec.disks.entries())
      if (disk.path !== undefined)
        bad(['disks', index, 'path'], 'path says where a container mounts the disk; a VM decides that inside')
    return problems
  }
  for (const [index, disk] of spec.disks.entries()) {
    if (index === 0 && disk.path !== undefined)
      bad(['disks', index, 'path'], 'the first disk of a container is its root')
    if (index > 0 && disk.path === undefined)
      bad(['disks', index, 'path'], 'path is missing: a container mounts every disk but its first somewhere')
    if (index > 0 && disk.image !== undefined)
      bad(['disks', index, 'image'], 'only the first disk of a container is made from an image')
  }
  for (const field of ['user', 'userData', 'cloudInit'] as const)
    if (spec[field] !== undefined)
      bad([field], `${field} is for machines that run cloud-init; a container is set up by its template`)
  for (const field of ['bios', 'machine', 'scsiHardware', 'serialPort'] as const)
    if (spec.proxmox?.[field] !== undefined) bad(['proxmox', field], `a container has no ${field}`)
  if (spec.cpu?.type !== undefined) bad(['cpu', 'type'], 'a container has the processor of its host')
  return problems
}

function nicOf(nic: VmNic, index: number, addressing: CardSettings): ContainerNic {
  return defined<ContainerNic>({
    slot: nic.slot,
    name: `eth${index}`,
    bridge: nic.bridge,
    mac: nic.mac,
    vlan: nic.vlan,
    firewall: nic.firewall,
    mtu: nic.mtu,
    ...addressing,
  })
}
