import type { World } from '../../../world/types.ts'
import { type Thing, textOf } from '../shelf.ts'
import { MACROS, macroClash } from './macros.ts'
import { findAlias, findSet } from './place.ts'

export type RuleEnv = 'cluster' | 'host' | 'vm' | 'ct' | 'group' | 'vnet'

const TYPES: Readonly<Record<RuleEnv, readonly string[]>> = {
  cluster: ['in', 'out', 'forward', 'group'],
  host: ['in', 'out', 'forward', 'group'],
  vm: ['in', 'out', 'group'],
  ct: ['in', 'out', 'group'],
  group: ['in', 'out', 'forward'],
  vnet: ['forward', 'group'],
}

/** What is wrong with a rule where it stands, by field, in the order in which it is found. */
export function ruleErrors(world: World, at: string, env: RuleEnv, rule: Thing): Record<string, string> {
  const errors: Record<string, string> = {}
  const add = (name: string, problem: string | undefined) => {
    if (problem !== undefined) errors[name] ??= problem
  }
  const text = (name: string) => (rule[name] === undefined ? undefined : textOf(rule[name]))
  const type = String(rule.type)
  if (!TYPES[env].includes(type)) add('type', `invalid rule type '${type}' for rule_env '${env}'`)
  if (type !== 'group') add('action', actionProblem(type, text('action') ?? ''))
  const iface = text('iface')
  if (iface !== undefined && (env === 'group' || env === 'vnet'))
    add('type', 'parameter -i not allowed for this rule type')
  if (iface !== undefined && (env === 'vm' || env === 'ct') && !/^net\d+$/.test(iface))
    add('iface', "value does not match the regex pattern 'net\\d+'")
  const macro = text('macro')
  if (macro !== undefined && !MACROS.has(macro)) add('macro', `unknown macro '${macro}'`)
  const protocol = protocolErrors(text)
  for (const [name, problem] of protocol) add(name, problem)
  let version = protocolVersion(text('proto'))
  for (const side of ['source', 'dest']) {
    add(side, addressProblem(world, at, text(side)))
    const own = versionOf(world, at, text(side))
    if (own !== undefined && version !== undefined && own !== version)
      add(side, 'detected mixed ipv4/ipv6 addresses in rule')
    version ??= own
  }
  const clash = macro === undefined || Object.keys(errors).length > 0 ? undefined : macroClash(macro, rule, version)
  if (clash !== undefined) add(clash[0], `parameter '${clash[0]}' already define in macro (value = '${clash[1]}')`)
  return errors
}

function actionProblem(type: string, action: string): string | undefined {
  if (type === 'forward' && action === 'REJECT') return 'cannot define REJECT rules on forward chain'
  return /^(ACCEPT|DROP|REJECT)$/.test(action) ? undefined : `unknown action '${action}'`
}

const WITH_PORTS = new Set(['udp', '17', 'udplite', '136', 'tcp', '6', 'dccp', '33', 'sctp', '132'])
const ICMP = new Set(['icmp', 'icmpv6', 'ipv6-icmp'])

/** Ports and types of ICMP belong to protocols that have them. */
function protocolErrors(text: (name: string) => string | undefined): readonly (readonly [string, string])[] {
  const errors: [string, string][] = []
  const proto = text('proto')
  const icmp = ICMP.has(proto ?? '')
  const ports = (name: string, alsoIcmp: boolean) => {
    if (text(name) === undefined) return
    if (proto === undefined) errors.push(['proto', `missing property - '${name}' requires this property`])
    else if (!WITH_PORTS.has(proto) && !(alsoIcmp && icmp))
      errors.push([name, `protocol '${proto}' does not support ports`])
  }
  ports('dport', true)
  const icmpType = text('icmp-type')
  if (icmpType !== undefined) {
    if (!icmp) errors.push(['proto', "missing property - 'icmp-type' requires this property"])
    if (text('dport') !== undefined) errors.push(['icmp-type', "'icmp-type' cannot be specified together with 'dport'"])
    const known = proto === 'icmp' ? ICMP_TYPES : ICMPV6_TYPES
    if (icmp && !known.has(icmpType)) errors.push(['icmp-type', `invalid icmp-type '${icmpType}' for proto '${proto}'`])
  }
  ports('sport', false)
  return errors
}

const ICMP_TYPES: ReadonlySet<string> = new Set(
  (
    'any echo-reply destination-unreachable network-unreachable host-unreachable protocol-unreachable port-unreachable ' +
    'fragmentation-needed source-route-failed network-unknown host-unknown network-prohibited host-prohibited ' +
    'TOS-network-unreachable TOS-host-unreachable communication-prohibited host-precedence-violation precedence-cutoff ' +
    'source-quench redirect network-redirect host-redirect TOS-network-redirect TOS-host-redirect echo-request ' +
    'router-advertisement router-solicitation time-exceeded ttl-zero-during-transit ttl-zero-during-reassembly ' +
    'parameter-problem ip-header-bad required-option-missing timestamp-request timestamp-reply address-mask-request ' +
    'address-mask-reply'
  ).split(' '),
)

const ICMPV6_TYPES: ReadonlySet<string> = new Set(
  (
    'destination-unreachable no-route communication-prohibited beyond-scope address-unreachable port-unreachable ' +
    'failed-policy reject-route packet-too-big time-exceeded ttl-zero-during-transit ttl-zero-during-reassembly ' +
    'parameter-problem bad-header unknown-header-type unknown-option echo-request echo-reply router-solicitation ' +
    'router-advertisement neighbor-solicitation neighbour-solicitation neighbor-advertisement neighbour-advertisement redirect'
  ).split(' '),
)

function protocolVersion(proto: string | undefined): number | undefined {
  if (proto === 'icmp') return 4
  return proto === 'icmpv6' || proto === 'ipv6-icmp' ? 6 : undefined
}

/** 4 or 6 where the rule is bound to one of them by an address or by its protocol. */
export function ruleVersion(world: World, at: string, rule: Thing): number | undefined {
  const bound = protocolVersion(rule.proto === undefined ? undefined : textOf(rule.proto))
  if (bound !== undefined) return bound
  const side = (name: string) => (rule[name] === undefined ? undefined : textOf(rule[name]))
  return versionOf(world, at, side('source')) ?? versionOf(world, at, side('dest'))
}

function addressProblem(world: World, at: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (text.startsWith('+')) {
    const name = text.slice(1)
    const found = findSet(world, at, name) !== undefined
    return found ? undefined : `no such ipset '${name.replace(/^(dc|guest)\//, '')}'`
  }
  if (!isName(text)) return undefined
  return findAlias(world, at, text) === undefined ? `no such alias '${text}'` : undefined
}

function isName(text: string): boolean {
  return /^((dc|guest)\/)?[a-z][a-z0-9_-]+$/i.test(text)
}

function versionOf(world: World, at: string, text: string | undefined): number | undefined {
  if (text === undefined || text.startsWith('+')) return undefined
  const address = isName(text) ? textOf(findAlias(world, at, text)?.cidr) : text
  if (address === '') return undefined
  return address.includes(':') ? 6 : 4
}
