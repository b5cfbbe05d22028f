import { defined } from '../../lib/defined.ts'
import type { Declaration } from '../../model/declaration.ts'
import type { VmDisk, VmSpec } from '../../model/vm.ts'
import type { FieldProblem } from '../kind.ts'
import type { MachineSpec, WrittenMachine } from '../schemas/machine.ts'
import type { LibvirtSpec } from './libvirt-schema.ts'

/** A seed is read once, so it takes the last slot, which disks do not reach. */
const SEED_DISK = 'virtio25'
const SEED_CDROM = 'sata5'
/** A `virt` machine has no SATA controller. */
const SEED_CDROM_ARM = 'scsi11'
const PROCESSORS = { amd64: 'x86_64', arm64: 'aarch64' } as const

/** Returns the machine for libvirt, without the fields of Proxmox. */
export function onLibvirt(machine: Declaration<MachineSpec>, vm: VmSpec, connection: Declaration<LibvirtSpec>): VmSpec {
  const { proxmox: _proxmox, libvirt } = machine.spec
  const said = { ...connection.spec.machines, ...defined<object>(libvirt ?? {}) } as LibvirtSpec['machines']
  const adopted = machine.policy.adopt !== undefined
  const { vmid: _vmid, scsiHardware: _scsi, serial: _serial, bootOrder: _order, cloudInit: _cloudInit, ...rest } = vm
  const { protection: _protection, pool: _pool, bios: _bios, machine: _machine, ...plain } = rest
  const bus = said.bus ?? 'virtio'
  const arm = said.architecture === 'arm64'
  const cdrom = arm ? SEED_CDROM_ARM : SEED_CDROM
  return defined<VmSpec>({
    ...plain,
    cpu: defined({
      ...vm.cpu,
      type: vm.cpu?.type ?? processor(said.emulated, adopted),
      architecture: said.architecture && PROCESSORS[said.architecture],
    }),
    machine: arm ? 'virt' : (said.machine ?? (adopted ? undefined : 'q35')),
    bios: arm ? 'ovmf' : said.bios,
    disks: vm.disks.map((disk, index) => diskOf(disk, `${bus}${index}`, said.disks ?? 'backing')),
    nics: vm.nics.map(({ firewall: _firewall, ...nic }) => nic),
    seed: vm.seed && { ...vm.seed, slot: said.seed === 'cdrom' ? cdrom : SEED_DISK },
    emulated: said.emulated === true ? true : undefined,
  })
}

/** Returns settings that an arm64 machine cannot have. */
export function armProblems(
  said: { readonly [Field in 'architecture' | 'machine' | 'bios' | 'bus']?: string | undefined } | undefined,
): readonly { readonly field: string; readonly message: string; readonly hint: string }[] {
  if (said?.architecture !== 'arm64') return []
  return [
    ...(said.machine === undefined
      ? []
      : [
          {
            field: 'machine',
            message: `an arm64 machine is no ${said.machine}`,
            hint: 'leave machine out: it is virt',
          },
        ]),
    ...(said.bios === 'seabios'
      ? [{ field: 'bios', message: 'an arm64 machine has no BIOS', hint: 'leave bios out: it starts by UEFI' }]
      : []),
    ...(said.bus === 'sata'
      ? [{ field: 'bus', message: 'an arm64 machine has no SATA', hint: 'use virtio or scsi' }]
      : []),
  ]
}

export function checkLibvirtMachine(spec: WrittenMachine): readonly FieldProblem[] {
  const { libvirt } = spec
  const problems: FieldProblem[] = []
  const bad = (path: readonly string[], message: string, hint: string) =>
    problems.push({ code: 'bad-value', path: ['spec', ...path], message, hint })
  for (const { field, message, hint } of armProblems(libvirt)) bad(['libvirt', field], message, hint)
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
        `a machine runs on libvirt or on Proxmox, and both libvirt and ${other} are set`,
        `leave ${other} out`,
      )
  return problems
}

/** Returns the processor model: the host's own, as far as possible. */
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
