import type { Field, SettingValue } from '../../../model/rest.ts'
import { valueText } from '../../../proxmox/value-text.ts'
import { partsOf } from './sent.ts'
import { apiName, plain, same } from './values.ts'

type FirewallRule = Readonly<Record<string, SettingValue>>

/** One call below the list: its path and parameters. */
export type SubCall = { readonly summary: string } & (
  | {
      readonly method: 'POST'
      /** The path below the list. */
      readonly below: ''
      readonly params: Readonly<Record<string, string>>
    }
  /** An entry with a name. */
  | { readonly method: 'PUT' | 'DELETE'; readonly below: EntryPath; readonly params: Readonly<Record<string, string>> }
  /** A position is valid for one version of the list: a rule that another person adds moves all others. */
  | {
      readonly method: 'PUT' | 'DELETE'
      readonly below: `/${number}`
      readonly params: Readonly<Record<string, string>> & { readonly digest: string }
    }
)

declare const byName: unique symbol
/** An entry's path by its name. */
export type EntryPath = string & { readonly [byName]: true }

/** Normalises declared or answered rules. A security group is a rule whose action is its name. */
export function plainRules(field: Field, rules: unknown): readonly FirewallRule[] {
  const rows = Array.isArray(rules) ? (rules as readonly Record<string, unknown>[]) : []
  const given = rows.map(({ type, action, ...row }) =>
    type === 'group' ? { ...row, group: action } : { ...row, type, action },
  )
  return (plain(field, given) as readonly FirewallRule[]).map((rule) => {
    if (rule.group === undefined) return rule
    const { type: _type, action: _action, ...rest } = rule
    return rest
  })
}

/**
 * Returns the calls that turn one ordered list into another. Proxmox inserts a new rule at the top, so each is then
 * moved to its place. A wrong rule is rewritten in place, so that it is never missing. After each call the rest can be
 * computed again, since only the first call is made before the next look. Without the list's version no call uses a
 * position: once the first rule exists, the next look brings a version.
 */
export function ruleCalls(
  field: Field,
  seen: readonly FirewallRule[],
  wanted: readonly FirewallRule[],
  digest: string | undefined,
): readonly SubCall[] {
  const calls: SubCall[] = []
  const callAt = (method: 'PUT' | 'DELETE', at: number, params: Readonly<Record<string, string>>, summary: string) => {
    if (digest !== undefined) calls.push({ method, below: `/${at}`, params: { ...params, digest }, summary })
  }
  const list = [...seen]
  const missing = without(wanted, list)
  const surplus = positionsOf(without(list, wanted), list)
  while (missing.length > 0 && surplus.length > 0) {
    const [rule, at] = [missing.shift(), surplus.shift()]
    if (rule === undefined || at === undefined) break
    callAt('PUT', at, rewritten(field, list[at] ?? {}, rule), `rewrite rule ${at}`)
    list[at] = rule
  }
  for (const rule of missing.reverse()) {
    calls.push({ method: 'POST', below: '', params: params(field, rule), summary: 'add a rule' })
    list.unshift(rule)
  }
  // From the end, so that other positions stay and no two calls are equal.
  for (const at of surplus.reverse()) {
    callAt('DELETE', at, {}, `remove rule ${at}`)
    list.splice(at, 1)
  }
  for (const [at, rule] of wanted.entries()) {
    if (same(list[at], rule)) continue
    const from = list.findIndex((one, place) => place > at && same(one, rule))
    if (from === -1) continue
    callAt('PUT', from, { moveto: valueText(at) }, `move rule ${from} to ${at}`)
    list.splice(at, 0, ...list.splice(from, 1))
  }
  return calls
}

/** Returns the rest of one list after removing one equal entry per entry of the others. */
function without(list: readonly FirewallRule[], others: readonly FirewallRule[]): FirewallRule[] {
  const left = [...list]
  for (const other of others) {
    const at = left.findIndex((one) => same(one, other))
    if (at !== -1) left.splice(at, 1)
  }
  return left
}

function positionsOf(rules: readonly FirewallRule[], list: readonly FirewallRule[]): number[] {
  const taken = new Set<number>()
  for (const rule of rules) {
    const at = list.findLastIndex((one, place) => !taken.has(place) && same(one, rule))
    if (at !== -1) taken.add(at)
  }
  return [...taken].sort((a, b) => a - b)
}

function params(field: Field, rule: FirewallRule): Record<string, string> {
  const { group, ...rest } = rule
  if (group === undefined) return partsOf(field, rule)
  return { ...partsOf(field, rest), type: 'group', action: valueText(group) }
}

function rewritten(field: Field, before: FirewallRule, rule: FirewallRule): Record<string, string> {
  const sent = params(field, rule)
  const gone = Object.entries(field.parts ?? {})
    .filter(([name]) => before[name] !== undefined && rule[name] === undefined && name !== 'group')
    .map(([name, part]) => apiName(name, part))
    .filter((name) => !(name in sent))
  return gone.length === 0 ? sent : { ...sent, delete: gone.join(',') }
}
