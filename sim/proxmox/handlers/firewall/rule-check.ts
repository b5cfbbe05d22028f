import type { World } from '../../../world/types.ts'
import { type Thing, textOf } from '../shelf.ts'
import { MACROS } from './macros.ts'
import { findAlias, findSet } from './place.ts'

export type RuleEnv = 'cluster' | 'host' | 'vm' | 'ct' | 'group'

const TYPES: Readonly<Record<RuleEnv, readonly string[]>> = {
  cluster: ['in', 'out', 'forward', 'group'],
  host: ['in', 'out', 'forward', 'group'],
  vm: ['in', 'out', 'group'],
  ct: ['in', 'out', 'group'],
  group: ['in', 'out', 'forward'],
}

/** What is wrong with a rule where it stands, by field. */
export function ruleErrors(world: World, at: string, env: RuleEnv, rule: Thing): Record<string, string> {
  const errors: Record<string, string> = {}
  const type = String(rule.type)
  const text = (name: string) => (rule[name] === undefined ? undefined : textOf(rule[name]))
  if (!TYPES[env].includes(type)) errors.type = `invalid rule type '${type}' for rule_env '${env}'`
  if (type === 'group') return errors
  const action = text('action') ?? ''
  if (!/^(ACCEPT|DROP|REJECT)$/.test(action)) errors.action = `unknown action '${action}'`
  const iface = text('iface')
  if (iface !== undefined && (env === 'vm' || env === 'ct') && !/^net\d+$/.test(iface))
    errors.iface = "value does not match the regex pattern 'net\\d+'"
  const macro = text('macro')
  if (macro !== undefined && !MACROS.has(macro)) errors.macro = `unknown macro '${macro}'`
  for (const port of ['dport', 'sport']) {
    if (rule[port] !== undefined && rule.proto === undefined && macro === undefined)
      errors.proto = `missing property - '${port}' requires this property`
  }
  for (const side of ['source', 'dest']) {
    const problem = addressProblem(world, at, text(side))
    if (problem !== undefined) errors[side] = problem
  }
  const versions = ['source', 'dest'].map((side) => versionOf(world, at, text(side)))
  if (versions[0] !== undefined && versions[1] !== undefined && versions[0] !== versions[1])
    errors.dest = 'detected mixed ipv4/ipv6 addresses in rule'
  return errors
}

/** 4 or 6 where the rule is bound to one of them by an address or by its protocol. */
export function ruleVersion(world: World, at: string, rule: Thing): number | undefined {
  if (rule.proto === 'icmp') return 4
  if (rule.proto === 'icmpv6' || rule.proto === 'ipv6-icmp') return 6
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
