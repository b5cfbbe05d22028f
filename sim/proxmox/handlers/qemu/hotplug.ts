import { driveVolume, isCdrom, isDrive } from '../../../world/guest-config.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { Guest } from '../../../world/types.ts'

/** Options that never need the running process. */
const AT_ONCE =
  /^(description|hookscript|lock|migrate_downtime|migrate_speed|name|onboot|protection|shares|startup|tags|vmstatestorage|vmstate|cpuunits|cpulimit|ci(user|password|custom|type|upgrade)|sshkeys|nameserver|searchdomain|ipconfig\d+|unused\d+)$/

/** What becomes of a change under a running guest: it is made, waits for the next start, or waits with an error. */
export type Plugging = 'now' | 'later' | { readonly problem: string }

/** A device that changes under a guest; without a value it is taken away. */
interface Asked {
  readonly guest: Guest
  readonly key: string
  readonly before: string | undefined
  readonly value: string | undefined
}

/** An option that gets a value; undefined: it is taken away. */
export function plugging(guest: Guest, key: string, value: string | undefined): Plugging {
  if (guest.run.status !== 'running' || AT_ONCE.test(key)) return 'now'
  const before = guest.config.get(key)
  const plugs = hotplugs(guest)
  if (/^net\d+$/.test(key)) return card({ guest, key, before, value }, plugs.has('network'))
  if (isDrive(key)) return drive({ guest, key, before, value }, plugs.has('disk'))
  if (/^usb\d+$/.test(key)) return plugs.has('usb') && plugsUsb(guest) ? unplugging(guest, key) : 'later'
  return option(key, before, value, plugs) ? 'now' : 'later'
}

function option(
  key: string,
  before: string | undefined,
  value: string | undefined,
  plugs: ReadonlySet<string>,
): boolean {
  switch (key) {
    case 'hotplug':
      return ![before, value].some((text) => /memory|cpu/.test(text ?? ''))
    case 'tablet':
      return plugs.has('usb')
    case 'vcpus':
      return plugs.has('cpu')
    case 'memory':
      return plugs.has('memory')
    case 'balloon':
      // The device itself cannot come or go.
      return (Number(before ?? 1) !== 0) === (Number(value ?? 1) !== 0)
    case 'agent':
      return before !== undefined && value !== undefined && sameAgent(before, value)
    default:
      return false
  }
}

/** A bridge, a tag or a limit changes under the same card; another card needs a slot that can be plugged. */
function card({ guest, key, before, value }: Asked, plugs: boolean): Plugging {
  if (before !== undefined && value !== undefined && sameCard(before, value)) return 'now'
  if (!plugs) return 'later'
  return before === undefined ? 'now' : unplugging(guest, key)
}

function sameCard(before: string, after: string): boolean {
  const of = (text: string) => {
    const { named } = parseProperties(text)
    return JSON.stringify([text.split(',')[0], named.get('queues'), named.get('mtu'), named.has('bridge')])
  }
  return of(before) === of(after)
}

function drive({ guest, key, before, value }: Asked, plugs: boolean): Plugging {
  if (/^(efidisk|tpmstate)/.test(key)) return 'later'
  const fixed = !plugs || /^(ide|sata)/.test(key)
  if (value === undefined) return fixed ? 'later' : unplugging(guest, key)
  if (before === undefined) return fixed ? 'later' : 'now'
  if (isCdrom(before) !== isCdrom(value)) return { problem: 'unable to change media type' }
  if (isCdrom(before)) return 'now'
  if (driveVolume(before) === driveVolume(value)) return sameDevice(before, value) ? 'now' : 'later'
  return plugs ? unplugging(guest, key) : 'later'
}

/** Parts of a drive that only a restart gives the guest. */
const OF_THE_DEVICE = ['aio', 'discard', 'iothread', 'queues', 'product', 'cache', 'ssd', 'vendor', 'ro']

function sameDevice(before: string, after: string): boolean {
  const [old, now] = [parseProperties(before, 'file').named, parseProperties(after, 'file').named]
  return OF_THE_DEVICE.every((name) => old.get(name) === now.get(name))
}

/** What is asked of the agent can change, the channel to it cannot. */
function sameAgent(before: string, after: string): boolean {
  const channel = (text: string) => {
    const { main, named } = parseProperties(text, 'enabled')
    const rest = [...named]
      .filter(([name]) => name !== 'fstrim_cloned_disks')
      .map(([name, value]) => `${name}=${value}`)
    return [main, ...rest.toSorted()].join(',')
  }
  return channel(before) === channel(after)
}

/** Taking a card or a virtio disk out needs a system inside that lets it go; a SCSI disk can always be taken. */
function unplugging(guest: Guest, key: string): Plugging {
  if (!guest.config.has(key)) return 'now'
  const order = /(?:^|,)order=([^,]*)/.exec(guest.config.get('boot') ?? '')?.[1]
  if (isDrive(key) && order?.split(';').includes(key) === true) return { problem: `can't unplug bootdisk '${key}'` }
  if (/^(ide|sata)/.test(key)) return { problem: `can't unplug device '${key}'` }
  const lets = guest.run.system !== undefined && guest.run.bootedAtMs !== undefined
  if (lets || !/^(net|virtio|usb)\d+$/.test(key)) return 'now'
  return { problem: `error on hot-unplugging device '${key}' - still busy in guest?` }
}

function plugsUsb(guest: Guest): boolean {
  return /^(l26|win(8|10|11))$/.test(guest.config.get('ostype') ?? '')
}

function hotplugs(guest: Guest): ReadonlySet<string> {
  const value = guest.config.get('hotplug') ?? '1'
  if (value === '0') return new Set()
  return new Set(value === '1' ? ['network', 'disk', 'usb'] : value.split(','))
}
