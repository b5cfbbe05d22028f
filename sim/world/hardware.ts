import type { PciDevice } from './parts.ts'
import { parseProperties } from './properties.ts'
import type { Host, World } from './types.ts'

/** Why a PCI mapping does not fit what is in the host, or undefined when it does. */
export function pciProblem(host: Host, name: string, entry: string, mdev?: boolean): string | undefined {
  const { named } = parseProperties(entry)
  for (const [index, path] of (named.get('path') ?? '').split(';').entries()) {
    const full = withFunction(path)
    const device = host.pci.find((one) => one.path === full)
    if (device === undefined) return `pci device '${full}' not found`
    const expected = expectedOf(device, mdev)
    const configured = new Map(named)
    if (mdev !== undefined) configured.set('mdev', mdev ? '1' : '0')
    for (const [property, value] of expected) {
      if (property === 'iommugroup' && index > 0) continue
      const written = configured.get(property)
      if (value === undefined && written === undefined) continue
      if (written === undefined) return `missing expected property '${property}' for device '${full}'`
      if (value === undefined) return `unexpected property '${property}' configured for device '${full}'`
      if (value !== written.replaceAll('0x', ''))
        return `'${property}' does not match for '${name}' (${value} != ${written.replaceAll('0x', '')})`
    }
  }
  return undefined
}

/** What a mapping has to say of a device, in the order in which it is looked at. Little is known of some. */
function expectedOf(device: PciDevice, mdev: boolean | undefined): readonly (readonly [string, string | undefined])[] {
  if (device.subsystem === undefined) return [['id', device.id]]
  return [
    ['id', device.id],
    ['iommugroup', undefined],
    ...(mdev === undefined ? [] : [['mdev', '0'] as const]),
    ['subsystem-id', device.subsystem],
  ]
}

function withFunction(path: string): string {
  return path.includes('.') ? path : `${path}.0`
}

export function usbProblem(host: Host, name: string, entry: string): string | undefined {
  const { named } = parseProperties(entry)
  const id = named.get('id') ?? ''
  const path = named.get('path')
  if (path === undefined) return host.usb.some((one) => one.id === id) ? undefined : `usb device '${id}' not found`
  const device = host.usb.find((one) => one.path === path)
  if (device === undefined) return `usb device '${path}' not found`
  return device.id === id ? undefined : `'id' does not match for '${name}' (${device.id} != ${id})`
}

const MISSING: Readonly<Record<string, string>> = {
  hostpci: 'PCI device mapping not found for',
  usb: 'USB device mapping not found for',
}

/** What keeps a guest with mapped devices from starting on a host. */
export function mappedDeviceProblem(world: World, host: Host, config: ReadonlyMap<string, string>): string | undefined {
  for (const key of [...config.keys()].sort()) {
    const kind = /^(hostpci|usb)\d+$/.exec(key)?.[1]
    const name = parseProperties(config.get(key) ?? '').named.get('mapping')
    if (kind === undefined || name === undefined) continue
    const thing = world.shelves.get(`mapping/${kind === 'usb' ? 'usb' : 'pci'}`)?.get(name)
    if (thing === undefined) return `${MISSING[kind]} '${name}'`
    const entries = (Array.isArray(thing.map) ? thing.map.map(String) : []).filter(
      (entry) => parseProperties(entry).named.get('node') === host.name,
    )
    if (entries.length === 0) return `No ${kind === 'usb' ? 'USB' : 'PCI'} device mapping for node ${host.name}`
    const judge = kind === 'usb' ? usbProblem : pciProblem
    const problem = entries.map((entry) => judge(host, name, entry)).find((text) => text !== undefined)
    const what = kind === 'usb' ? 'USB Mapping' : 'PCI device mapping'
    if (problem !== undefined) return `${what} invalid (hardware probably changed): ${problem} `
  }
  return undefined
}
