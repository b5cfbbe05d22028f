import { isAddress } from './addresses.ts'
import { type Formats, matching } from './format.ts'
import { networkError, networkVersion } from './net-ip.ts'

const ALIAS = '[A-Za-z][A-Za-z0-9\\-_]+'
const ALIAS_LENGTH = 64
const PORTS_AT_ONCE = 15

/** Protocols by number and by name, as a host's own list has them. */
const PROTOCOLS: ReadonlySet<string> = new Set(
  (
    '0 ip 1 icmp 2 igmp 3 ggp 4 ipencap 5 st 6 tcp 8 egp 9 igp 12 pup 17 udp 20 hmp 22 xns-idp 27 rdp 29 iso-tp4 ' +
    '33 dccp 36 xtp 37 ddp 38 idpr-cmtp 41 ipv6 43 ipv6-route 44 ipv6-frag 45 idrp 46 rsvp 47 gre 50 esp 51 ah ' +
    '57 skip 58 ipv6-icmp 59 ipv6-nonxt 60 ipv6-opts 73 rspf 81 vmtp 88 eigrp 89 ospf 93 ax.25 94 ipip 97 etherip ' +
    '98 encap 103 pim 108 ipcomp 112 vrrp 115 l2tp 124 isis 132 sctp 133 fc 135 mobility-header 136 udplite ' +
    '137 mpls-in-ip 138 manet 139 hip 140 shim6 141 wesp 142 rohc'
  ).split(' '),
)

/** Port names that a rule is likely to use; the daemon takes every name of /etc/services. */
const SERVICES: ReadonlySet<string> = new Set(
  (
    'ftp-data ftp ssh telnet smtp domain bootps bootpc tftp http kerberos pop3 sunrpc ntp netbios-ns netbios-dgm ' +
    'netbios-ssn imap2 snmp snmp-trap bgp ldap https microsoft-ds submission ldaps imaps pop3s openvpn mysql ' +
    'postgresql rdp nfs iscsi-target syslog'
  ).split(' '),
)

const ICMP_TYPES: ReadonlySet<string> = new Set(
  (
    'any echo-reply destination-unreachable network-unreachable host-unreachable protocol-unreachable ' +
    'port-unreachable fragmentation-needed source-route-failed network-unknown host-unknown network-prohibited ' +
    'host-prohibited TOS-network-unreachable TOS-host-unreachable communication-prohibited ' +
    'host-precedence-violation precedence-cutoff source-quench redirect network-redirect host-redirect ' +
    'TOS-network-redirect TOS-host-redirect echo-request router-advertisement router-solicitation time-exceeded ' +
    'ttl-zero-during-transit ttl-zero-during-reassembly parameter-problem ip-header-bad required-option-missing ' +
    'timestamp-request timestamp-reply address-mask-request address-mask-reply no-route beyond-scope ' +
    'address-unreachable failed-policy reject-route packet-too-big bad-header unknown-header-type unknown-option ' +
    'neighbor-solicitation neighbour-solicitation neighbor-advertisement neighbour-advertisement'
  ).split(' '),
)

const CONNTRACK_HELPERS: ReadonlySet<string> = new Set('amanda ftp irc netbios-ns pptp sane sip snmp tftp'.split(' '))

/** What a firewall rule speaks of. */
export const FIREWALL_FORMATS: Formats = {
  'pve-fw-addr-spec': { judge: addressSpecError },
  'pve-fw-sport-spec': { judge: (text) => portsError(text, 'source') },
  'pve-fw-dport-spec': { judge: (text) => portsError(text, 'destination') },
  'pve-fw-icmp-type-spec': {
    judge: (text) => (text === '' || ICMP_TYPES.has(text) ? undefined : `invalid icmp-type value '${text}'`),
  },
  'pve-fw-protocol-spec': {
    // An empty one means none.
    judge: (text) =>
      text === '' || PROTOCOLS.has(text) || text === 'icmpv6' ? undefined : `unknown protocol '${text}'`,
  },
  'pve-fw-conntrack-helper': {
    judge: (text) => {
      // As Perl splits: empty ones at the end are dropped, and that is what is complained about.
      if (text.endsWith(',')) return 'extraneous commas in list'
      const unknown = text === '' ? undefined : text.split(',').find((helper) => !CONNTRACK_HELPERS.has(helper))
      return unknown === undefined ? undefined : `unknown helper ${unknown}`
    },
  },
  IPorCIDR: { judge: ipOrCidrError },
  IPorCIDRorAlias: {
    judge: (text) => (new RegExp(`^(?:dc/|guest/)?${ALIAS}$`).test(text) ? undefined : ipOrCidrError(text)),
  },
  'pve-fw-ipset': matching(new RegExp(`^\\+${ALIAS}$`), (text) => `invalid ipset '${text}'`),
}

function ipOrCidrError(text: string): string | undefined {
  const [address = '', length] = text.split('/')
  if (!isAddress(address) || !/^[^/]+(?:\/\d+)?$/.test(text)) {
    return 'value does not look like a valid IP address or CIDR network'
  }
  const bits = address.includes(':') ? 128 : 32
  return length !== undefined && Number(length) > bits
    ? `Prefix length ${length} is longer than IP address (${bits})`
    : undefined
}

/** An ipset (`+name`), an alias, or addresses, networks and one range, all of one version. */
function addressSpecError(text: string): string | undefined {
  if (/^\+\S+$/.test(text)) return undefined
  if (new RegExp(`^(?:dc/|guest/)?${ALIAS}$`).test(text)) {
    return text.length > ALIAS_LENGTH ? 'alias name too long' : undefined
  }
  const elements = perlSplit(text)
  if (elements.join(',') !== text) return 'extraneous commas in list'
  const versions = new Set<number>()
  for (const element of elements) {
    const complaint = networkError(element)
    if (complaint !== undefined) return `invalid IP address: ${complaint}`
    versions.add(networkVersion(element))
    if (versions.size > 1) return `detected mixed ipv4/ipv6 addresses in address list '${text}'`
  }
  return elements.length > 1 && elements.some((element) => element.includes('-'))
    ? "you can't use a range in a list"
    : undefined
}

/** The destination may be a type of ICMP, which was kept there once. Ports that are named do not count. */
function portsError(text: string, side: 'source' | 'destination'): string | undefined {
  const elements = perlSplit(text)
  if (elements.join(',') !== text) return 'extraneous commas in list'
  let count = 0
  let icmp = false
  for (const element of elements) {
    const ports = /^(\d+)(?::(\d+))?$/.exec(element)
    if (!ports) {
      const isType = side === 'destination' && ICMP_TYPES.has(element)
      if (!SERVICES.has(element) && !isType) return `invalid port '${element}'`
      icmp ||= isType
      continue
    }
    const [, low = '', high] = ports
    for (const port of high === undefined ? [low] : [low, high]) {
      count += 1
      if (Number(port) > 65535) return `invalid port '${port}'`
    }
    if (high !== undefined && Number(low) > Number(high)) {
      return `backwards range '${low}:${high}' not allowed, did you mean '${high}:${low}'?`
    }
  }
  if (icmp && count > 0) return 'ICMP ports not allowed in port range'
  return count > PORTS_AT_ONCE ? `too many entries in port list (> ${PORTS_AT_ONCE} numbers)` : undefined
}

/** Splits at commas; empty elements at the end are dropped, which is how the daemon notices them. */
function perlSplit(text: string): string[] {
  const elements = text.split(',')
  while (elements.at(-1) === '') elements.pop()
  return elements
}
