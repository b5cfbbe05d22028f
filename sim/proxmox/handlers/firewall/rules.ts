import { badParameter, badParameters, failed } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { type Collection, collectionRoutes, deletions, digestOfAll, list, refuseStale } from '../collection.ts'
import { digestOf, fields, shelf, type Thing, textOf } from '../shelf.ts'
import { preferredMacro } from './macros.ts'
import { CLUSTER_PLACE, isGuest, isWritten, names, place } from './place.ts'
import { type RuleEnv, ruleErrors, ruleVersion } from './rule-check.ts'

/** Ordered lists of rules. A new rule becomes the first, even if the call names a position. */
export function firewallRuleRoutes(at: string): Routes {
  const routes = ruleRoutes(`${at}/rules`, (call) => `${place(call)}/rules`)
  if (at !== CLUSTER_PLACE) return routes
  const groups = '/cluster/firewall/groups'
  return {
    ...routes,
    ...ruleRoutes(`${groups}/{group}`, (call) => {
      if (!names(call.world, CLUSTER_PLACE, 'groups').has(param(call, 'group')))
        throw failed(`no such security group '${param(call, 'group')}'`)
      return `${CLUSTER_PLACE}/groups/${param(call, 'group')}`
    }),
    ...groupRoutes(groups),
  }
}

function groupRoutes(at: string): Routes {
  const spec: Collection = {
    at,
    key: 'group',
    shelf: `${CLUSTER_PLACE}/groups`,
    exists: (id) => badParameter('group', `Security group '${id}' already exists`),
    missing: (id) => failed(`no such security group '${id}'`),
    refuseRemoval: (call, id) => {
      if (rulesAt(call, `${CLUSTER_PLACE}/groups/${id}`).length > 0) throw failed(`Security group '${id}' is not empty`)
    },
  }
  const routes = collectionRoutes(spec)
  return {
    [`GET ${at}`]: (call) => list(spec, call),
    [`POST ${at}`]: (call) =>
      call.params.rename === undefined ? routes[`POST ${at}`]?.(call) : renameGroup(spec, call),
    [`DELETE ${at}/{group}`]: routes[`DELETE ${at}/{group}`] ?? (() => null),
  }
}

/** `rename` is the old name, `group` the new one. Rules that name it anywhere name it by its new name from then on. */
function renameGroup(spec: Collection, call: Call): null {
  const { world } = call
  const groups = names(world, CLUSTER_PLACE, 'groups')
  refuseStale(call, digestOfAll(spec, call))
  const from = param(call, 'rename')
  const to = param(call, 'group')
  const group = groups.get(from)
  if (group === undefined) throw badParameter('group', `Security group '${from}' does not exist`)
  if (from !== to && groups.has(to)) throw badParameter('group', `Security group '${to}' does already exist`)
  if (call.params.comment !== undefined) group.comment = call.params.comment
  if (from === to) return null
  groups.delete(from)
  groups.set(to, group)
  shelf(world, `${CLUSTER_PLACE}/groups/${to}`).set('rules', { list: rulesAt(call, `${CLUSTER_PLACE}/groups/${from}`) })
  world.shelves.delete(`${CLUSTER_PLACE}/groups/${from}`)
  for (const things of world.shelves.values()) {
    const rules = things.get('rules')?.list
    for (const rule of Array.isArray(rules) ? (rules as Thing[]) : [])
      if (rule.type === 'group' && rule.action === from) rule.action = to
  }
  return null
}

type Where = (call: Call) => string

