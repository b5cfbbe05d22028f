import { failed } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { type Collection, collectionRoutes, things } from '../collection.ts'
import { textOf } from '../shelf.ts'

const noJob = (id: string) => failed(`no such replication job '${id}'`)

/** Copies of a guest's disks on another node, made at set times. That they are made is not simulated. */
const JOBS: Collection = {
  at: '/cluster/replication',
  key: 'id',
  shelf: 'replication',
  sections: '',
  exists: (id) => failed(`replication job '${id}' already exists`),
  missing: (id, verb) => (verb === 'delete' ? failed(`no such job '${id}'`) : noJob(id)),
  prepare: (call, thing, id, old) => {
    const guest = call.world.guests.get(Number(id.split('-')[0]))
    if (guest === undefined) throw failed(`Guest '${id.split('-')[0]}' does not exist.`)
    const target = String(thing.target ?? old?.target)
    // A node that is in no cluster knows no other, not even itself.
    if (call.world.hosts.size < 2 || !call.world.hosts.has(target)) throw failed(`Target '${target}' does not exist.`)
    const source = textOf(thing.source)
    if (old === undefined && source !== '' && source !== guest.node)
      throw failed(`Source '${source}' does not match current node of guest '${guest.vmid}' (${guest.node})`)
    if (target === guest.node) throw failed('Source and target must not be identical')
    return { ...thing, guest: guest.vmid, jobnum: Number(id.split('-')[1]), source: guest.node }
  },
  row: (_, thing, id) => ({ ...thing, id }),
}

export const replicationRoutes: Routes = {
  ...collectionRoutes(JOBS),
  'GET /nodes/{node}/replication': (call) =>
    [...things(JOBS, call)]
      .filter(([, job]) => job.source === param(call, 'node'))
      .map(([id, job]) => ({ ...job, id, fail_count: 0, last_sync: 0, next_sync: 0 })),
  'GET /nodes/{node}/replication/{id}/status': (call) => ({
    ...need(call),
    id: param(call, 'id'),
    fail_count: 0,
    last_sync: 0,
  }),
  'POST /nodes/{node}/replication/{id}/schedule_now': (call) => {
    need(call)
    return null
  },
}

function need(call: Call) {
  const job = things(JOBS, call).get(param(call, 'id'))
  if (job === undefined) throw noJob(param(call, 'id'))
  return job
}
