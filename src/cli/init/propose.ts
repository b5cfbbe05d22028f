import { isIPv4 } from 'node:net'
import { ipv4InNetwork, ipv4Network, ipv4Number, ipv4Text } from '../../kinds/fields/address.ts'
import type { Found } from './found.ts'
import type { ReadAnswer } from './question.ts'

/** What a first estate could be on these hosts. A field is absent if only a person can say it. */
export interface Proposal {
  readonly bridge?: string | undefined
  readonly disks?: string | undefined
  readonly files?: string | undefined
  /** `192.168.4.0/24` */
  readonly network?: string | undefined
  readonly gateway?: string | undefined
  readonly nameServers: readonly string[]
  readonly servers: number
}

/** Proposes an estate. Pure. Prefers names that all hosts have, so that machines may run on any of them. */
export function propose(found: Found): Proposal {
  const bridge = bridgeNames(found).find((name) => gatewayOn(found, name) !== undefined) ?? bridgeNames(found)[0]
  return {
    ...(bridge === undefined ? {} : { bridge, ...networkOn(found, bridge) }),
    disks: diskStorages(found)[0],
    files: fileStorages(found)[0],
    nameServers: found.nameServers.filter((one) => IPV4.test(one)),
    // Two servers are less safe than one: losing either of them loses the quorum.
    servers: found.hosts.length >= 3 ? 3 : 1,
  }
}

const IPV4 = /^\d+(?:\.\d+){3}$/

/** Bridges that every host has, by name. */
export function bridgeNames({ hosts, bridges }: Found): readonly string[] {
  const names = [...new Set(bridges.map(({ name }) => name))].sort()
  return names.filter((name) => hosts.every((host) => bridges.some((one) => one.host === host && one.name === name)))
}

/** The network behind a bridge, as the first host with an address on it sees it. */
export function networkOn(found: Found, bridge: string): Pick<Proposal, 'network' | 'gateway'> {
  const address = found.bridges.find((one) => one.name === bridge && one.address !== undefined)?.address
  const network = address === undefined ? undefined : networkOf(address)
  return { network, gateway: gatewayOn(found, bridge) }
}

function gatewayOn({ bridges }: Found, bridge: string): string | undefined {
  return bridges.find((one) => one.name === bridge && one.gateway !== undefined)?.gateway
}

function networkOf(address: string): string | undefined {
  if (!/^\d+(?:\.\d+){3}\/\d+$/.test(address)) return undefined
  const { first, prefix } = ipv4Network(address)
  return `${ipv4Text(first)}/${prefix}`
}

/** Returns storages for machine disks: first those for disks alone, then by free space. */
export function diskStorages(found: Found): readonly string[] {
  return everywhere(found, (content) => content.includes('images'), ['iso', 'backup', 'vztmpl'])
}

/** For images that machines are made from, and for the seed that each boots with first. */
export function fileStorages(found: Found): readonly string[] {
  return everywhere(found, (content) => content.includes('import') && content.includes('iso'), [])
}

function everywhere(
  { hosts, storages }: Found,
  fits: (content: readonly string[]) => boolean,
  ratherNot: readonly string[],
): readonly string[] {
  const usable = storages.filter(({ available, content }) => available && fits(content))
  const names = [...new Set(usable.map(({ name }) => name))].filter((name) =>
    hosts.every((host) => usable.some((one) => one.host === host && one.name === name)),
  )
  // A storage counts with the free space of the fullest host.
  const free = (name: string) =>
    Math.min(...usable.filter((one) => one.name === name).map((one) => (one.totalBytes ?? 0) - (one.usedBytes ?? 0)))
  const mixed = (name: string) =>
    usable.some((one) => one.name === name && one.content.some((content) => ratherNot.includes(content))) ? 1 : 0
  return names.sort((a, b) => mixed(a) - mixed(b) || free(b) - free(a) || (a < b ? -1 : 1))
}

/** Addresses from a first to a last, both included. */
export interface FreeRange {
  readonly from: string
  readonly to: string
}

/** Returns the range, or why its addresses cannot be given to machines. Pure. */
export function readRange(
  text: string,
  { network, gateway, servers }: { readonly network: string; readonly gateway: string; readonly servers: number },
  { bridges }: Pick<Found, 'bridges'>,
): ReadAnswer<FreeRange> {
  const example = exampleRange(network)
  const [from = '', to = '', more] = text.split('-').map((part) => part.trim())
  if (!IPV4.test(from) || !IPV4.test(to) || more !== undefined)
    return { problem: `write the first and the last address, like ${example}` }
  for (const end of [from, to])
    if (!isIPv4(end) || !ipv4InNetwork(end, network))
      return { problem: `${end} is not in ${network}, the network of the hosts` }
  const count = ipv4Number(to) - ipv4Number(from) + 1
  if (count < servers + 1)
    return {
      problem: `${servers + 1} addresses are the least: one for the Kubernetes API and one for each server`,
    }
  if (count > MOST)
    return { problem: `${MOST} addresses are the most for a first range; add ranges to the AddressPool later` }
  const own = [{ address: gateway, who: 'the gateway' }]
  for (const { host, address } of bridges)
    if (address !== undefined) own.push({ address: address.split('/')[0] ?? '', who: `host ${host}` })
  const { first, last } = ipv4Network(network)
  own.push({ address: ipv4Text(first), who: 'the network itself' }, { address: ipv4Text(last), who: 'for broadcasts' })
  const taken = own.find(({ address }) => isIPv4(address) && within(address, { from, to }))
  return taken === undefined
    ? { is: { from, to } }
    : { problem: `${taken.address} is ${taken.who}: choose a range without it` }
}

/** More addresses than a first estate needs, and few enough to probe each of them. */
const MOST = 254

function within(address: string, { from, to }: FreeRange): boolean {
  const value = ipv4Number(address)
  return value >= ipv4Number(from) && value <= ipv4Number(to)
}

/** Returns an example range near the end of a network, where routers rarely assign addresses. */
export function exampleRange(network: string): string {
  const { last, first } = ipv4Network(network)
  const to = Math.max(first + 1, last - 5)
  return `${ipv4Text(Math.max(first + 1, to - 20))}-${ipv4Text(to)}`
}

export function addressesIn({ from, to }: FreeRange): readonly string[] {
  return Array.from({ length: ipv4Number(to) - ipv4Number(from) + 1 }, (_, at) => ipv4Text(ipv4Number(from) + at))
}

/** `k` → `https://k:8006`; a whole URL stays. Undefined: invalid. */
export function endpointOf(text: string): string | undefined {
  const whole = /^https?:\/\//.test(text) ? text : `https://${text}`
  if (!URL.canParse(whole)) return undefined
  const { protocol, hostname, port, pathname, username } = new URL(whole)
  if (protocol !== 'https:' || hostname === '' || username !== '' || pathname !== '/') return undefined
  return `https://${hostname}:${port === '' ? '8006' : port}`
}
