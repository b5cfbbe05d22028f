import type { Definition, Field } from '../model/rest.ts'
import { choice, comment, entries, flag, named, number, properties, rules, text, usual } from './fields.ts'

const LEVELS = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug', 'nolog']
const log = (about: string, more: Partial<Field> = {}) => choice(about, LEVELS, { absent: 'nolog', ...more })
const POLICIES = ['ACCEPT', 'REJECT', 'DROP']

const RULES = rules('The rules, first match first. The list is kept as a whole: what is not in it is removed.', {
  parts: {
    type: choice('Which way.', ['in', 'out', 'forward'], { absent: 'in' }),
    action: choice('What happens.', POLICIES),
    group: text('In place of type and action: the security group whose rules apply.'),
    enabled: flag('Does it apply?', { api: 'enable', absent: true }),
    macro: text('Ready-made rule, like SSH.'),
    protocol: text('Protocol, like tcp.', { api: 'proto' }),
    source: text('From: address, network, range, alias, or + and the name of an IP set.'),
    destination: text('To, in the same forms.', { api: 'dest' }),
    sourcePort: text('Port or service that it comes from.', { api: 'sport' }),
    destinationPort: text('Port or service that it goes to, like 80,443 or 8000:8010.', { api: 'dport' }),
    icmpType: text('With icmp: its type.', { api: 'icmp-type' }),
    interface: text('Only on this interface.', { api: 'iface' }),
    log: choice('How loudly it is logged.', LEVELS, { absent: 'nolog' }),
    comment: comment(),
  },
})

const GUEST = ['host', 'vmid?', 'container?'] as const
const ANYWHERE = ['host?', 'vmid?', 'container?'] as const
const PRIVILEGES = ['Sys.Audit and Sys.Modify on / or on the host', 'VM.Audit and VM.Config.Network on the guest']

/** Options of a firewall: they always exist. */
function options(
  path: string,
  parts: Pick<Definition, 'name' | 'kind' | 'noun' | 'about' | 'fields' | 'exampleName' | 'example'> &
    Partial<Pick<Definition, 'scope'>>,
): Definition {
  return {
    list: { path, rows: 'one' },
    key: ['id'],
    identity: { constant: 'options' },
    update: { method: 'PUT', path, digest: true },
    unset: 'delete',
    privileges: PRIVILEGES,
    ...parts,
  }
}

