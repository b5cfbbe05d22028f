import { may } from '../../../world/access.ts'
import { isCdrom, isDrive } from '../../../world/guest-config.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { Guest, World } from '../../../world/types.ts'
import { parseVolumeId } from '../../../world/volumes.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, flag, param, type Routes } from '../../call.ts'
import { type Collection, collectionRoutes, list, refuseDeletions, things } from '../collection.ts'
import { requireRight } from '../guest/option-rights.ts'
import { shelf, type Thing, textOf } from '../shelf.ts'
import { nextRun } from './calendar.ts'

const SHELF = 'replication'
const MINUTE_MS = 60_000

const noJob = (id: string) => failed(`no such replication job '${id}'`)
const guestPath = (id: string) => `/vms/${id.split('-')[0]}`

/** Copies of a guest's disks on another node, made at set times. */
const JOBS: Collection = {
  at: '/cluster/replication',
  key: 'id',
  shelf: (call) => {
    takeAwayMarked(call.world)
    return SHELF
  },
  exists: (id) => failed(`replication job '${id}' already exists`),
  missing: (id, verb) => (verb === 'read' ? noJob(id) : failed(`no such job '${id}'`)),
  sees: (call, id) => may(call.world, call.who, guestPath(id), 'VM.Audit'),
  refuseNew: (call, id) => {
    requireRight(call, guestPath(id), 'VM.Replicate')
    refuseUnfit(call, id)
  },
  refuseChange: (call) => requireRight(call, guestPath(param(call, 'id')), 'VM.Replicate'),
  prepare: (call, thing, id, old) => {
    // What is both set and deleted is deleted, and a change is not compared with the site any more.
    if (old !== undefined) refuseDeletions(call, '/cluster/replication/{id}', false, '', true)
    const [guest, jobnum] = id.split('-').map(Number)
    const target = textOf(thing.target)
    for (const [other, job] of things(JOBS, call))
      if (other !== id && job.guest === guest && job.target === target)
        throw failed(`replication job for guest '${guest}' to target 'local/${target}' already exists`)
    const source = thing.source ?? call.world.guests.get(guest ?? 0)?.node
    return { ...thing, guest, jobnum, source }
  },
  row: (_, thing, id) => ({ ...thing, id }),
  one: (call, thing, id, digest) => {
    requireRight(call, guestPath(id), 'VM.Audit')
    return { ...thing, digest }
  },
  listed: (_, thing) => thing,
}

/** When a removed job disappears: a node looks at its jobs once a minute. */
const goneAtMs = new WeakMap<Thing, number>()

/** Removes the jobs whose time has come. A node that is off removes none. */
function takeAwayMarked(world: World): void {
  for (const [id, job] of shelf(world, SHELF)) {
    const node = world.guests.get(Number(job.guest))?.node
    const isOff = node !== undefined && world.hosts.get(node)?.power === 'off'
    if ((goneAtMs.get(job) ?? Number.POSITIVE_INFINITY) <= world.clock.now() && !isOff) shelf(world, SHELF).delete(id)
  }
}

/** All of this is looked at before it is known whether there is such a job. */
function refuseUnfit(call: Call, id: string): void {
  const { world, params } = call
  const guest = world.guests.get(Number(id.split('-')[0]))
  if (guest === undefined) throw failed(`Guest '${id.split('-')[0]}' does not exist.`)
  const target = textOf(params.target)
  // A node that is in no cluster knows no other, not even itself.
  if (world.hosts.size < 2 || !world.hosts.has(target)) throw failed(`Target '${target}' does not exist.`)
  const source = textOf(params.source)
  if (source !== '' && source !== guest.node)
    throw failed(`Source '${source}' does not match current node of guest '${guest.vmid}' (${guest.node})`)
  if (target === guest.node) throw failed('Source and target must not be identical')
  if (!hasReplicatable(call, guest)) throw failed('No replicatable volumes found')
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
  takeAwayMarked(world)
  for (const [id, job] of shelf(world, SHELF))
    if (job.guest === vmid)
      throw failed(`There is a replication job '${id}' for guest '${vmid}' - Please remove that first.`)
}

/** Hosts that keep a copy of a guest. */
export function replicationTargets(world: World, vmid: number): readonly string[] {
  takeAwayMarked(world)
  return [...shelf(world, SHELF).values()].flatMap((job) => (job.guest === vmid ? [textOf(job.target)] : []))
}

export function leaveReplication(world: World, vmid: number): void {
  const jobs = shelf(world, SHELF)
  for (const [id, job] of jobs) if (job.guest === vmid) jobs.delete(id)
}

const routes = collectionRoutes(JOBS)

export const replicationRoutes: Routes = {
  ...routes,
  'GET /cluster/replication': (call) => list(JOBS, call).sort((a, b) => (textOf(a.id) < textOf(b.id) ? -1 : 1)),
  // A node runs the jobs of the guests that it has. Nothing is copied here, so no job has run yet.
  'GET /nodes/{node}/replication': (call) =>
    [...things(JOBS, call)]
      .filter(([, job]) => call.world.guests.get(Number(job.guest))?.node === param(call, 'node'))
      .filter(([id]) => may(call.world, call.who, guestPath(id), 'VM.Audit'))
      .map(([id, job]) => ({
        ...job,
        id,
        next_sync: nextRun(textOf(job.schedule ?? '*/15'), call.world.clock.now()) ?? 0,
        last_sync: 0,
        last_try: 0,
        fail_count: 0,
      })),
  'DELETE /cluster/replication/{id}': (call) => {
    const id = param(call, 'id')
    requireRight(call, guestPath(id), 'VM.Replicate')
    const job = things(JOBS, call).get(id)
    if (flag(call, 'force')) {
      if (flag(call, 'keep')) throw badParameter('keep', "conflicts with parameter 'force'")
      things(JOBS, call).delete(id)
      return null
    }
    if (job === undefined) throw failed(`no such job '${id}'`)
    // What was copied goes first: the job goes when its own node has seen to that.
    job.remove_job = flag(call, 'keep') ? 'local' : 'full'
    goneAtMs.set(job, (Math.floor(call.world.clock.now() / MINUTE_MS) + 1) * MINUTE_MS)
    return null
  },
}
