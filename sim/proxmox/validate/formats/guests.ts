import { inlineKeys } from '../shape.ts'
import { type Formats, matching } from './format.ts'

const HOTPLUG: ReadonlySet<string> = new Set(['network', 'disk', 'cpu', 'memory', 'usb', 'cloudinit'])

const DISKS: readonly (readonly [string, number])[] = [
  ['ide', 4],
  ['scsi', 31],
  ['virtio', 16],
  ['sata', 6],
]

/** Devices that a VM can start from, each with how many of it there are. */
const BOOT_DEVICES: readonly (readonly [string, number])[] = [...DISKS, ['net', 32], ['hostpci', 16], ['usb', 14]]

function isNumbered(text: string, kinds: readonly (readonly [string, number])[]): boolean {
  const [, kind, number = ''] = /^([a-z]+)(\d+)$/.exec(text) ?? []
  return kinds.some(([name, count]) => name === kind && Number(number) < count && String(Number(number)) === number)
}

const TIME_ZONES: ReadonlySet<string> = new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', 'Etc/UTC', 'GMT'])

/** Options of guests that are not hardware. */
export const GUEST_FORMATS: Formats = {
  'pve-hotplug-features': {
    judge: (text) => {
      if (text === '0' || text === '1') return undefined
      const wrong = text.split(/[,;\s]+/).find((feature) => feature !== '' && !HOTPLUG.has(feature))
      return wrong === undefined ? undefined : `invalid hotplug feature '${wrong}'`
    },
  },
  'pve-qm-bootdisk': {
    judge: (text) => (isNumbered(text, DISKS) ? undefined : `invalid boot disk '${text}'`),
  },
  'pve-qm-boot-device': {
    judge: (text) => (isNumbered(text, BOOT_DEVICES) ? undefined : `invalid boot device '${text}'`),
  },
  'pve-qm-boot': {
    keys: inlineKeys({ 'legacy?=': { like: '[acdn]{1,4}' }, 'order?': { as: 'pve-qm-boot-device-list' } }),
  },
  'pve-qm-cicustom': {
    keys: inlineKeys({
      'meta?': { as: 'pve-volume-id' },
      'network?': { as: 'pve-volume-id' },
      'user?': { as: 'pve-volume-id' },
      'vendor?': { as: 'pve-volume-id' },
    }),
  },
  'pve-qm-ipconfig': {
    keys: inlineKeys({
      'ip?': { as: 'pve-ipv4-config' },
      'gw?': { as: 'ipv4', needs: 'ip' },
      'ip6?': { as: 'pve-ipv6-config' },
      'gw6?': { as: 'ipv6', needs: 'ip6' },
    }),
  },
  'pve-ct-timezone': {
    judge: (text) => (text === 'host' || TIME_ZONES.has(text) ? undefined : `invalid time zone '${text}'`),
  },
  'pve-cpuset': matching(/^(?:\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)?$/, () => 'unable to parse cpuset option'),
  'pve-phys-bits': {
    judge: (text) =>
      text === 'host' || (/^\d+$/.test(text) && Number(text) >= 8 && Number(text) <= 64)
        ? undefined
        : "value must be an integer between 8 and 64 or 'host'",
  },
  'proxmox-remote': {
    keys: inlineKeys({
      apitoken: {},
      host: { as: 'address' },
      'fingerprint?': { like: '(?:[A-Fa-f0-9]{2}:){31}[A-Fa-f0-9]{2}' },
      'port?': { is: 'integer' },
    }),
  },
  'pve-node-location': {
    keys: inlineKeys({
      latitude: { is: 'number', from: -90, to: 90 },
      longitude: { is: 'number', from: -180, to: 180 },
      'name?': {},
    }),
  },
}
