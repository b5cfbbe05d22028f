import type { SettingValue } from '../../model/rest.ts'
import { childrenOf, element, find, findOrMake, removeChild, setText, textIn, type XmlElement } from './xml.ts'

/** The kind of place of a setting. */
export type PlaceKind = 'network' | 'pool'

export function placeKind(definition: string): PlaceKind | undefined {
  return definition === 'libvirt-network' ? 'network' : definition === 'libvirt-pool' ? 'pool' : undefined
}

/** Returns the command that prints a definition. The test driver knows only the current state. */
export function dumpPlace(kind: PlaceKind, uri: string): readonly string[] {
  const verb = kind === 'network' ? 'net-dumpxml' : 'pool-dumpxml'
  return uri.startsWith('test:') ? [verb] : [verb, '--inactive']
}

/** One field of a place: how it is read from libvirt's XML and written to it. */
interface PlaceField {
  read(xml: XmlElement): SettingValue | undefined
  write(xml: XmlElement, value: SettingValue): void
}

/** All declarable fields of a network. Other settings stay as they are. */
const NETWORK: Readonly<Record<string, PlaceField>> = {
  mode: {
    read: (xml) => {
      const forward = find(xml, 'forward')
      return forward === undefined ? 'isolated' : (forward.attributes.mode ?? 'nat')
    },
    write(xml, value) {
      const before = find(xml, 'forward')
      if (value === 'isolated') {
        if (before !== undefined) removeChild(xml, before)
      } else findOrMake(xml, 'forward').attributes.mode = wordOf(value)
    },
  },
  bridge: attribute('bridge', 'name'),
  mtu: number('mtu', 'size'),
  domain: attribute('domain', 'name'),
  dns: {
    read: (xml) => find(xml, 'dns')?.attributes.enable !== 'no',
    write: (xml, value) => {
      findOrMake(xml, 'dns').attributes.enable = value === true ? 'yes' : 'no'
    },
  },
  openvswitch: {
    read: (xml) => find(xml, 'virtualport')?.attributes.type === 'openvswitch',
    write(xml, value) {
      const before = find(xml, 'virtualport')
      if (value === true) findOrMake(xml, 'virtualport').attributes.type = 'openvswitch'
      else if (before !== undefined) removeChild(xml, before)
    },
  },
  vlan: number('vlan/tag', 'id'),
  addresses: { read: (xml) => childrenOf(xml, 'ip').map(cidrOf), write: writeAddresses },
  dhcp: {
    read(xml) {
      const { start, end } = find(leases(xml), 'range')?.attributes ?? {}
      return start === undefined || end === undefined ? undefined : { from: start, to: end }
    },
    write(xml, value) {
      const { from, to } = value as { readonly from: string; readonly to: string }
      const ip = childrenOf(xml, 'ip').find(isIpv4)
      if (ip === undefined) return
      const range = findOrMake(ip, 'dhcp/range')
      range.attributes.start = from
      range.attributes.end = to
    },
  },
}

const POOL: Readonly<Record<string, PlaceField>> = {
  type: {
    read: (xml) => xml.attributes.type,
    write: (xml, value) => {
      xml.attributes.type = wordOf(value)
    },
  },
  path: {
    read: (xml) => text(find(xml, 'target/path')),
    write: (xml, value) => setText(findOrMake(xml, 'target/path'), wordOf(value)),
  },
  source: {
    read(xml) {
      const host = find(xml, 'source/host')?.attributes.name
      const path = find(xml, 'source/dir')?.attributes.path
      return host === undefined || path === undefined ? undefined : { host, path }
    },
    write(xml, value) {
      const { host, path } = value as { readonly host: string; readonly path: string }
      findOrMake(xml, 'source/host').attributes.name = host
      findOrMake(xml, 'source/dir').attributes.path = path
    },
  },
  volumeGroup: {
    read: (xml) => text(find(xml, 'source/name')),
    write(xml, value) {
      setText(findOrMake(xml, 'source/name'), wordOf(value))
      setText(findOrMake(xml, 'target/path'), `/dev/${wordOf(value)}`)
    },
  },
}

const FIELDS: Readonly<Record<PlaceKind, Readonly<Record<string, PlaceField>>>> = { network: NETWORK, pool: POOL }

/** Returns a place's fields as its declaration has them. */
export function viewPlace(kind: PlaceKind, xml: XmlElement): Readonly<Record<string, SettingValue>> {
  const found: Record<string, SettingValue> = {}
  for (const [name, { read }] of Object.entries(FIELDS[kind])) {
    const value = read(xml)
    if (value !== undefined) found[name] = value
  }
  return found
}

/** Writes only these fields into a place's XML. Returns the name of an unknown one. */
export function writePlace(
  kind: PlaceKind,
  xml: XmlElement,
  fields: Readonly<Record<string, SettingValue>>,
): string | undefined {
  for (const [name, value] of Object.entries(fields)) {
    const field = FIELDS[kind][name]
    if (field === undefined) return name
    field.write(xml, value)
  }
  return undefined
}

export function newPlace(kind: PlaceKind, name: string, uuid: string): XmlElement {
  return element(kind, {}, [element('name', {}, name), element('uuid', {}, uuid)])
}

function attribute(path: string, name: string): PlaceField {
  return {
    read: (xml) => find(xml, path)?.attributes[name],
    write: (xml, value) => {
      findOrMake(xml, path).attributes[name] = wordOf(value)
    },
  }
}

function number(path: string, name: string): PlaceField {
  const { read, write } = attribute(path, name)
  return {
    read(xml) {
      const found = Number(read(xml) ?? Number.NaN)
      return Number.isFinite(found) ? found : undefined
    },
    write,
  }
}

function isIpv4(ip: XmlElement): boolean {
  return ip.attributes.family !== 'ipv6'
}

function leases(xml: XmlElement): XmlElement | undefined {
  return find(childrenOf(xml, 'ip').find(isIpv4), 'dhcp')
}

/** libvirt prints the prefix as it was given: in bits, or as a mask. */
function cidrOf({ attributes }: XmlElement): string {
  const { address = '', prefix, netmask } = attributes
  return `${address}/${prefix ?? bitsOf(netmask ?? '')}`
}

function bitsOf(netmask: string): number {
  return netmask
    .split('.')
    .map((octet) => Number(octet).toString(2).replaceAll('0', '').length)
    .reduce((sum, bits) => sum + bits, 0)
}

/** Other settings of an address, such as a person's reservations, stay with its family. */
function writeAddresses(xml: XmlElement, value: SettingValue): void {
  const wanted = value as readonly string[]
  const before = childrenOf(xml, 'ip')
  for (const cidr of wanted) {
    const [address = '', prefix = ''] = cidr.split('/')
    const family = cidr.includes(':') ? 'ipv6' : 'ipv4'
    let ip = before.find((one) => (one.attributes.family ?? 'ipv4') === family)
    if (ip === undefined) {
      ip = element('ip', { family })
      xml.children.push(ip)
    }
    ip.attributes.address = address
    ip.attributes.prefix = prefix
    delete ip.attributes.netmask
  }
  const families = wanted.map((cidr) => (cidr.includes(':') ? 'ipv6' : 'ipv4'))
  for (const ip of before)
    if (!families.includes(ip.attributes.family === 'ipv6' ? 'ipv6' : 'ipv4')) removeChild(xml, ip)
}

function text(node: XmlElement | undefined): string | undefined {
  const found = textIn(node).trim()
  return found === '' ? undefined : found
}

function wordOf(value: SettingValue): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
