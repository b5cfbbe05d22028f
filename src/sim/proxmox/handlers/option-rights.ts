import { may } from '../../world/access.ts'
import { isCdrom, isDrive, isUnused } from '../../world/guest-config.ts'
import { failed, forbidden } from '../api-error.ts'
import type { Call } from '../call.ts'

const ROOT_ONLY = new Set([
  'args',
  'affinity',
  'hugepages',
  'arch',
  'hookscript',
  'spice_enhancements',
  'vmgenid',
  'ivshmem',
  'amd-sev',
  'lock',
])

/** A token is never root here, not even one of root's own. */
export function refuseRootOnly(call: Call, key: string, value: string | undefined, current?: string): void {
  if (call.who.id === 'root@pam') return
  if (ROOT_ONLY.has(key) || /^parallel\d+$/.test(key)) throw failed(`only root can set '${key}' config`)
  const text = value ?? current ?? ''
  if (/^hostpci\d+$/.test(key) && !/(^|,)mapping=/.test(text)) {
    throw failed(`only root can set '${key}' config for non-mapped devices`)
  }
  if (/^usb\d+$/.test(key) && /(^|,)host=|^[0-9a-fA-F]{4}:|^\d+-/.test(text)) {
    throw failed(`only root can set '${key}' config for real devices`)
  }
  if (/^serial\d+$/.test(key) && text !== 'socket' && text !== '') {
    throw failed(`only root can modify '${key}' config for real devices`)
  }
}

const PRIVILEGES: readonly (readonly [RegExp, string])[] = [
  [/^(cores|sockets|vcpus|cpu|cpulimit|cpuunits|numa\d*)$/, 'VM.Config.CPU'],
  [/^(memory|balloon|shares)$/, 'VM.Config.Memory'],
  [/^net\d+$/, 'VM.Config.Network'],
  [/^(ci(user|password|custom|type|upgrade)|sshkeys|nameserver|searchdomain|ipconfig\d+)$/, 'VM.Config.Cloudinit'],
  [
    /^(acpi|agent|autostart|boot|bootdisk|description|freeze|hotplug|kvm|localtime|migrate_.*|name|onboot|ostype|protection|reboot|startdate|startup|tags|tdf|template|vmstatestorage)$/,
    'VM.Config.Options',
  ],
]

/** Every option needs the privilege of its group. */
export function requireOptionRights(call: Call, vmid: number, key: string, value: string): void {
  const privilege = privilegeFor(key, value)
  if (privilege === undefined || may(call.world, call.who, `/vms/${vmid}`, privilege)) return
  throw forbidden(`/vms/${vmid}, ${privilege}`)
}

function privilegeFor(key: string, value: string): string | undefined {
  if (isDrive(key)) return isCdrom(value) ? 'VM.Config.CDROM' : 'VM.Config.Disk'
  if (isUnused(key)) return 'VM.Config.Disk'
  return PRIVILEGES.find(([pattern]) => pattern.test(key))?.[1] ?? 'VM.Config.HWType'
}
