import { textOf } from '../shelf.ts'
import { type Interfaces, splitBySpace } from './check.ts'

type Entry = Record<string, unknown>

/**
 * The interfaces as they come back from the file that was written of them. Sorts are found out by names and lines, not by
 * what was sent; numbers come back as texts; what a sort does not know is not written.
 */
export function throughFile(all: Interfaces, isUp: (iface: string) => boolean): Map<string, Entry> {
  const entries = new Map([...all].map(([name, entry]) => [name, prepared(name, entry)]))
  for (const { type, slaves } of entries.values())
    if (type === 'bond')
      for (const slave of splitBySpace(slaves)) {
        const entry = entries.get(slave)
        if (entry !== undefined) entry.autostart = 1
      }
  const read = new Map<string, Entry>()
  // The first two are taken by the file itself and by the loopback.
  let priority = 3
  for (const name of inOrder(entries)) {
    const entry = readBack(name, entries.get(name) ?? {})
    const place = name === 'lo' ? 2 : priority++
    read.set(name, { ...entry, priority: place, ...(isUp(name) ? { active: 1 } : {}) })
  }
  for (const [name, entry] of read) {
    const parent = entry.type === 'vlan' ? textOf(entry['vlan-raw-device']) : /^(\S+):\d+$/.exec(name)?.[1]
    // There or not as what it is on; the sandbox of a host does not know of its cards.
    if (parent !== undefined) entry.exists = read.get(parent)?.exists ?? null
  }
  return read
}

function prepared(name: string, { cidr, cidr6, active: _active, ...entry }: Readonly<Entry>): Entry {
  const made: Entry = { ...entry }
  if (made.address === undefined && cidr !== undefined) made.address = cidr
  if (made.address6 === undefined && cidr6 !== undefined) made.address6 = cidr6
  if (made.type === 'vlan' && /^\S+\.\d+$/.test(name)) delete made['vlan-raw-device']
  if (made.type === 'vlan' && /^(?:\S+\.|vlan)\d+$/.test(name)) delete made['vlan-id']
  return made
}

const RANKS: Readonly<Record<string, number>> = {
  loopback: 1,
  eth: 2,
  OVSPort: 2,
  OVSIntPort: 3,
  OVSBond: 4,
  bond: 4,
  bridge: 5,
  OVSBridge: 5,
  vlan: 6,
}

function inOrder(entries: ReadonlyMap<string, Entry>): string[] {
  const rank = (name: string) => {
    const [root = '', ...below] = name.split(/[.:]/)
    const type = textOf(entries.get(root)?.type)
    return type === '' || type === 'unknown' ? undefined : (RANKS[type] ?? 0) * 100_000 + below.length
  }
  return [...entries.keys()].sort((a, b) => {
    const [first, second] = [rank(a), rank(b)]
    const both = first !== undefined && second !== undefined
    const place = (name: string, own: number | undefined) =>
      (both ? (own ?? 0) : 0) + Number(entries.get(name)?.priority ?? 50_000)
    return place(a, first) - place(b, second) || (a < b ? -1 : 1)
  })
}

function readBack(name: string, entry: Entry): Entry {
  const read: Entry = {}
  const families = (entry.families as readonly string[] | undefined) ?? ['inet']
  const written: string[] = []
  for (const family of families) {
    const suffix = family === 'inet6' ? '6' : ''
    if (textOf(entry[`method${suffix}`]) === '') continue
    written.push(family)
    read[`method${suffix}`] = entry[`method${suffix}`]
    readAddress(read, entry, suffix)
    if (written.length === 1) for (const [id, value] of optionsOf(entry)) readOption(read, id, value)
    const comments = families.length === 1 ? (entry.comments6 ?? entry.comments) : entry[`comments${suffix}`]
    if (textOf(comments) !== '') read.comments = `${textOf(read.comments)}${textOf(comments).replace(/\n+$/, '')}\n`
  }
  if (entry.autostart !== undefined && textOf(entry.autostart) !== '0') read.autostart = 1
  if (entry.exists !== undefined && entry.exists !== null) read.exists = entry.exists
  read.type = sortOf(name, read)
  read.method ??= 'manual'
  read.method6 ??= 'manual'
  read.families = written
  return read
}

