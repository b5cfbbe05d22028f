import { failed } from '../../api-error.ts'
import { textOf } from '../shelf.ts'

/** The interfaces of a host as they would be written. */
export type Interfaces = ReadonlyMap<string, Readonly<Record<string, unknown>>>

const PORTS = ['bridge_ports', 'ovs_ports', 'slaves', 'ovs_bonds']
/** Where the writer of the file stands: what it dies of without an end of line is followed by this. */
const WRITER = '/usr/share/perl5/PVE/Network/Interfaces.pm'

export function words(value: unknown): string[] {
  return textOf(value)
    .split(/[\s,;]+/)
    .filter((word) => word !== '')
}

/** Ports that are written in the file: there a comma is part of a name. */
export function splitBySpace(value: unknown): string[] {
  return textOf(value)
    .split(/\s+/)
    .filter((word) => word !== '')
}

export function portsOf(entry: Readonly<Record<string, unknown>>): string[] {
  return PORTS.flatMap((name) => words(entry[name]))
}

/** The parameter under which ports were given. */
export function portParameter(entry: Readonly<Record<string, unknown>>): string {
  return PORTS.find((name) => textOf(entry[name]) !== '') ?? 'bridge_ports'
}

/** Checks the whole file before it is written, not only the changed interface. */
export function checkInterfaces(all: Interfaces): void {
  for (const [name, entry] of all) if (entry.type === 'bond') checkBond(all, name, entry)
  for (const [name, entry] of all) if (entry.type === 'vlan') checkVlan(all, name, entry)
  for (const [name, entry] of all) if (entry.type === 'bridge') checkBridge(all, name, entry)
}

function checkBond(all: Interfaces, name: string, entry: Readonly<Record<string, unknown>>): void {
  const slaves = splitBySpace(entry.slaves)
  for (const slave of slaves) {
    // One that is not there has no type: that is what is complained about.
    const type = typeOf(all, slave) ?? ''
    if (type !== 'eth' && type !== 'bond')
      throw failed(`bond '${name}' - wrong interface type on slave '${slave}' ('${type}' != 'eth or bond')`)
    checkMtu(all, name, slave)
  }
  const primary = textOf(entry['bond-primary'])
  if (slaves.length > 0 && primary !== '' && !slaves.includes(primary))
    throw failed(`bond '${name}' - bond-primary interface is not a slave at ${WRITER} line 908.`)
}

/** The loopback exists even if the file does not list it. */
function typeOf(all: Interfaces, name: string): string | undefined {
  const found = all.get(name)
  return found === undefined ? (name === 'lo' ? 'loopback' : undefined) : textOf(found.type)
}

function checkVlan(all: Interfaces, name: string, entry: Readonly<Record<string, unknown>>): void {
  const dotted = /^(\S+)\.(\d+)$/.exec(name)
  const numbered = /^vlan(\d+)$/.exec(name)
  const parent = dotted?.[1] ?? textOf(entry['vlan-raw-device'])
  if (parent === '') throw failed(`missing vlan-raw-device option at ${WRITER} line 954.`)
  const id = dotted?.[2] ?? numbered?.[1] ?? textOf(entry['vlan-id'])
  if (id === '') throw failed(`missing vlan-id option at ${WRITER} line 962.`)
  if (Number(id) > 4094) throw failed(`vlan '${name}' - vlan-id ${id} should be <= 4094`)
  const type = typeOf(all, parent)
  if (type === undefined) throw failed(`vlan '${name}' - unable to find parent '${parent}'`)
  if (!/^(eth|bridge|bond|vlan)$/.test(type))
    throw failed(`vlan '${name}' - wrong interface type on parent '${parent}' ('${type}' != 'eth|bond|bridge|vlan' )`)
  checkMtu(all, parent, name)
}

function checkBridge(all: Interfaces, name: string, entry: Readonly<Record<string, unknown>>): void {
  for (const port of splitBySpace(entry.bridge_ports)) {
    // A VLAN of a card need not be declared to be a port.
    const vlan = /\S\.\d+$/.test(port)
    const found = all.get(port)
    if (found === undefined && !vlan) throw failed(`bridge '${name}' - unable to find bridge port '${port}'`)
    const addressed = (six: '' | '6', none: string) =>
      found?.[`method${six}`] === 'static' && found[`address${six}`] !== none
    if (addressed('', '0.0.0.0') || addressed('6', '::'))
      throw failed(`iface ${port} - ip address can't be set on interface if bridged in ${name}`)
    const card = /^(\S+)\.\d+$/.exec(port)?.[1] ?? ''
    // One that is not declared is as wide as its card was told to be.
    const widths = found === undefined ? new Map([...all, [port, { mtu: all.get(card)?.mtu }]]) : all
    checkMtu(widths, port, name)
  }
}

export function checkMtu(all: Interfaces, parent: string, child: string): void {
  const wanted = Number(all.get(child)?.mtu ?? 0)
  if (wanted === 0) return
  const above = all.get(parent)
  const own = Number(above?.mtu ?? 0)
  const most = own > 0 ? own : above?.type === 'bond' ? wanted : 1500
  if (most < wanted) throw failed(`interface '${parent}' - mtu ${most} is lower than '${child}' - mtu ${wanted}`)
}
