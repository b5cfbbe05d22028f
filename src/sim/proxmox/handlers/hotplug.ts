import { isCdrom, isDrive } from '../../world/guest-config.ts'
import type { Guest } from '../../world/types.ts'

/** Options that never need the running process. */
const AT_ONCE =
  /^(name|description|tags|onboot|startup|protection|hotplug|hookscript|lock|migrate_.*|shares|balloon|cpuunits|cpulimit|tablet|template|vmstatestorage|autostart|bootdisk|affinity|ci(user|password|custom|type|upgrade)|sshkeys|nameserver|searchdomain|ipconfig\d+|unused\d+|parent)$/

/** May this option change under a running guest, or must it wait for its next start? */
export function changesLive(guest: Guest, key: string, value: string | undefined): boolean {
  if (guest.run.status !== 'running') return true
  if (AT_ONCE.test(key)) return true
  const plugs = hotplugs(guest)
  if (/^net\d+$/.test(key)) return plugs.has('network')
  if (/^usb\d+$/.test(key)) return plugs.has('usb')
  if (/^(scsi|virtio)\d+$/.test(key)) return plugs.has('disk')
  if (isDrive(key)) return isCdrom(value ?? guest.config.get(key) ?? '')
  if (/^(cores|sockets|vcpus)$/.test(key)) return plugs.has('cpu') && key === 'vcpus'
  if (key === 'memory') return plugs.has('memory')
  return false
}

/** Taking a card or a virtio disk out needs a system inside that lets it go; a SCSI disk can always be taken. */
export function canUnplug(guest: Guest, key: string): boolean {
  if (guest.run.status !== 'running' || !/^(net|virtio|usb)\d+$/.test(key)) return true
  return guest.run.system !== undefined && guest.run.bootedAtMs !== undefined
}

/** Another model or address is another card: the old one must be taken out first. */
export function replacesCard(key: string, before: string, after: string): boolean {
  return /^net\d+$/.test(key) && before.split(',')[0] !== after.split(',')[0]
}

function hotplugs(guest: Guest): ReadonlySet<string> {
  const value = guest.config.get('hotplug') ?? '1'
  if (value === '0') return new Set()
  return new Set(value === '1' ? ['network', 'disk', 'usb'] : value.split(','))
}