function readAddress(read: Entry, entry: Entry, suffix: '' | '6'): void {
  const address = textOf(entry[`address${suffix}`])
  if (address !== '') {
    const mask = bitsOf(textOf(entry[`netmask${suffix}`]))
    const cidr = address.includes('/') || mask === '' ? address : `${address}/${mask}`
    const [bare = '', bits] = cidr.split('/')
    read[`address${suffix}`] = bare
    if (bits !== undefined) read[`netmask${suffix}`] = bits
    read[`cidr${suffix}`] = bits === undefined ? `${bare}/${suffix === '' ? 32 : 128}` : cidr
  }
  const gateway = textOf(entry[`gateway${suffix}`])
  if (gateway !== '') read[`gateway${suffix}`] = gateway
}

/** `255.255.255.0` and `24` are the same mask. */
function bitsOf(mask: string): string {
  if (!mask.includes('.')) return mask
  const bits = mask.split('.').map((part) => Number(part).toString(2).padStart(8, '0'))
  return String(bits.join('').replace(/0+$/, '').length)
}

const NOT_OPTIONS = new Set(
  ['type', 'priority', 'active', 'exists', 'autostart', 'options', 'families', 'uplink-id'].concat(
    ['method', 'comments', 'address', 'netmask', 'gateway', 'broadcast'].flatMap((name) => [name, `${name}6`]),
  ),
)

/** The lines below an interface, by the names under which they are read again. */
function optionsOf(entry: Entry): readonly (readonly [string, string])[] {
  const type = textOf(entry.type)
  const lines: (readonly [string, string])[] = []
  const done = new Set(NOT_OPTIONS)
  const given = (name: string) => textOf(entry[name])
  const line = (name: string, value: string) => {
    done.add(name)
    if (value !== '') lines.push([name, value])
  }
  const spaced = (name: string) => given(name).replace(/[;,\s]+/g, ' ') || 'none'
  if (type === 'bridge') {
    const stp = given('bridge_stp') || 'off'
    const fd = given('bridge_fd')
    line('bridge_ports', spaced('bridge_ports'))
    line('bridge_stp', stp)
    line('bridge_fd', stp === 'off' ? fd || '0' : Number(fd) >= 2 && Number(fd) <= 30 ? fd : '')
    const aware = entry.bridge_vlan_aware !== undefined
    line('bridge_vlan_aware', aware ? 'yes' : '')
    line('bridge_vids', aware ? given('bridge_vids') || '2-4094' : '')
    done.add('bridge-disable-mac-learning')
  } else if (type === 'bond') {
    const mode = given('bond_mode')
    line('slaves', spaced('slaves'))
    line('bond_miimon', given('bond_miimon') || '100')
    line('bond_mode', mode || 'balance-rr')
    const hashed = mode === 'balance-xor' || mode === '802.3ad'
    line('bond_xmit_hash_policy', hashed ? given('bond_xmit_hash_policy') : '')
    line('bond-primary', mode === 'active-backup' ? given('bond-primary') : '')
  } else if (type.startsWith('OVS')) line('ovs_type', type)
  for (const name of Object.keys(entry).sort())
    if (!done.has(name) && given(name) !== '' && given(name) !== '0') lines.push([name, given(name)])
  return lines
}

function readOption(read: Entry, id: string, value: string): void {
  if (id === 'slaves' || id === 'bridge_ports')
    read[id] = [...new Set(value.split(/\s+/).filter((word) => word !== 'none'))].sort().join(' ')
  else if (id === 'bridge_vlan_aware') read[id] = 1
  else read[id] = value
}

function sortOf(name: string, read: Entry): string {
  if (read.bridge_ports !== undefined) return 'bridge'
  if (read.ovs_type !== undefined) return textOf(read.ovs_type)
  if (/^bond\d+$/.test(name)) return 'bond'
  if (/^\S+:\d+$/.test(name)) return 'alias'
  const [, card, number] = /^(?:(\S+)\.|vlan)(\d+)$/.exec(name) ?? []
  if (card !== undefined || read['vlan-raw-device'] !== undefined) {
    if (card !== undefined) read['vlan-raw-device'] ??= card
    if (number !== undefined) read['vlan-id'] = number
    return 'vlan'
  }
  if (name === 'lo') return 'loopback'
  return /^(?:eth\d+|en[^:.]+|ib[^:.]+|(?:nic|if)\d+)$/.test(name) ? 'eth' : 'unknown'
}