function ruleRoutes(at: string, where: Where): Routes {
  const rules = (call: Call) => rulesAt(call, where(call))
  const digest = (call: Call) => digestOf(rules(call))
  return {
    [`GET ${at}`]: (call) => {
      const value = digest(call)
      return rules(call).map((rule, pos) => ({ ...shown(call, rule), pos, digest: value }))
    },
    [`POST ${at}`]: (call) => {
      const all = rules(call)
      const rule = withGiven({ enable: 0 }, fields(call, 'pos', 'group', 'vnet'))
      check(call, rule)
      all.unshift(rule)
      return null
    },
    [`GET ${at}/{pos}`]: (call) => ({
      ...shown(call, need(call, rules(call))),
      pos: param(call, 'pos'),
      digest: digest(call),
    }),
    [`PUT ${at}/{pos}`]: (call) => {
      const all = rules(call)
      refuseStale(call, digest(call))
      const old = need(call, all, 373)
      const to = call.params.moveto
      if (to !== undefined && to !== param(call, 'pos')) {
        move(all, Number(param(call, 'pos')), Number(to))
        return null
      }
      const rule = withGiven(old, fields(call, 'pos', 'group', 'vnet', 'moveto'))
      for (const name of deletions(call)) {
        if (!PROPERTIES.has(name)) throw badParameter('delete', `no such property ('${name}')`)
        if (name === 'type' || name === 'action')
          throw badParameter('delete', `unable to delete required property '${name}'`)
        // What does not say that it is off is on when it is read again.
        if (name === 'enable') rule.enable = 1
        else delete rule[name]
      }
      check(call, rule)
      all[Number(param(call, 'pos'))] = rule
      return null
    },
    [`DELETE ${at}/{pos}`]: (call) => {
      const all = rules(call)
      refuseStale(call, digest(call))
      need(call, all, 462)
      all.splice(Number(param(call, 'pos')), 1)
      return null
    },
  }
}

const PROPERTIES = new Set(
  'pos digest type enable action macro source dest iface proto dport sport comment log icmp-type'.split(' '),
)

/** What is sent empty, or as a dash, is taken out. */
function withGiven(rule: Thing, given: Thing): Thing {
  const next: Thing = { ...rule }
  for (const [name, value] of Object.entries(given)) {
    if (value === '' || value === '-') delete next[name]
    else next[name] = name === 'macro' ? preferredMacro(textOf(value)) : value
  }
  return next
}

/** Before the one that stands at `to` now; at the end when there is none. */
function move(rules: Thing[], from: number, to: number): void {
  if (from === to) return
  const rule = rules[from]
  if (rule === undefined) return
  const target = rules[to]
  rules.splice(from, 1)
  const at = target === undefined ? rules.length : rules.indexOf(target)
  rules.splice(at, 0, rule)
}

function rulesAt(call: Call, name: string): Thing[] {
  const things = shelf(call.world, name)
  let entry = things.get('rules')
  if (entry === undefined) {
    entry = { list: [] }
    things.set('rules', entry)
  }
  return entry.list as Thing[]
}

/** Who would change a rule where nothing at all was ever written finds not even a list of none. */
function need(call: Call, rules: readonly Thing[], line?: number): Thing {
  if (line !== undefined && !isWritten(call.world, place(call)))
    throw failed(
      `Can't use an undefined value as an ARRAY reference at /usr/share/perl5/PVE/API2/Firewall/Rules.pm line ${line}.`,
    )
  const rule = rules[Number(param(call, 'pos'))]
  if (rule === undefined) throw failed(`no rule at position ${param(call, 'pos')}`)
  return rule
}

function envOf(call: Call): RuleEnv {
  const at = place(call)
  if (call.params.group !== undefined && at === CLUSTER_PLACE) return 'group'
  if (isGuest(at)) return at.includes('/lxc/') ? 'ct' : 'vm'
  if (call.params.vnet !== undefined) return 'vnet'
  return at === CLUSTER_PLACE ? 'cluster' : 'host'
}

function check(call: Call, rule: Thing): void {
  // The first mistake is told; a list shows all of them.
  const [first] = Object.entries(ruleErrors(call.world, place(call), envOf(call), rule))
  if (first !== undefined) throw badParameters(Object.fromEntries([first]))
}

/** Names may have gone since the rule was written: that shows in the list. */
function shown(call: Call, rule: Thing): Thing {
  const errors = ruleErrors(call.world, place(call), envOf(call), rule)
  if (Object.keys(errors).length > 0) return { ...rule, errors }
  const version = ruleVersion(call.world, place(call), rule)
  return version === undefined ? rule : { ...rule, ipversion: version }
}
