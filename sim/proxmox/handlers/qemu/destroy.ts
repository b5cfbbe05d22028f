import { between } from '../../../world/chance.ts'
import { driveVolume, isDrive, isUnused } from '../../../world/guest-config.ts'
import { PowerLost } from '../../../world/locks.ts'
import { Interrupted, startTask, type Work } from '../../../world/tasks.ts'
import type { Guest, Host, World } from '../../../world/types.ts'
import { findVolume, freeVolume, lockingStorage, unusable, volumesOf, volumesOfGuest } from '../../../world/volumes.ts'
import { failed } from '../../api-error.ts'
import { type Call, flag, guestOf, hostOf, type Routes } from '../../call.ts'
import { forgetFirewall } from '../firewall/place.ts'
import { refuseLockedFor, refuseSkipLock, withConfigLock } from '../guest/config-lock.ts'
import { haId } from '../guest/guest-rows.ts'
import { leaveRules } from '../ha/resources.ts'
import { leaveJobs } from '../storage/backup-jobs.ts'
import { leaveReplication, refuseReplicated } from '../storage/replication.ts'

export const qemuDestroyRoutes: Routes = { 'DELETE /nodes/{node}/qemu/{vmid}': destroy }

function destroy(call: Call): string {
  const { world } = call
  const host = hostOf(call)
  refuseSkipLock(call)
  const guest = guestOf(call)
  if (guest.config.get('protection') === '1') throw failed(`can't remove VM ${guest.vmid} - protection mode enabled`)
  const purge = flag(call, 'purge')
  if (!purge && world.shelves.get('ha/resources')?.has(haId(guest))) {
    throw failed(`unable to remove VM ${guest.vmid} - used in HA resources and purge parameter not set.`)
  }
  if (!purge) refuseReplicated(world, guest.vmid)
  if (guest.run.status === 'running') throw failed(`VM ${guest.vmid} is running - destroy failed`)
  return startTask(world, host, 'qmdestroy', `${guest.vmid}`, call.who.id, (work) =>
    withConfigLock(world, host, guest.vmid, async () => {
      if (world.guests.get(guest.vmid) !== guest) throw new Error(`VM ${guest.vmid} does not exist`)
      // What was written to disk goes with the guest.
      refuseLockedFor(call, guest, 'suspended')
      if (guest.run.status === 'running') throw new Error(`VM ${guest.vmid} is running - destroy failed`)
      await removeGuest(world, host, guest, work, { purge, unreferenced: flag(call, 'destroy-unreferenced-disks') })
    }),
  )
}

export async function removeGuest(
  world: World,
  host: Host,
  guest: Guest,
  work: Work,
  options: { readonly purge: boolean; readonly unreferenced: boolean },
): Promise<void> {
  const volumes = ownVolumes(host, guest)
  // Of one that is a template no longer, the disks that others stand on stay, with a warning.
  for (const volid of guest.config.get('template') === '1' ? volumes : [])
    if (isBaseInUse(host, volid)) throw new Error(`base volume '${volid}' is still in use by linked cloned`)
  await work.pass(world.timing.shortTaskMs)
  for (const volid of volumes) await freeOrWarn(world, host, volid, work)
  // What is still there by its name, a disk that could not be removed a moment ago among it.
  if (options.unreferenced)
    for (const volid of volumesOfGuest(host, guest.vmid)) await freeOrWarn(world, host, volid, work)
  const rights = world.access.acl.filter(({ path }) => path !== `/vms/${guest.vmid}`)
  world.access.acl.splice(0, world.access.acl.length, ...rights)
  forgetFirewall(world, guest)
  if (options.purge) {
    const what = guest.type === 'qemu' ? 'VM' : 'CT'
    work.log(`purging ${what} ${guest.vmid} from related configurations..`)
    leaveReplication(world, guest.vmid)
    leaveJobs(world, guest.vmid)
    if (world.shelves.get('ha/resources')?.delete(haId(guest))) {
      leaveRules(world, haId(guest))
      work.log(`NOTE: removed ${what} ${guest.vmid} from HA resource configuration.`)
    }
  }
  for (const pool of world.pools.values()) pool.guests.delete(guest.vmid)
  world.guests.delete(guest.vmid)
  world.access.version += 1
}

/** The guest goes even where one of its disks cannot be removed, for want of the lock in time: Proxmox only warns of it. */
async function freeOrWarn(world: World, host: Host, volid: string, work: Work): Promise<void> {
  try {
    const storage = volid.slice(0, volid.indexOf(':'))
    const off = unusable(world, host, storage)
    if (off !== undefined) throw new Error(off)
    await lockingStorage(world, host, storage, async () => {
      await work.pass(between(world.random, world.timing.freeMs))
      if (isBaseInUse(host, volid)) throw new Error(`base volume '${volid}' is still in use`)
      freeVolume(host, volid)
    })
  } catch (error) {
    if (error instanceof PowerLost || error instanceof Interrupted) throw error
    work.warn(`Could not remove disk '${volid}', check manually: ${error instanceof Error ? error.message : ''}`)
  }
}

/** Volumes that the configuration names and that belong to this guest: a disk of another one is left alone. */
function ownVolumes(host: Host, guest: Guest): string[] {
  const named = new Set<string>()
  const take = (config: ReadonlyMap<string, string>) => {
    for (const [key, value] of config) {
      if (!isDrive(key) && !isUnused(key) && !/^(rootfs|mp\d+|vmstate)$/.test(key)) continue
      const volid = driveVolume(value)
      if (volid !== '' && findVolume(host, volid)?.vmid === guest.vmid) named.add(volid)
    }
  }
  take(guest.config)
  take(guest.pending)
  for (const snapshot of guest.snapshots.values()) take(snapshot.config)
  return [...named]
}

export function isBaseInUse(host: Host, volid: string): boolean {
  const storage = volid.slice(0, volid.indexOf(':'))
  const volume = findVolume(host, volid)
  return volume !== undefined && [...volumesOf(host, storage).values()].some(({ parent }) => parent === volume.name)
}
