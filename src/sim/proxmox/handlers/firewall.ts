import { badParameter, failed } from '../api-error.ts'
import { type Call, param, type Routes } from '../call.ts'
import { digestOf, EMPTY_DIGEST, fields, shelf } from './shelf.ts'

/** Rules and options hang on the datacentre, on a node and on a guest alike; names for addresses not on a node. */
const NODE = '/nodes/{node}/firewall'
const PLACES = ['/cluster/firewall', NODE, '/nodes/{node}/qemu/{vmid}/firewall', '/nodes/{node}/lxc/{vmid}/firewall']

export const firewallRoutes: Routes = Object.assign(
  {},
  ...PLACES.map(
    (at): Routes => ({
      [`GET ${at}/options`]: (call) => {
        const options = shelf(call.world, place(call)).get('options')
        return { ...options, digest: options === undefined ? EMPTY_DIGEST : digestOf(options) }
      },
      [`PUT ${at}/options`]: (call) => {
        const things = shelf(call.world, place(call))
        things.set('options', { ...things.get('options'), ...fields(call) })
        return null
      },
      [`GET ${at}/rules`]: (call) => {
        const rules = rulesOf(call)
        return rules.map((rule, pos) => ({ ...rule, pos, digest: digestOf(rules) }))
      },
      [`POST ${at}/rules`]: addRule,
      [`GET ${at}/rules/{pos}`]: (call) => ({
        ...needRule(call),
        pos: param(call, 'pos'),
        digest: digestOf(rulesOf(call)),
      }),
      [`DELETE ${at}/rules/{pos}`]: (call) => {
        needRule(call)
        rulesOf(call).splice(Number(param(call, 'pos')), 1)
        return null
      },
    }),
  ),
  ...PLACES.filter((at) => at !== NODE).map(
    (at): Routes => ({
      [`GET ${at}/aliases`]: (call) => named(call, 'aliases'),
      [`POST ${at}/aliases`]: (call) => add(call, 'aliases', 'name'),
      [`GET ${at}/ipset`]: (call) => named(call, 'ipset'),
      [`POST ${at}/ipset`]: (call) => add(call, 'ipset', 'name'),
      [`POST ${at}/ipset/{name}`]: (call) => {
        const set = shelf(call.world, `${place(call)}/ipset/${param(call, 'name')}`)
        if (set.has(param(call, 'cidr'))) throw badParameter('cidr', `address '${param(call, 'cidr')}' already exists`)
        set.set(param(call, 'cidr'), fields(call, 'name'))
        return null
      },
      [`GET ${at}/ipset/{name}`]: (call) => [
        ...shelf(call.world, `${place(call)}/ipset/${param(call, 'name')}`).values(),
      ],
    }),
  ),
  {
    'GET /cluster/firewall/groups': (call: Call) => named(call, 'groups'),
    'POST /cluster/firewall/groups': (call: Call) => add(call, 'groups', 'group'),
  },
)

/** Which firewall: the path up to and with the word itself. */
function place(call: Call): string {
  return call.path.replace(/\/firewall\/.*$/, '/firewall')
}

function rulesOf(call: Call): Record<string, unknown>[] {
  const things = shelf(call.world, place(call))
  let entry = things.get('rules')
  if (entry === undefined) {
    entry = { list: [] }
    things.set('rules', entry)
  }
  return entry.list as Record<string, unknown>[]
}

function needRule(call: Call): Record<string, unknown> {
  const rule = rulesOf(call)[Number(param(call, 'pos'))]
  if (rule === undefined) throw failed(`no rule at position ${param(call, 'pos')}`)
  return rule
}

/** A new rule stands first. */
function addRule(call: Call): null {
  const { params } = call
  for (const port of ['dport', 'sport']) {
    if (params[port] !== undefined && params.proto === undefined && params.macro === undefined) {
      throw badParameter('proto', `missing property - '${port}' requires this property`)
    }
  }
  rulesOf(call).unshift(fields(call, 'pos'))
  return null
}

function named(call: Call, list: string): unknown[] {
  const things = [...shelf(call.world, `${place(call)}/${list}`).values()]
  return things.map((thing) => ({ ...thing, digest: digestOf(things) }))
}

function add(call: Call, list: string, key: string): null {
  const things = shelf(call.world, `${place(call)}/${list}`)
  const id = param(call, key)
  if (things.has(id)) throw badParameter(key, `${list === 'groups' ? 'security group' : 'name'} '${id}' already exists`)
  things.set(id, fields(call))
  return null
}
