import { ipv4Network } from '../../../kinds/fields/address.ts'
import { KINDS } from '../../../kinds/registry.ts'
import { defined } from '../../../lib/defined.ts'
import { isFields } from '../../manifest.ts'
import type { Fields } from '../reading.ts'
import { isEmpty, wordOf } from './attributes.ts'
import type { Carried, Instance } from './resource.ts'

/** Attributes that the manifest carries, and computed ones. */
const SAID: Readonly<Record<'LibvirtNetwork' | 'LibvirtPool', RegExp>> = {
  LibvirtNetwork: /^(?:id|uuid|name|mode|forward|bridge|addresses|ips|dhcp|dns|domain|mtu|autostart|mac|timeouts)$/,
  LibvirtPool: /^(?:id|uuid|name|type|path|target|source|create|destroy|(?:capacity|allocation|available)\w*)$/,
}

/** A network of dmacvicar's provider: 0.8 names the range and computes the rest, 0.9 follows libvirt's XML. */
export function networkOf(instance: Instance, host: string): Carried | { readonly why: string } {
  const { attributes } = instance
  const mode = modeOf(attributes)
  if (!['nat', 'route', 'open', 'isolated', 'bridge'].includes(mode)) return { why: `croft has no mode ${mode}` }
  const own = mode !== 'bridge'
  const ips = ipsOf(attributes)
  const dns = first(attributes.dns)
  const spec = defined({
    mode,
    bridge: own ? undefined : nameIn(attributes.bridge),
    addresses: own && ips.length > 0 ? ips.map(({ address }) => address) : undefined,
    dhcp: own ? ips.find(({ dhcp }) => dhcp !== undefined)?.dhcp : undefined,
    dns: own ? dnsOf(dns) : undefined,
    domain: own ? nameIn(attributes.domain) : undefined,
    mtu: own ? mtuOf(attributes.mtu) : undefined,
    autostart: attributes.autostart === true,
  })
  const beside = Object.keys(dns)
    .filter((name) => !['enabled', 'enable', 'local_only'].includes(name) && !isEmpty(dns[name]))
    .map((name) => `dns.${name}`)
  return carried('LibvirtNetwork', instance, host, spec, beside)
}

/** Returns the pool. The provider starts pools with their host by default; 0.9 can disable it. */
export function poolOf(instance: Instance, host: string): Carried | { readonly why: string } {
  const { attributes } = instance
  const type = wordOf(attributes.type) ?? ''
  if (!['dir', 'netfs', 'logical'].includes(type)) return { why: `croft has no pools of type ${type}` }
  const source = first(attributes.source)
  const server = { host: wordOf(first(source.host).name), path: wordOf(first(source.dir).path) }
  const path = wordOf(first(attributes.target).path) ?? wordOf(attributes.path)
  const spec = defined({
    type,
    path: type === 'logical' ? undefined : path,
    source: type === 'netfs' && server.host !== undefined && server.path !== undefined ? server : undefined,
    volumeGroup: type === 'logical' ? (wordOf(source.name) ?? instance.attributes.name) : undefined,
    autostart: first(attributes.create).autostart === false ? false : undefined,
  })
  return carried('LibvirtPool', instance, host, spec, [])
}

function carried(
  kindName: 'LibvirtNetwork' | 'LibvirtPool',
  { name, attributes }: Instance,
  host: string,
  spec: Fields,
  beside: readonly string[],
): Carried | { readonly why: string } {
  const kind = KINDS.find((one) => one.kind === kindName)
  const uuid = wordOf(attributes.uuid) ?? wordOf(attributes.id)
  if (kind === undefined || uuid === undefined) return { why: 'the state does not hold its UUID' }
  const left = [
    ...Object.keys(attributes).filter((one) => !SAID[kindName].test(one) && !isEmpty(attributes[one])),
    ...beside,
  ].sort()
  return {
    kind,
    manifest: {
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { name: name(kindName) },
      spec: { host, uuid, ...spec, deletionPolicy: 'Orphan' },
    },
    without: left.length === 0 ? [] : [`not declared, and left as it is: ${left.join(', ')}`],
  }
}

function modeOf({ mode, forward }: Fields): string {
  const said = wordOf(mode) ?? wordOf(first(forward).mode)
  // Without <forward> the network is isolated; a <forward> without a mode is NAT.
  if (said !== undefined && said !== '') return said === 'none' ? 'isolated' : said
  return isFields(forward) ? 'nat' : 'isolated'
}

interface Ip {
  readonly address: string
  readonly dhcp?: { readonly from: string; readonly to: string }
}

function ipsOf({ addresses, dhcp, ips }: Fields): readonly Ip[] {
  if (Array.isArray(ips)) return ips.filter(isFields).flatMap(ipOf)
  const leases = first(dhcp).enabled === true
  return (Array.isArray(addresses) ? addresses : []).flatMap((cidr: unknown) =>
    typeof cidr === 'string' ? hostIn(cidr, leases) : [],
  )
}

/** 0.9: as libvirt writes it, with a prefix or a mask. */
function ipOf({ address, prefix, netmask, dhcp }: Fields): readonly Ip[] {
  const bits = wordOf(prefix) ?? bitsOf(wordOf(netmask))
  if (typeof address !== 'string' || bits === undefined) return []
  const range = first(first(dhcp).ranges)
  const [from, to] = [wordOf(range.start), wordOf(range.end)]
  const leases = from !== undefined && to !== undefined && !address.includes(':') ? { dhcp: { from, to } } : {}
  return [{ address: `${address}/${bits}`, ...leases }]
}

/** 0.8: a range whose first address the host has; from the second on they are leased. */
function hostIn(cidr: string, leases: boolean): readonly Ip[] {
  const [base = '', bits = ''] = cidr.split('/')
  if (base.includes(':')) return base.endsWith('::') ? [{ address: `${base}1/${bits}` }] : []
  const { first: low, last } = ipv4Network(cidr)
  const range = { dhcp: { from: dotted(low + 2), to: dotted(last - 1) } }
  return [{ address: `${dotted(low + 1)}/${bits}`, ...(leases ? range : {}) }]
}

function dotted(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.')
}

function bitsOf(netmask: string | undefined): string | undefined {
  if (netmask === undefined) return undefined
  const ones = netmask.split('.').map((octet) => Number(octet).toString(2).replaceAll('0', '').length)
  return String(ones.reduce((sum, bits) => sum + bits, 0))
}

/** Undefined: not set, so libvirt decides. */
function dnsOf({ enabled, enable }: Fields): boolean | undefined {
  if (typeof enabled === 'boolean') return enabled
  return enable === 'yes' ? true : enable === 'no' ? false : undefined
}

function mtuOf(value: unknown): number | undefined {
  const size = Number(wordOf(isFields(value) ? value.size : value) ?? 0)
  return size > 0 ? size : undefined
}

/** 0.8 writes the name, 0.9 an object with it. */
function nameIn(value: unknown): string | undefined {
  const name = wordOf(isFields(value) ? value.name : value)
  return name === '' ? undefined : name
}

/** 0.8 writes a block as a list of one, 0.9 as an object. */
function first(value: unknown): Fields {
  const one: unknown = Array.isArray(value) ? value[0] : value
  return isFields(one) ? { ...one } : {}
}
