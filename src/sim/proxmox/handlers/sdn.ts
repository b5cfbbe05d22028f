import { startTask } from '../../world/tasks.ts'
import { failed } from '../api-error.ts'
import { type Call, flag, param, type Routes } from '../call.ts'
import { digestOf, fields, shelf } from './shelf.ts'

export const sdnRoutes: Routes = {
  'GET /cluster/sdn': () => ['vnets', 'zones', 'controllers', 'ipams', 'dns', 'fabrics'].map((id) => ({ id })),
  'PUT /cluster/sdn': apply,
  'GET /cluster/sdn/zones': (call) => list(call, 'zones'),
  'POST /cluster/sdn/zones': (call) => add(call, 'zones', 'zone'),
  'DELETE /cluster/sdn/zones/{zone}': (call) => remove(call, 'zones', 'zone'),
  'GET /cluster/sdn/vnets': (call) => list(call, 'vnets'),
  'POST /cluster/sdn/vnets': (call) => add(call, 'vnets', 'vnet'),
  'DELETE /cluster/sdn/vnets/{vnet}': (call) => remove(call, 'vnets', 'vnet'),
  'POST /cluster/sdn/vnets/{vnet}/subnets': (call) => {
    shelf(call.world, `sdn/subnets/${param(call, 'vnet')}`).set(param(call, 'subnet'), fields(call))
    return null
  },
  'GET /cluster/sdn/vnets/{vnet}/subnets': (call) => [
    ...shelf(call.world, `sdn/subnets/${param(call, 'vnet')}`).values(),
  ],
}

function list(call: Call, kind: string): unknown[] {
  const things = [...shelf(call.world, `sdn/${kind}`).values()]
  const shown = things.map(
    ({ applied: _, ...thing }): Record<string, unknown> => (kind === 'vnets' ? { type: 'vnet', ...thing } : thing),
  )
  if (!flag(call, 'pending')) return shown.map((thing) => ({ ...thing, digest: digestOf(things) }))
  return shown.map((thing, index) => ({
    ...thing,
    digest: null,
    pending: {},
    ...(things[index]?.applied === true ? {} : { state: 'new' }),
  }))
}

function add(call: Call, kind: string, key: string): null {
  const things = shelf(call.world, `sdn/${kind}`)
  const id = param(call, key)
  if (things.has(id)) throw failed(`create sdn ${key} object failed: sdn ${key} object ID '${id}' already defined`)
  things.set(id, fields(call))
  return null
}

function remove(call: Call, kind: string, key: string): null {
  if (!shelf(call.world, `sdn/${kind}`).delete(param(call, key)))
    throw failed(`sdn '${param(call, key)}' does not exist`)
  return null
}

function apply(call: Call): string {
  const { world } = call
  const [host] = world.hosts.values()
  if (host === undefined) throw failed('there is no node')
  return startTask(world, host, 'reloadnetworkall', '', call.who.id, async (work) => {
    await work.pass(world.timing.shortTaskMs)
    for (const kind of ['zones', 'vnets'])
      for (const thing of shelf(world, `sdn/${kind}`).values()) thing.applied = true
  })
}
