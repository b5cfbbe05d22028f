import { failed } from '../../api-error.ts'
import { type Call, type Handler, param, type Routes } from '../../call.ts'
import { shelf, type Thing } from '../shelf.ts'
import { disarmState, requestDisarm } from './power.ts'

export const haRoutes: Routes = {
  'GET /cluster/ha': () => ['status', 'resources', 'groups', 'rules'].map((id) => ({ id })),
  'GET /cluster/ha/groups': groupsGone('cannot index groups'),
  'POST /cluster/ha/groups': groupsGone('cannot create group'),
  'GET /cluster/ha/groups/{group}': groupsGone('cannot read group'),
  'PUT /cluster/ha/groups/{group}': groupsGone('cannot update group'),
  'DELETE /cluster/ha/groups/{group}': groupsGone('cannot delete group'),
  'GET /cluster/ha/status': () => ['current', 'manager_status', 'arm-ha', 'disarm-ha'].map((name) => ({ name })),
  'GET /cluster/ha/status/current': current,
  'GET /cluster/ha/status/manager_status': (call) => ({
    manager_status: { node_status: {} },
    quorum: { node: firstNode(call), quorate: call.world.quorate ? '1' : '0' },
  }),
  'POST /cluster/ha/status/disarm-ha': (call) => {
    requestDisarm(call.world, param(call, 'resource-mode'))
    return null
  },
  'POST /cluster/ha/status/arm-ha': (call) => {
    shelf(call.world, 'ha').delete('disarmed')
    return null
  },
}

function groupsGone(what: string): Handler {
  return () => {
    throw failed(`${what}: ha groups have been migrated to rules`)
  }
}

function firstNode(call: Call): string {
  return [...call.world.hosts.keys()][0] ?? ''
}

function current(call: Call): Thing[] {
  const { world } = call
  const node = firstNode(call)
  const quorum = { status: world.quorate ? 'OK' : 'No quorum!', quorate: world.quorate ? 1 : 0 }
  const state = disarmState(world)
  const fencing =
    state === undefined
      ? { status: 'standby (CRM watchdog standby)', 'armed-state': 'standby' }
      : { status: state, 'armed-state': state }
  return [
    { id: 'quorum', type: 'quorum', node, ...quorum },
    { id: 'fencing', type: 'fencing', node, ...fencing },
    ...[...shelf(world, 'ha/resources')].map(([sid, entry]) => service(call, sid, entry)),
  ]
}

function service(call: Call, sid: string, entry: Thing): Thing {
  const guest = call.world.guests.get(Number(sid.slice(3)))
  const node = guest?.node ?? firstNode(call)
  const { type: _, state: wanted, ...rest } = entry
  const seen = guest?.run.status === 'running' ? 'started' : 'stopped'
  const state = wanted === 'ignored' ? wanted : call.world.statusDaemon ? seen : 'queued'
  return {
    id: `service:${sid}`,
    type: 'service',
    sid,
    node,
    state,
    request_state: wanted ?? 'started',
    status: `${sid} (${node}, ${state})`,
    max_relocate: 1,
    max_restart: 1,
    failback: 1,
    ...rest,
  }
}
