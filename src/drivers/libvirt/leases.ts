import { isIP } from 'node:net'
import { cleanText } from '../../lib/clean-text.ts'
import { LIMITS } from '../../lib/limits.ts'
import { neighbourProbe, readNeighbours } from '../../lib/neighbour-probe.ts'
import { type AddressUse, usedNear } from '../../model/address-use.ts'
import { words } from './survey.ts'
import type { Virsh } from './virsh.ts'

/** Who has these addresses on the networks of a host: by libvirt's own leases, and by who answers there. */
export async function addressUse(
  virsh: Virsh,
  host: string,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<readonly AddressUse[]> {
  const doing = `ask ${host} who has ${addresses.length === 1 ? addresses[0] : `${addresses.length} addresses`}`
  const [list = ''] = await virsh.ask([['net-list', '--name']], doing, signal)
  const networks = words(list).slice(0, LIMITS.addressLooks)
  const tables = await virsh.ask(
    networks.map((network) => ['net-dhcp-leases', network]),
    doing,
    signal,
  )
  const leased = networks.flatMap((network, at) => readLeases(tables[at] ?? '', network, host))
  const { stdout } = await virsh.run(neighbourProbe(addresses), doing, signal)
  const near = usedNear(host, readNeighbours(stdout, addresses))
  return [...leased.filter(({ address }) => addresses.includes(address)), ...near]
}

/** The table of `virsh net-dhcp-leases`: expiry, hardware address, protocol, address, name, client. Pure. */
export function readLeases(table: string, network: string, host: string): readonly AddressUse[] {
  return words(table).flatMap((line) => {
    const [, hardware = '', text = '', name = '-'] =
      /^\S+ \S+\s+((?:[0-9a-f]{2}:){5}[0-9a-f]{2})\s+ipv[46]\s+(\S+)\s+(\S+)/i.exec(line) ?? []
    const [address = ''] = text.split('/')
    if (isIP(address) === 0) return []
    const called = name === '-' ? '' : ` (${cleanText(name, 63)})`
    const by = `${hardware.toLowerCase()}${called}, which has it by DHCP from the network ${cleanText(network, 63)} of ${host}`
    return [{ address, hardware: hardware.toLowerCase(), by }]
  })
}
