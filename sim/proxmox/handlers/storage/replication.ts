import { may } from '../../../world/access.ts'
import { isCdrom, isDrive } from '../../../world/guest-config.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { Guest, World } from '../../../world/types.ts'
import { parseVolumeId } from '../../../world/volumes.ts'
import { badParameter, failed } from '../../api-error.ts'
import { Answer, type Call, flag, param, type Routes } from '../../call.ts'
import { type Collection, collectionRoutes, things } from '../collection.ts'
import { requireRight } from '../guest/option-rights.ts'
import { textOf } from '../shelf.ts'

const noJob = (id: string) => failed(`no such replication job '${id}'`)

/** Copies of a guest's disks on another node, made at set times. That they are made is not simulated. */
const JOBS: Collection = {
  at: '/cluster/replication',
  key: 'id',
  shelf: 'replication',
  sections: '',
  exists: (id) => failed(`replication job '${id}' already exists`),
  missing: (id, verb) => (verb === 'read' ? noJob(id) : failed(`no such job '${id}'`)),
  sees: (call, _, thing) => may(call.world, call.who, `/vms/${textOf(thing.guest)}`, 'VM.Audit'),
  refuseNew: (call, id) => requireRight(call, `/vms/${id.split('-')[0]}`, 'VM.Replicate'),
  refuseChange: (call) => requireRight(call, `/vms/${param(call, 'id').split('-')[0]}`, 'VM.Replicate'),
  prepare: (call, thing, id, old) => {
    // A change is not compared with the site any more.
    if (old !== undefined) return { ...thing, guest: old.guest, jobnum: old.jobnum, source: old.source }
    const guest = call.world.guests.get(Number(id.split('-')[0]))
    if (guest === undefined) throw failed(`Guest '${id.split('-')[0]}' does not exist.`)
    const target = textOf(thing.target)
    // A node that is in no cluster knows no other, not even itself.
    if (call.world.hosts.size < 2 || !call.world.hosts.has(target)) throw failed(`Target '${target}' does not exist.`)
    const source = textOf(thing.source)
    if (source !== '' && source !== guest.node)
      throw failed(`Source '${source}' does not match current node of guest '${guest.vmid}' (${guest.node})`)
    if (target === guest.node) throw failed('Source and target must not be identical')
    if (!hasReplicatable(call, guest)) throw failed('No replicatable volumes found')
    for (const [other, job] of things(JOBS, call))
      if (other !== id && job.guest === guest.vmid && job.target === target)
        throw failed(`replication job for guest '${guest.vmid}' to target '${target}' already exists`)
    return { ...thing, guest: guest.vmid, jobnum: Number(id.split('-')[1]), source: guest.node }
  },
  row: (_, thing, id) => ({ ...thing, id }),
}

/** Only pools of ZFS send what changed to another host. */
function hasReplicatable(call: Call, guest: Guest): boolean {
  return [...guest.config].some(([key, value]) => {
    if (!isDrive(key) && !/^(rootfs|mp\d+)$/.test(key)) return false
    const { main, named } = parseProperties(value, 'file')
    const storage = call.world.storages.get(parseVolumeId(main)?.storage ?? '')
    return storage?.type === 'zfspool' && named.get('replicate') !== '0' && !isCdrom(value)
  })
}

/** Why a guest cannot go while it is copied elsewhere. */
export function refuseReplicated(world: World, vmid: number): void {
  for (const [id, job] of world.shelves.get('replication') ?? [])
    if (job.guest === vmid)
      throw failed(`There is a replication job '${id}' for guest '${vmid}' - Please remove that first.`)
}

/** Hosts that keep a copy of a guest. */
export function replicationTargets(world: World, vmid: number): readonly string[] {
  return [...(world.shelves.get('replication')?.values() ?? [])].flatMap((job) =>
    job.guest === vmid ? [textOf(job.target)] : [],
  )
}

export function leaveReplication(world: World, vmid: number): void {
  const jobs = world.shelves.get('replication')
  for (const [id, job] of jobs ?? []) if (job.guest === vmid) jobs?.delete(id)
}

const routes = collectionRoutes(JOBS)

export const replicationRoutes: Routes = {
  ...routes,
  'DELETE /cluster/replication/{id}': (call) => {
    if (!flag(call, 'force')) return routes['DELETE /cluster/replication/{id}']?.(call)
    if (flag(call, 'keep')) throw badParameter('keep', "conflicts with parameter 'force'")
    things(JOBS, call).delete(param(call, 'id'))
    return null
  },
  'GET /nodes/{node}/replication/{id}/log': (call) => {
    need(call)
    return new Answer([{ n: 1, t: 'unable to open file - No such file or directory' }], { total: 1 })
  },
  'GET /nodes/{node}/replication': (call) =>
    [...things(JOBS, call)]
      .filter(([, job]) => job.source === param(call, 'node'))
      .filter(([, job]) => call.params.guest === undefined || textOf(job.guest) === call.params.guest)
      .filter(([, job]) => may(call.world, call.who, `/vms/${textOf(job.guest)}`, 'VM.Audit'))
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
