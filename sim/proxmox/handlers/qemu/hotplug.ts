import { driveVolume, isCdrom, isDrive } from '../../../world/guest-config.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { Guest } from '../../../world/types.ts'

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
  if (/^(scsi|virtio|sata|ide)\d+$/.test(key)) {
    const before = guest.config.get(key)
    if (before !== undefined && value !== undefined && !isCdrom(value) && sameDevice(before, value)) return true
    if (/^(scsi|virtio)\d+$/.test(key)) return plugs.has('disk') && !reshaped(before, value)
  }
  if (key === 'agent') return sameAgent(guest.config.get(key) ?? '', value ?? '')
  // A disc can be changed in a drive that is there; the drive itself cannot come or go.
  if (isDrive(key)) return isCdrom(guest.config.get(key) ?? '') && isCdrom(value ?? '')
  if (/^(cores|sockets|vcpus)$/.test(key)) return plugs.has('cpu') && key === 'vcpus'
  if (key === 'memory') return plugs.has('memory')
  return false
}

/** Parts of a drive that concern no device: whether it is backed up, how fast it may be, how large it is. */
const BESIDE_THE_DEVICE = /^(backup|replicate|size|(mbps|iops|bps)(_rd|_wr)?(_max)?(_length|_max_length)?)$/

function deviceOf(value: string, ignored: RegExp): string {
  const { main, named } = parseProperties(value, 'file')
  return JSON.stringify([main, [...named].filter(([name]) => !ignored.test(name)).sort(([a], [b]) => (a < b ? -1 : 1))])
}

function sameDevice(before: string, after: string): boolean {
  return deviceOf(before, BESIDE_THE_DEVICE) === deviceOf(after, BESIDE_THE_DEVICE)
}

/** The same volume as another device: only a restart gives the guest that. */
function reshaped(before: string | undefined, after: string | undefined): boolean {
  if (before === undefined || after === undefined) return false
  return driveVolume(before) === driveVolume(after) && !sameDevice(before, after)
}

/** What is asked of the agent can change, the channel to it cannot. */
function sameAgent(before: string, after: string): boolean {
  const channel = (text: string) => {
    const { main, named } = parseProperties(text, 'enabled')
    return `${main} ${named.get('type') ?? 'virtio'}`
  }
  return channel(before) === channel(after)
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
