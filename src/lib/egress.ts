import { BlockList, isIP } from 'node:net'

/**
 * Destinations that untrusted text may reach. An entry is `host:port`: a name, `*.name`, an address, a network like
 * `10.1.0.0/16`, or `*`; the default port is 443. Private addresses are allowed only as addresses or networks: a name
 * does not show where it leads.
 */
export interface Egress {
  /** Reports whether this host is allowed, by name. */
  mayAsk(host: string, port: number): boolean
  /** Reports whether this address may be connected to. Checked on the resolved address, at the moment of connecting. */
  mayReach(address: string, port: number): boolean
  /** Hides details of an answer from the author of the text, who learns only that it does not fit. */
  readonly terse: boolean
}

/** For those who may do everything. */
export const EVERYWHERE: Egress = { mayAsk: () => true, mayReach: () => true, terse: false }

const ENTRY =
  /^(\*|(?:\*\.)?[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?|\[[0-9a-f:.]+\]|[0-9a-f:.]+\/\d{1,3})(?::(\d{1,5}|\*))?$/i

/** Reports whether a text is an entry of the list. */
export function isEgressEntry(entry: string): boolean {
  return ENTRY.test(entry) && parsed(entry) !== undefined
}

/** Returns what a list allows. `own`: addresses of this computer, which count as inside in any range. Pure. */
export function egressOf(entries: readonly string[], own: readonly string[] = []): Egress {
  const rules = entries.flatMap((entry) => parsed(entry) ?? [])
  return {
    terse: true,
    mayAsk(host, port) {
      const name = bare(host)
      return rules.some(
        (rule) =>
          fitsPort(rule, port) &&
          (rule.network === undefined ? fitsName(rule.host, name) : inNetwork(rule.network, name)),
      )
    },
    mayReach(address, port) {
      const listed = rules.some(
        (rule) => rule.network !== undefined && fitsPort(rule, port) && inNetwork(rule.network, address),
      )
      return listed || (!isInside(address) && !own.includes(bare(address)))
    },
  }
}

interface EgressRule {
  readonly host: string
  readonly port: number | '*'
  readonly network?: { readonly family: number; readonly list: BlockList }
}

function parsed(entry: string): EgressRule | undefined {
  const [, host = '', port = '443'] = ENTRY.exec(entry) ?? []
  if (host === '') return undefined
  const rule = { host: bare(host), port: port === '*' ? ('*' as const) : Number(port) }
  const [address = '', bits] = rule.host.split('/')
  const family = isIP(address)
  if (family === 0) return bits === undefined ? rule : undefined
  const list = new BlockList()
  const longest = family === 4 ? 32 : 128
  if (Number(bits ?? longest) > longest) return undefined
  list.addSubnet(address, Number(bits ?? longest), family === 4 ? 'ipv4' : 'ipv6')
  return { ...rule, network: { family, list } }
}

function fitsPort(rule: EgressRule, port: number): boolean {
  return rule.port === '*' || rule.port === port
}

function fitsName(wanted: string, name: string): boolean {
  if (wanted === '*') return true
  return wanted.startsWith('*.') ? name.endsWith(wanted.slice(1)) : name === wanted
}

function inNetwork({ family, list }: NonNullable<EgressRule['network']>, address: string): boolean {
  const name = bare(address)
  return isIP(name) === family && list.check(name, family === 4 ? 'ipv4' : 'ipv6')
}

/* Two lists: in one, all IPv4 addresses would match the network of IPv4-mapped IPv6. */
const INSIDE4 = new BlockList()
const INSIDE6 = new BlockList()
for (const [address, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  INSIDE4.addSubnet(address, bits, 'ipv4')
for (const [address, bits] of [
  ['::', 96],
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
] as const)
  INSIDE6.addSubnet(address, bits, 'ipv6')

/** Reports whether an address is not globally unique, or embeds such an address. */
export function isInside(address: string): boolean {
  const name = bare(address)
  const family = isIP(name)
  if (family === 0) return name === 'localhost' || /\.(?:localhost|local|internal)$/.test(name)
  return family === 4 ? INSIDE4.check(name, 'ipv4') : INSIDE6.check(name, 'ipv6')
}

/* Addresses that lead to this computer, or to a link of it. */
const HERE4 = new BlockList()
const HERE6 = new BlockList()
for (const [address, bits] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 3],
] as const)
  HERE4.addSubnet(address, bits, 'ipv4')
for (const [address, bits] of [
  ['::', 96],
  ['::ffff:0:0', 96],
  ['fe80::', 9],
  ['ff00::', 8],
] as const)
  HERE6.addSubnet(address, bits, 'ipv6')

/** Reports whether an address or name leads to the computer that connects to it. */
export function isThisComputer(address: string): boolean {
  const name = bare(address)
  const family = isIP(name)
  if (family === 0) return name === 'localhost' || name.endsWith('.localhost')
  return family === 4 ? HERE4.check(name, 'ipv4') : HERE6.check(name, 'ipv6')
}

/** Normalizes a host for comparison: without brackets, case, scope and the final dot. */
function bare(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/%.*$/, '')
    .replace(/\.$/, '')
}
