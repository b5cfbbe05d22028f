import { failed } from '../../api-error.ts'
import { textOf } from '../shelf.ts'
import { checkMtu, type Interfaces, portsOf, splitBySpace } from './check.ts'

type OvsEntry = Record<string, unknown>

/**
 * Before the file is written, ports of Open vSwitch are made to fit its bridges: a port of no bridge becomes a card again,
 * one of another sort of bridge is forgotten, and a card that a bridge names becomes its port.
 */
export function attachOvsPorts(all: Interfaces): Map<string, OvsEntry> {
  const made = new Map([...all].map(([name, entry]): [string, OvsEntry] => [name, { ...entry }]))
  const bridgeOf = new Map([...made].flatMap(([name, entry]) => portsOf(entry).map((port) => [port, name] as const)))
  for (const [name, { type }] of all) {
    if (type !== 'OVSPort' && type !== 'OVSIntPort' && type !== 'OVSBond') continue
    const bridge = made.get(bridgeOf.get(name) ?? '')
    if (bridge === undefined) made.set(name, { type: 'eth', exists: 1, method: 'manual', families: ['inet'] })
    else if (bridge.type !== 'OVSBridge') made.delete(name)
  }
  for (const [name, entry] of made) if (entry.type === 'OVSBridge') attachPorts(made, name, entry)
  for (const [name, entry] of made) if (entry.type === 'OVSBond') checkSlaves(made, name, entry)
  return made
}

function attachPorts(all: Map<string, OvsEntry>, name: string, entry: OvsEntry): void {
  for (const port of splitBySpace(entry.ovs_ports)) {
    const found = all.get(port)
    if (found === undefined) throw failed(`OVS bridge '${name}' - unable to find port '${port}'`)
    // Its bridge starts it, and the file says so in the words for what starts by itself.
    found.autostart = 1
    if (found.type === 'eth') found.type = 'OVSPort'
    else if (!/^OVS(?:Bond|Port|IntPort)$/.test(textOf(found.type)))
      throw failed(`interface '${port}' is not defined as OVS port/bond`)
    found.ovs_bridge = name
    checkMtu(all, name, port)
  }
}

function checkSlaves(all: Map<string, OvsEntry>, name: string, entry: OvsEntry): void {
  for (const slave of splitBySpace(entry.ovs_bonds)) {
    // One that is not there has no type: that is what is complained about.
    const type = textOf(all.get(slave)?.type)
    if (type !== 'eth')
      throw failed(`OVS bond '${name}' - wrong interface type on slave '${slave}' ('${type}' != 'eth')`)
    checkMtu(all, name, slave)
  }
}
