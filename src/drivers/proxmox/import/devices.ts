import { defined } from '../../../lib/defined.ts'
import { positional } from './basics.ts'
import { block, type ConfigReading, some, unless } from './reading.ts'

const SMBIOS = ['manufacturer', 'product', 'version', 'serial', 'sku', 'family'] as const

/** Devices that are one property string each. */
export function importDevices(from: ConfigReading) {
  return {
    audioDevice: audio(from),
    rng: rng(from),
    watchdog: watchdog(from),
    smbios: smbios(from),
    amdSev: amdSev(from),
    numa: numbered(from, /^numa\d+$/, (key) => {
      const parts = from.properties(key, '')
      return {
        device: key,
        cpus: parts?.text('cpus'),
        memory: parts?.count('memory'),
        hostnodes: parts?.text('hostnodes'),
        policy: parts?.text('policy'),
      }
    }),
    usb: positional(from, 'usb', (key) => {
      const parts = from.properties(key, 'host')
      return defined({
        host: parts?.text('host'),
        mapping: parts?.text('mapping'),
        usb3: unless(false, parts?.flag('usb3')),
      })
    }),
    hostpci: numbered(from, /^hostpci\d+$/, (key) => {
      const parts = from.properties(key, 'host')
      return {
        device: key,
        id: parts?.text('host'),
        mapping: parts?.text('mapping'),
        mdev: parts?.text('mdev'),
        pcie: unless(false, parts?.flag('pcie')),
        rombar: unless(true, parts?.flag('rombar')),
        romFile: parts?.text('romfile'),
        xvga: unless(false, parts?.flag('x-vga')),
      }
    }),
    virtiofs: positional(from, 'virtiofs', (key) => {
      const parts = from.properties(key, 'dirid')
      return defined({
        mapping: parts?.text('dirid'),
        cache: unless('auto', parts?.text('cache')),
        directIo: unless(false, parts?.flag('direct-io')),
        exposeAcl: unless(false, parts?.flag('expose-acl')),
        exposeXattr: unless(false, parts?.flag('expose-xattr')),
      })
    }),
  }
}

function audio(from: ConfigReading) {
  const parts = from.properties('audio0', '')
  return parts && block({ device: parts.text('device'), driver: unless('spice', parts.text('driver')) })
}

function rng(from: ConfigReading) {
  const parts = from.properties('rng0', 'source')
  if (parts === undefined) return undefined
  return block({
    source: parts.text('source'),
    maxBytes: unless(1024, parts.count('max_bytes')),
    period: unless(1000, parts.count('period')),
  })
}

function watchdog(from: ConfigReading) {
  const parts = from.properties('watchdog', 'model')
  return parts && block({ model: parts.text('model'), action: unless('none', parts.text('action')) })
}

/** The UUID is Proxmox's own choice and stays; the texts are somebody's. */
function smbios(from: ConfigReading) {
  const parts = from.properties('smbios1', 'uuid')
  if (parts === undefined) return undefined
  parts.ignore('uuid')
  const encoded = parts.flag('base64') === true
  const read = (text: string | undefined) =>
    text !== undefined && encoded ? Buffer.from(text, 'base64').toString('utf8') : text
  return block(Object.fromEntries(SMBIOS.map((field) => [field, read(parts.text(field))])))
}

function amdSev(from: ConfigReading) {
  const parts = from.properties('amd-sev', 'type')
  if (parts === undefined) return undefined
  return block({
    type: parts.text('type'),
    allowSmt: unless(true, parts.flag('allow-smt')),
    kernelHashes: unless(false, parts.flag('kernel-hashes')),
    noDebug: unless(false, parts.flag('no-debug')),
    noKeySharing: unless(false, parts.flag('no-key-sharing')),
  })
}

function numbered(from: ConfigReading, slot: RegExp, read: (key: string) => Readonly<Record<string, unknown>>) {
  return some(from.keys.filter((key) => slot.test(key)).map((key) => defined(read(key))))
}
