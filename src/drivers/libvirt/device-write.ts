import { aliasOf } from './domain-view.ts'
import { childrenOf, element, findOrMake, removeChild, type XmlElement } from './xml.ts'

/** Only what bears the name that we gave it; true also where it is gone already. */
export function takeOut(domain: XmlElement, head: string, slot: string): boolean {
  const name = head === 'nics' ? 'interface' : head === 'pci' || head === 'usb' ? 'hostdev' : undefined
  if (name === undefined) return head === 'seed'
  const devices = findOrMake(domain, 'devices')
  for (const device of childrenOf(devices, name)) if (aliasOf(device) === `ua-${slot}`) removeChild(devices, device)
  return true
}

/** In the place of the one that has its name. */
export function putDevice(domain: XmlElement, slot: string, made: XmlElement | undefined): boolean {
  if (made === undefined) return false
  const devices = findOrMake(domain, 'devices')
  const before = childrenOf(devices, 'hostdev').find((device) => aliasOf(device) === `ua-${slot}`)
  if (before !== undefined) removeChild(devices, before)
  devices.children.push(made)
  return true
}

export function pciDevice(slot: string, device: string): XmlElement | undefined {
  const [, domain, bus, at, fn] = /^(?:([0-9a-f]{4}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])$/i.exec(device) ?? []
  if (bus === undefined) return undefined
  const address = {
    domain: `0x${domain ?? '0000'}`,
    bus: `0x${bus}`,
    slot: `0x${at ?? '00'}`,
    function: `0x${fn ?? '0'}`,
  }
  return hostDevice(slot, 'pci', [element('address', address)])
}

export function usbDevice(slot: string, device: string): XmlElement | undefined {
  const [, vendor, product] = /^([0-9a-f]{4}):([0-9a-f]{4})$/i.exec(device) ?? []
  if (vendor === undefined || product === undefined) return undefined
  return hostDevice(slot, 'usb', [element('vendor', { id: `0x${vendor}` }), element('product', { id: `0x${product}` })])
}

function hostDevice(slot: string, type: string, source: readonly XmlElement[]): XmlElement {
  return element('hostdev', { mode: 'subsystem', type, managed: 'yes' }, [
    element('source', {}, source),
    element('alias', { name: `ua-${slot}` }),
  ])
}