/** The firewall of the cluster, of hosts and of guests. */
export const FIREWALL: readonly Definition[] = [
  options('/cluster/firewall/options', {
    name: 'cluster-firewall',
    kind: 'ProxmoxClusterFirewall',
    noun: 'firewall options',
    about: 'Options of the firewall of the whole cluster. Without enabled nothing of any firewall works.',
    fields: {
      enabled: flag('Is the firewall on?', { api: 'enable', absent: false }),
      ebtables: flag('Also rules for bridges?', { absent: true }),
      inputPolicy: choice('What no rule takes, coming in.', POLICIES, { api: 'policy_in', absent: 'DROP' }),
      outputPolicy: choice('What no rule takes, going out.', POLICIES, { api: 'policy_out', absent: 'ACCEPT' }),
      forwardPolicy: choice('What no rule takes, passing through.', ['ACCEPT', 'DROP'], {
        api: 'policy_forward',
        absent: 'ACCEPT',
      }),
      logRateLimit: properties('How much is logged.', {
        api: 'log_ratelimit',
        parts: {
          enabled: flag('Is it limited?', { api: 'enable' }),
          burst: number('This many at once.', { min: 0 }),
          rate: text('How often, like 1/second.'),
        },
      }),
    },
    exampleName: 'cluster',
    example: {
      enabled: true,
      inputPolicy: 'DROP',
      outputPolicy: 'ACCEPT',
      logRateLimit: { enabled: true, burst: 10, rate: '5/second' },
    },
  }),
  options('/nodes/{host}/firewall/options', {
    name: 'node-firewall',
    kind: 'ProxmoxNodeFirewall',
    noun: 'firewall options',
    about: 'Options of the firewall of a host.',
    scope: ['host'],
    fields: named('_', {
      enabled: flag('Is it on?', { api: 'enable', absent: true }),
      nftables: flag('By nftables?', { absent: false }),
      ndp: flag('Is neighbour discovery allowed?', { absent: true }),
      nosmurfs: flag('Are smurf attacks filtered?', { absent: true }),
      tcpflags: flag('Are impossible combinations of TCP flags filtered?', { absent: false }),
      logLevelIn: log('How loudly it logs what comes in.'),
      logLevelOut: log('How loudly it logs what goes out.'),
      logLevelForward: log('How loudly it logs what passes through.'),
      smurfLogLevel: log('How loudly it logs smurf attacks.'),
      tcpFlagsLogLevel: log('How loudly it logs impossible flags.'),
      logNfConntrack: flag('Is every connection logged?', { absent: false }),
      nfConntrackAllowInvalid: flag('Are packets of no connection allowed?', { absent: false }),
      nfConntrackMax: number('How many connections are followed.', { min: 32_768, absent: 262_144 }),
      nfConntrackTcpTimeoutEstablished: number('Seconds until a silent connection is forgotten.', {
        min: 7875,
        absent: 432_000,
      }),
      nfConntrackTcpTimeoutSynRecv: number('Seconds to wait for an answer.', { min: 30, max: 60, absent: 60 }),
      protectionSynflood: flag('Are floods of beginnings stopped?', { absent: false }),
      protectionSynfloodRate: number('Beginnings in a second.', { min: 1, absent: 200 }),
      protectionSynfloodBurst: number('Beginnings at once.', { min: 1, absent: 1000 }),
    }),
    exampleName: 'still-fawn',
    example: { host: 'still-fawn', enabled: true, logLevelIn: 'info', nfConntrackMax: 65_536 },
  }),
  options('{firewall}/options', {
    name: 'guest-firewall',
    kind: 'ProxmoxGuestFirewall',
    noun: 'firewall options',
    about: 'Options of the firewall of a guest.',
    scope: GUEST,
    fields: {
      enabled: flag('Is it on?', { api: 'enable', absent: false }),
      dhcp: flag('Is DHCP allowed?', { absent: false }),
      ipFilter: flag('May it only use its own addresses?', { api: 'ipfilter', absent: false }),
      macFilter: flag('May it only use its own MAC address?', { api: 'macfilter', absent: true }),
      ndp: flag('Is neighbour discovery allowed?', { absent: true }),
      routerAdvertisement: flag('May it announce itself as a router?', { api: 'radv', absent: false }),
      inputPolicy: choice('What no rule takes, coming in.', POLICIES, { api: 'policy_in', absent: 'DROP' }),
      outputPolicy: choice('What no rule takes, going out.', POLICIES, { api: 'policy_out', absent: 'ACCEPT' }),
      logLevelIn: log('How loudly it logs what comes in.', { api: 'log_level_in' }),
      logLevelOut: log('How loudly it logs what goes out.', { api: 'log_level_out' }),
    },
    exampleName: 'web-1',
    example: { host: 'still-fawn', vmid: 108, enabled: true, inputPolicy: 'DROP', dhcp: true },
  }),
  {
    name: 'firewall-rules',
    kind: 'ProxmoxFirewallRules',
    noun: 'firewall rules',
    about: 'All rules of one firewall: of the cluster, of a host, or of a guest.',
    list: { path: '{firewall}/rules', rows: 'rules' },
    key: ['id'],
    identity: { constant: 'rules' },
    scope: ANYWHERE,
    unset: 'delete',
    fields: { rules: { ...RULES, required: true } },
    privileges: PRIVILEGES,
    exampleName: 'web-1',
    example: {
      host: 'still-fawn',
      vmid: 108,
      rules: [
        { action: 'ACCEPT', macro: 'SSH', source: '+admins', log: 'info' },
        { action: 'ACCEPT', protocol: 'tcp', destinationPort: '80,443', comment: 'web' },
        { group: 'monitoring' },
      ],
    },
  },
  {
    name: 'firewall-group',
    kind: 'ProxmoxFirewallGroup',
    noun: 'security group',
    about: 'A security group: rules with a name, used by other lists of rules.',
    list: {
      path: '/cluster/firewall/groups',
      item: { path: '/cluster/firewall/groups/{id}', as: 'rules' },
    },
    key: ['group'],
    create: { method: 'POST', path: '/cluster/firewall/groups', id: 'group' },
    update: { method: 'POST', path: '/cluster/firewall/groups', id: 'rename', with: {}, carry: ['group'], whole: true },
    remove: { method: 'DELETE', path: '/cluster/firewall/groups/{id}' },
    unset: 'empty',
    fields: { comment: comment(), rules: RULES },
    privileges: ['Sys.Audit on /', 'Sys.Modify on /'],
    exampleName: 'monitoring',
    example: {
      comment: 'Whoever looks after the machines',
      rules: [{ action: 'ACCEPT', protocol: 'tcp', destinationPort: '9100', source: '10.0.0.0/24' }],
    },
  },
  {
    name: 'firewall-alias',
    kind: 'ProxmoxFirewallAlias',
    noun: 'firewall alias',
    about: 'A name for an address or a network, of the cluster or of a guest.',
    list: { path: '{firewall}/aliases' },
    key: ['name'],
    scope: ANYWHERE,
    notOfHosts: true,
    ...usual('{firewall}/aliases', 'name', { whole: true, digest: true }),
    unset: 'empty',
    fields: { cidr: text('Address or network.', { required: true }), comment: comment() },
    privileges: PRIVILEGES,
    exampleName: 'lan',
    example: { cidr: '192.168.4.0/24', comment: 'At home' },
  },
  {
    name: 'firewall-ipset',
    kind: 'ProxmoxFirewallIpSet',
    noun: 'IP set',
    about: 'A set of addresses and networks, of the cluster or of a guest. The set is kept as a whole.',
    list: { path: '{firewall}/ipset', item: { path: '{firewall}/ipset/{id}', as: 'entries' } },
    key: ['name'],
    scope: ANYWHERE,
    notOfHosts: true,
    create: { method: 'POST', path: '{firewall}/ipset', id: 'name' },
    update: { method: 'POST', path: '{firewall}/ipset', id: 'rename', carry: ['name'], whole: true },
    remove: { method: 'DELETE', path: '{firewall}/ipset/{id}' },
    unset: 'empty',
    fields: {
      comment: comment(),
      entries: entries('Addresses, networks and aliases.', {
        parts: {
          cidr: text('Address, network or alias.', { required: true }),
          exclude: flag('Is it taken out of the set?', { api: 'nomatch', absent: false }),
          comment: comment(),
        },
      }),
    },
    privileges: PRIVILEGES,
    exampleName: 'admins',
    example: { comment: 'May log in', entries: [{ cidr: '192.168.4.0/24' }, { cidr: '192.168.4.66', exclude: true }] },
  },
]
