import { failed } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { type Collection, collectionRoutes, deletions, list, STALE } from '../collection.ts'
import { shelf, type Thing, textOf } from '../shelf.ts'
import { nodesOf, problemsOfAll, resourcesOf } from './rule-checks.ts'

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
    const problems = problemsOfAll(shelf(call.world, 'ha/rules'), onlineNodes(call)).get(rule) ?? []
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
    const foreign = (OWN[param(call, 'type')] ?? []).find((name) => call.params[name] !== undefined) ?? 'type'
    throw failed(`${prefix}unexpected property '${foreign}'`)
  }
  const kept: Thing = { ...thing, ...(old === undefined ? {} : { type: old.type }) }
  // That a rule is not switched off is said by saying nothing: a 0 is passed over, and changes nothing.
  if (call.params.disable === '0') {
    if (old?.disable === undefined) delete kept.disable
    else kept.disable = old.disable
  }
  if (call.params.resources !== undefined && resourcesOf(kept).length === 0)
    throw failed(`${prefix}no resources were specified`)
  if (call.params.nodes !== undefined && nodesOf(kept).length === 0) throw failed(`${prefix}no nodes were specified`)
  const managed = shelf(world, 'ha/resources')
  const unmanaged = resourcesOf(kept).filter((sid) => !managed.has(sid))
  if (unmanaged.length > 0) throw failed(`${prefix}cannot use unmanaged resource(s) ${unmanaged.join(', ')}.`)
  const unknown = nodesOf(kept).filter((node) => !world.hosts.has(node))
  if (unknown.length > 0) throw failed(`${prefix}cannot use non-existent node(s) ${unknown.join(', ')}.`)
  refuseDeletion(call, textOf(kept.type), prefix)
  const all = new Map([...shelf(world, 'ha/rules'), [id, kept]])
  const problems = problemsOfAll(all, onlineNodes(call)).get(id) ?? []
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

/** A node whose status is unknown does not count. */
function onlineNodes({ world }: Call): number {
  return world.statusDaemon ? [...world.hosts.values()].filter((host) => host.power === 'on').length : 0
}
