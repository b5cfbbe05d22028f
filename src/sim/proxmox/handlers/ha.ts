import { failed } from '../api-error.ts'
import { type Call, param, type Routes } from '../call.ts'
import { digestOf, fields, shelf } from './shelf.ts'

const GROUPS_GONE = () => {
  throw failed('cannot index groups: ha groups have been migrated to rules')
}

export const haRoutes: Routes = {
  'GET /cluster/ha/resources': (call) => list(call, 'resources'),
  'POST /cluster/ha/resources': (call) => {
    const sid = sidOf(call)
    const vmid = Number(sid.slice(3))
    if (!call.world.guests.has(vmid)) throw failed(`unable to add resource: no guest with id ${vmid}`)
    add(call, 'resources', sid, { sid, type: sid.slice(0, 2), ...fields(call, 'sid', 'type') })
    return null
  },
  'GET /cluster/ha/resources/{sid}': (call) => shown(call, 'resources', sidOf(call)),
  'DELETE /cluster/ha/resources/{sid}': (call) => remove(call, 'resources', sidOf(call)),
  'GET /cluster/ha/groups': GROUPS_GONE,
  'POST /cluster/ha/groups': GROUPS_GONE,
  'GET /cluster/ha/rules': (call) => list(call, 'rules').map((rule, index) => ({ ...rule, order: index + 1 })),
  'POST /cluster/ha/rules': (call) => {
    add(call, 'rules', param(call, 'rule'), fields(call))
    return null
  },
  'DELETE /cluster/ha/rules/{rule}': (call) => remove(call, 'rules', param(call, 'rule')),
  'GET /cluster/ha/status/current': (call) => {
    const [host] = call.world.hosts.keys()
    return [
      {
        id: 'quorum',
        type: 'quorum',
        node: host,
        status: call.world.quorate ? 'OK' : 'No quorum!',
        quorate: call.world.quorate ? 1 : 0,
      },
      {
        id: 'fencing',
        type: 'fencing',
        node: host,
        status: 'standby (CRM watchdog standby)',
        'armed-state': 'standby',
      },
    ]
  },
}

/** `110` and `vm:110` are the same. */
function sidOf(call: Call): string {
  const sid = param(call, 'sid')
  if (sid.includes(':')) return sid
  return `${call.world.guests.get(Number(sid))?.type === 'lxc' ? 'ct' : 'vm'}:${sid}`
}

function list(call: Call, kind: string): Record<string, unknown>[] {
  const things = [...shelf(call.world, `ha/${kind}`).values()]
  return things.map((thing) => ({ ...thing, digest: digestOf(things) }))
}

function shown(call: Call, kind: string, id: string): Record<string, unknown> {
  const thing = shelf(call.world, `ha/${kind}`).get(id)
  if (thing === undefined) throw failed(`no such resource '${id}'`)
  return { ...thing, digest: digestOf([...shelf(call.world, `ha/${kind}`).values()]) }
}

function add(call: Call, kind: string, id: string, thing: Record<string, unknown>): void {
  const things = shelf(call.world, `ha/${kind}`)
  if (things.has(id)) throw failed(`resource ID '${id}' already defined`)
  things.set(id, thing)
}

function remove(call: Call, kind: string, id: string): null {
  if (!shelf(call.world, `ha/${kind}`).delete(id)) throw failed(`cannot delete service '${id}' - not HA managed!`)
  return null
}
