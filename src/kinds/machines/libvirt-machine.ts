import { z } from 'zod'
import type { Declaration } from '../../model/declaration.ts'
import type { VmDisk, VmSpec } from '../../model/vm.ts'
import { defined } from '../fields/defined.ts'
import type { FieldProblem } from '../kind.ts'
import type { LibvirtSpec } from '../libvirt.ts'
import type { MachineSpec, WrittenMachine } from '../machine.ts'

/** What only libvirt knows of a machine's hardware. A connection may say it for all of its machines. */
export const libvirtHardware = {
  bios: z.enum(['seabios', 'ovmf']).optional(),
  machine: z.enum(['pc', 'q35']).optional(),
  /** Do disks stand on their image and store what differs, or are they copies of it? */
  disks: z.enum(['backing', 'copy']).optional(),
  /** What the disks are attached to. */
  bus: z.enum(['virtio', 'scsi', 'sata']).optional(),
  /** How a machine gets what it reads at first boot: on a small disk of its own, or as a disc in a drive. */
  seed: z.enum(['disk', 'cdrom']).optional(),
  /** By software alone, where the host has no virtualisation of its own: slow. */
  emulated: z.boolean().optional(),
}

/** The block `libvirt` of a machine. */
export const libvirtMachine = z.strictObject({
  uuid: z
    .string()
    .regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, { error: 'the UUID of a domain, in small letters' })
    .optional(),
  /** Take over the existing domain with this UUID. */
  adopt: z.boolean().optional(),
  ...libvirtHardware,
})

/** A seed is read once, so it takes the last place, where nobody will look for a disk. */
const SEED_DISK = 'virtio25'
const SEED_CDROM = 'sata5'

/** The machine as libvirt is to keep it. What only Proxmox knows of it falls away. */
export function onLibvirt(machine: Declaration<MachineSpec>, vm: VmSpec, connection: Declaration<LibvirtSpec>): VmSpec {
  const { proxmox: _proxmox, libvirt } = machine.spec
  const said = { ...connection.spec.machines, ...defined<object>(libvirt ?? {}) } as LibvirtSpec['machines']
  const adopted = machine.policy.adopt !== undefined
  const { vmid: _vmid, scsiHardware: _scsi, bootOrder: _order, cloudInit: _cloudInit, ...rest } = vm
  const { protection: _protection, pool: _pool, bios: _bios, machine: _machine, ...plain } = rest
  const bus = said.bus ?? 'virtio'
  return defined<VmSpec>({
    ...plain,
    cpu: defined({ ...vm.cpu, type: vm.cpu?.type ?? processor(said.emulated, adopted) }),
    machine: said.machine ?? (adopted ? undefined : 'q35'),
    bios: said.bios,
    disks: vm.disks.map((disk, index) => diskOf(disk, `${bus}${index}`, said.disks ?? 'backing')),
    nics: vm.nics.map(({ firewall: _firewall, ...nic }) => nic),
    seed: vm.seed && { ...vm.seed, slot: said.seed === 'cdrom' ? SEED_CDROM : SEED_DISK },
    emulated: said.emulated === true ? true : undefined,
  })
}

export function checkLibvirtMachine(spec: WrittenMachine): readonly FieldProblem[] {
  const { libvirt } = spec
  const problems: FieldProblem[] = []
  const bad = (path: readonly string[], message: string, hint: string) =>
    problems.push({ code: 'bad-value', path: ['spec', ...path], message, hint })
  if (libvirt?.adopt === true && libvirt.uuid === undefined)
    bad(['libvirt', 'adopt'], 'adopt takes over an existing domain, and uuid does not say which', 'set libvirt.uuid')
  if (libvirt?.uuid !== undefined && libvirt.adopt !== true)
    bad(
      ['libvirt', 'uuid'],
      'the UUID of a new domain follows from its declaration',
      'leave uuid out, or set adopt: true',
    )
  for (const other of ['proxmox', 'lxc'] as const)
    if (libvirt !== undefined && spec[other] !== undefined)
      bad(
        [other],
        `a machine is kept by libvirt or by Proxmox, and ${other} stands beside libvirt`,
        `leave ${other} out`,
      )
  return problems
}

/** As much of the host's processor as there is. */
function processor(emulated: boolean | undefined, adopted: boolean): string | undefined {
  if (adopted) return undefined
  return emulated === true ? 'maximum' : 'host'
}

function diskOf(disk: VmDisk, slot: string, disks: 'backing' | 'copy'): VmDisk {
  const { ssd: _ssd, backup: _backup, replicate: _replicate, iothread: _iothread, ...rest } = disk
  return defined<VmDisk>({
    ...rest,
    slot,
    backing: disk.importFrom !== undefined && disks === 'backing' ? true : undefined,
  })
}
