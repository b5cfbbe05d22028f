import type { World } from '../../../world/types.ts'
import { failed } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { type Collection, collectionRoutes, deletions, list, STALE } from '../collection.ts'
import { shelf, type Thing, textOf } from '../shelf.ts'

/** On which nodes, and together or apart, managed guests are to run. */
const RULES: Collection = {
  at: '/cluster/ha/rules',
  key: 'rule',
  shelf: 'ha/rules',
  exists: (id) => failed(`create ha rule failed: HA rule '${id}' already defined`),
  missing: (id, verb) => {
    if (verb === 'delete') return undefined
    return failed(
      verb === 'read' ? `no such ha rule '${id}'` : `update HA rules failed: HA rule '${id}' does not exist`,
    )
  },
  stale: failed(`update HA rules failed: ${STALE}`),
  sees: (call, _, thing) =>
    (call.params.type === undefined || call.params.type === thing.type) &&
    (call.params.resource === undefined || resourcesOf(thing).includes(call.params.resource)),
  prepare,
  row: (call, thing, rule) => {
    const order = [...shelf(call.world, 'ha/rules').keys()].indexOf(rule) + 1
    const problems = problemsOf(call.world, rule, thing)
    return { ...thing, rule, order, ...(problems.length > 0 ? { errors: { resources: problems } } : {}) }
  },
}

export const haRuleRoutes: Routes = {
  ...collectionRoutes(RULES),
  'GET /cluster/ha/rules': (call) => list(RULES, call),
}

const OWN: Readonly<Record<string, readonly string[]>> = {
  'node-affinity': ['nodes', 'strict'],
  'resource-affinity': ['affinity'],
}

function prepare(call: Call, thing: Thing, id: string, old: Thing | undefined): Thing {
  const { world } = call
  const prefix = old === undefined ? 'create ha rule failed: ' : 'update HA rules failed: '
  if (old !== undefined && old.type !== param(call, 'type')) {
    const foreign = (OWN[param(call, 'type')] ?? []).find((name) => call.params[name] !== undefined)
    if (foreign !== undefined) throw failed(`${prefix}unexpected property '${foreign}'`)
  }
  const kept = old === undefined ? thing : { ...thing, type: old.type }
  if (call.params.resources !== undefined && resourcesOf(kept).length === 0)
    throw failed(`${prefix}no resources were specified`)
  if (call.params.nodes !== undefined && nodesOf(kept).length === 0) throw failed(`${prefix}no nodes were specified`)
  const managed = shelf(world, 'ha/resources')
  const unmanaged = resourcesOf(kept).filter((sid) => !managed.has(sid))
  if (unmanaged.length > 0) throw failed(`${prefix}cannot use unmanaged resource(s) ${unmanaged.join(', ')}.`)
  const unknown = nodesOf(kept).filter((node) => !world.hosts.has(node))
  if (unknown.length > 0) throw failed(`${prefix}cannot use non-existent node(s) ${unknown.join(', ')}.`)
  refuseDeletion(call, textOf(kept.type), prefix)
  const problems = kept.disable === 1 ? [] : problemsOf(world, id, kept)
  if (problems.length > 0) {
    throw failed(`${prefix}400 Rule '${id}' is invalid.\nresources: ${problems.join(', ')}`)
  }
  return kept
}

/** Each type can do without these alone. */
const OPTIONAL: Readonly<Record<string, readonly string[]>> = {
  'node-affinity': ['comment', 'disable', 'strict'],
  'resource-affinity': ['comment', 'disable'],
}

function refuseDeletion(call: Call, type: string, prefix: string): void {
  for (const name of deletions(call)) {
    if (OPTIONAL[type]?.includes(name) !== true) {
      const known = name === 'resources' || OWN[type]?.includes(name) === true
      throw failed(`${prefix}${known ? 'unable to delete required' : 'no such'} option '${name}'`)
    }
    if (call.params[name] !== undefined)
      throw failed(`${prefix}cannot set and delete property '${name}' at the same time!`)
  }
}

function resourcesOf(rule: Thing): string[] {
  return textOf(rule.resources)
    .split(/[,;\s]+/)
    .filter((sid) => sid !== '')
}

function nodesOf(rule: Thing): string[] {
  return textOf(rule.nodes)
    .split(',')
    .map((node) => node.replace(/:.*$/, ''))
    .filter((node) => node !== '')
}

/** What makes a rule impossible or empty beside the others. */
function problemsOf(world: World, id: string, rule: Thing): string[] {
  const others = [...shelf(world, 'ha/rules')].filter(([name, other]) => name !== id && other.disable !== 1)
  const resources = resourcesOf(rule)
  if (rule.type === 'node-affinity') {
    const shared = resources.find((sid) =>
      others.some(([, other]) => other.type === 'node-affinity' && resourcesOf(other).includes(sid)),
    )
    return shared === undefined ? [] : [`resource '${shared}' is already used in another node affinity rule`]
  }
  const negative = rule.affinity === 'negative'
  const against = others.some(
    ([, other]) =>
      other.affinity === (negative ? 'positive' : 'negative') &&
      resourcesOf(other).filter((sid) => resources.includes(sid)).length > 1,
  )
  return [
    ...(resources.length < 2 ? ['rule is ineffective as there are less than two resources'] : []),
    ...(negative && resources.length > onlineNodes(world) ? ['rule defines more resources than available nodes'] : []),
    ...(against
      ? [`rule shares two or more resources with a ${negative ? 'positive' : 'negative'} resource affinity rule`]
      : []),
  ]
}

/** A node whose status is unknown does not count. */
function onlineNodes(world: World): number {
  return world.statusDaemon ? [...world.hosts.values()].filter((host) => host.power === 'on').length : 0
}
