import { guestIn, type Resource } from '../../model/resource.ts'
import type { SiteGuest } from '../../model/site.ts'
import type { VmSpec } from '../../model/vm.ts'

export interface NamedDisk {
  readonly storage: string
  readonly gib: number
}

/** Returns an adopted or observed guest with its declared values, so that the plan has few changes. */
export function existingGuest({ desired, origin }: Resource, adopt: string | undefined): SiteGuest | undefined {
  const guest = guestIn(desired)
  // Crossplane also writes `host/108`.
  const vmid = guest?.vmid ?? Number(adopt?.split('/').at(-1))
  if (guest === undefined || !Number.isInteger(vmid)) return undefined
  const { host, name, onBoot, template, power } = guest
  const basics = {
    ...(onBoot === undefined ? {} : { onboot: onBoot ? '1' : '0' }),
    ...(guest.memory?.dedicatedMb === undefined ? {} : { memory: String(guest.memory.dedicatedMb) }),
    ...(guest.cpu?.cores === undefined ? {} : { cores: String(guest.cpu.cores) }),
    ...(guest.osType === undefined ? {} : { ostype: guest.osType }),
  }
  const sort = desired.type === 'vm' ? ofVm(desired.vm) : ofContainer(desired)
  return {
    vmid,
    ...sort,
    host,
    name,
    ...(template === true ? { template } : { running: power !== 'stopped' }),
    config: { ...basics, ...sort.config },
    from: origin,
  }
}

function ofVm(vm: VmSpec): Pick<SiteGuest, 'type' | 'config' | 'disks'> {
  return {
    type: 'qemu',
    config: {
      ...(vm.cpu?.type === undefined ? {} : { cpu: vm.cpu.type }),
      ...(vm.cpu?.sockets === undefined ? {} : { sockets: String(vm.cpu.sockets) }),
      ...(vm.scsiHardware === undefined ? {} : { scsihw: vm.scsiHardware }),
      ...(vm.agent?.enabled === true ? { agent: '1' } : {}),
      ...Object.fromEntries((vm.serial ?? []).map(({ slot, device }) => [slot, device])),
      ...Object.fromEntries(vm.nics.map(({ slot, model, mac, bridge }) => [slot, nicOf(model, mac, bridge)])),
    },
    disks: disksOf(vm.disks),
  }
}

function nicOf(model: string, mac: string | undefined, bridge: string): string {
  return `${model}${mac === undefined ? '' : `=${mac}`},bridge=${bridge}`
}

function ofContainer(desired: Resource['desired']): Pick<SiteGuest, 'type' | 'config' | 'disks'> {
  if (desired.type !== 'container') return { type: 'lxc', config: {}, disks: {} }
  const { rootDisk, nics, unprivileged } = desired.container
  return {
    type: 'lxc',
    config: {
      ...(unprivileged === undefined ? {} : { unprivileged: unprivileged ? '1' : '0' }),
      ...Object.fromEntries(nics.map(({ slot, name, bridge }) => [slot, `name=${name},bridge=${bridge}`])),
    },
    disks: rootDisk === undefined ? {} : disksOf([{ slot: 'rootfs', ...rootDisk }]),
  }
}

function disksOf(
  disks: readonly { readonly slot: string; readonly storage: string; readonly sizeGb?: number }[],
): Readonly<Record<string, NamedDisk>> {
  return Object.fromEntries(disks.map(({ slot, storage, sizeGb }) => [slot, { storage, gib: sizeGb ?? 8 }]))
}

/** Guests that a declaration names by number: the template of a clone, the guest that a firewall is in front of. */
export function namedVmids({ desired, origin }: Resource): readonly (SiteGuest & { readonly from: typeof origin })[] {
  const plain = { type: 'qemu' as const, config: { agent: '1' }, disks: {}, from: origin }
  if (desired.type === 'vm' && desired.vm.clone !== undefined) {
    const { vmid, host = desired.vm.host } = desired.vm.clone
    return [{ ...plain, vmid, host, name: `template-${vmid}`, template: true }]
  }
  if (desired.type !== 'setting') return []
  const { scope = {}, host } = desired.setting
  const type = scope.container === undefined ? 'qemu' : 'lxc'
  const vmid = Number(scope.vmid ?? scope.container)
  if (host === undefined || !Number.isInteger(vmid)) return []
  return [{ ...plain, type, config: {}, vmid, host, name: `guest-${vmid}`, running: true }]
}
