import { defined } from '../../../lib/defined.ts'
import type { DeviceShape } from '../parts.ts'
import { amdSev, audio, numaNodes, pci, rng, usb, virtiofs, watchdog } from '../vm/devices.ts'
import { positional } from './basics.ts'
import { block, blockOf, type ConfigReading, partsOf, some } from './reading.ts'

const SMBIOS = ['manufacturer', 'product', 'version', 'serial', 'sku', 'family'] as const

/** Devices that are one property string each. */
export function importDevices(from: ConfigReading) {
  const parts = <Item>({ bare, parts: table }: DeviceShape<Item>, names?: { readonly [F in keyof Item]?: string }) => {
    return (key: string) => defined(partsOf(from.properties(key, bare), table, names))
  }
  const numbered = (slot: RegExp, read: (key: string) => Readonly<Record<string, unknown>>) =>
    some(from.keys.filter((key) => slot.test(key)).map((key) => ({ device: key, ...read(key) })))
  return {
    audioDevice: blockOf(from, audio.shape),
    rng: blockOf(from, rng.shape, { periodMs: 'period' }),
    watchdog: blockOf(from, watchdog.shape),
    smbios: smbios(from),
    amdSev: blockOf(from, amdSev.shape),
    numa: numbered(/^numa\d+$/, parts(numaNodes.shape, { memoryMb: 'memory', hostNodes: 'hostnodes' })),
    usb: positional(from, 'usb', parts(usb.shape, { device: 'host' })),
    hostpci: numbered(/^hostpci\d+$/, parts(pci.shape, { device: 'id', romBar: 'rombar', primaryGpu: 'xvga' })),
    virtiofs: positional(from, 'virtiofs', parts(virtiofs.shape)),
  }
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
