import { parseProperties } from './properties.ts'
import type { Host, World } from './types.ts'

/** Why a PCI mapping does not fit what is in the host, or undefined when it does. */
export function pciProblem(host: Host, name: string, entry: string): string | undefined {
  const { named } = parseProperties(entry)
  for (const path of (named.get('path') ?? '').split(';')) {
    const device = host.pci.find((one) => one.path === withFunction(path))
    if (device === undefined) return `pci device '${path}' not found`
    const wanted = named.get('id') ?? ''
    if (device.id !== wanted) return `'id' does not match for '${name}' (${device.id} != ${wanted})`
  }
  return undefined
}

function withFunction(path: string): string {
  return path.includes('.') ? path : `${path}.0`
}

export function usbProblem(host: Host, _name: string, entry: string): string | undefined {
  const { named } = parseProperties(entry)
  const id = named.get('id') ?? ''
  const path = named.get('path')
  const found = host.usb.some((one) => one.id === id && (path === undefined || one.path === path))
  return found ? undefined : `usb device '${path ?? id}' not found`
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
