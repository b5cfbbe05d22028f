import { touch } from '../../../world/guest-config.ts'
import { noteSeen } from '../../../world/guest-run.ts'
import { PowerLost } from '../../../world/locks.ts'
import { parseProperties } from '../../../world/properties.ts'
import { Interrupted, startTask, type Work } from '../../../world/tasks.ts'
import type { Guest, Host, World } from '../../../world/types.ts'
import { carryVolumes } from '../../../world/volumes.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, flag, guestOf, hostOf, type Routes } from '../../call.ts'
import { refuseLocked, withConfigLock, withMigrationLock } from '../guest/config-lock.ts'
import { migrationTarget } from '../guest/migration-target.ts'
import { storageMap } from '../guest/storage-map.ts'
import { destinations } from '../ha/motion.ts'
import { movedByManager } from '../ha/power.ts'
import { haEntry } from '../ha/resources.ts'
import { replicationTargets } from '../storage/replication.ts'
import { localDisks } from './local-disks.ts'
import { type GuestMove, requireStorages, whatKeeps } from './migration-check.ts'

export const qemuMigrateRoutes: Routes = {
  'GET /nodes/{node}/qemu/{vmid}/migrate': conditions,
  'POST /nodes/{node}/qemu/{vmid}/migrate': migrate,
}

/** Where a guest could go, and what keeps it. */
function conditions(call: Call): Record<string, unknown> {
  const { world } = call
  const guest = guestOf(call)
  refuseLocked(guest)
  for (const [key, value] of guest.config) {
    const name = /^hostpci\d+$/.test(key) ? parseProperties(value).named.get('mapping') : undefined
    // The daemon falls over a mapping that is gone.
    if (name !== undefined && !world.shelves.get('mapping/pci')?.has(name))
      throw failed(
        "Can't use an undefined value as an ARRAY reference at /usr/share/perl5/PVE/QemuMigrate/Helpers.pm line 63.",
      )
  }
  return {
    running: guest.run.status === 'running' ? 1 : 0,
    'has-dbus-vmstate': 1,
    ...destinations(call, guest, 'allowed_nodes', 'not_allowed_nodes'),
    local_resources: [],
    'mapped-resources': [],
    'mapped-resource-info': {},
    local_disks: localDisks(world, guest),
  }
}

function migrate(call: Call): string {
  const { world } = call
  const host = hostOf(call)
  const target = migrationTarget(call)
  for (const option of ['force', 'migration_type', 'migration_network']) {
    const given = option === 'force' ? flag(call, option) : call.params[option] !== undefined
    if (given && call.who.id !== 'root@pam') throw badParameter(option, 'Only root may use this option.')
  }
  const guest = guestOf(call)
  refuseLocked(guest)
  if (guest.run.status === 'running') {
    if (!flag(call, 'online')) throw failed("can't migrate running VM without --online")
    const targets = replicationTargets(world, guest.vmid)
    if (targets.length > 0 && !targets.includes(target.name) && !flag(call, 'force'))
      throw failed(
        `Cannot live-migrate replicated VM to node '${target.name}' - not a replication target. Use 'force' to override.`,
      )
  }
  const storages = storageMap(call, 'targetstorage', target, 'images')
  if (storages === undefined || storages.identity) requireStorages(world, guest, host, target)
  const migration: GuestMove = {
    world,
    guest,
    from: host,
    to: target,
    storages: storages ?? { identity: true, to: (storage) => storage },
    withLocalDisks: flag(call, 'with-local-disks'),
    force: flag(call, 'force'),
  }
  if (haEntry(world, guest) !== undefined) return movedByManager(call, guest, target, () => settleThere(migration))
  return startTask(world, host, 'qmigrate', `${guest.vmid}`, call.who.id, (work) =>
    withMigrationLock(world, host, guest.vmid, () =>
      orAborted(world, work, () => withConfigLock(world, host, guest.vmid, () => move(migration, work))),
    ),
  )
}

/** What keeps a guest where it is stands in the log; that it was kept is all that the task ends with. */
export async function orAborted(world: World, work: Work, deed: () => Promise<void>): Promise<void> {
  const begunMs = world.clock.now()
  try {
    await deed()
  } catch (error) {
    if (error instanceof PowerLost || error instanceof Interrupted) throw error
    const took = new Date(world.clock.now() - begunMs).toISOString().slice(11, 19)
    work.log(`ERROR: migration aborted (duration ${took}): ${error instanceof Error ? error.message : ''}`)
    throw new Error('migration aborted', { cause: error })
  }
}

async function move(migration: GuestMove, work: Work): Promise<void> {
  const { world, guest, from, to } = migration
  refuseLocked(guest)
  work.log(`starting migration of VM ${guest.vmid} to node '${to.name}' (${to.address})`)
  const problem = to.power === 'off' ? "Can't connect to destination address using public key" : whatKeeps(migration)
  if (problem !== undefined) throw new Error(problem)
  guest.config.set('lock', 'migrate')
  touch(guest)
  await work.pass(
    Math.ceil((ownBytes(from, guest.vmid) / world.timing.cloneBytesPerSecond) * 1000) + world.timing.shortTaskMs,
  )
  guest.config.delete('lock')
  settleThere(migration)
  work.log('migration finished successfully')
}

function settleThere({
  world,
  guest,
  from,
  to,
  storages,
}: Pick<GuestMove, 'world' | 'guest' | 'from' | 'to' | 'storages'>) {
  nameAnew(
    guest,
    carryVolumes(world, from, to, guest.vmid, (storage) => storages.to(storage)),
  )
  guest.node = to.name
  touch(guest)
  noteSeen(world, guest)
}

/** The configuration, and that of each snapshot, has the volumes by their new names. */
export function nameAnew(guest: Guest, renamed: ReadonlyMap<string, string>): void {
  if (renamed.size === 0) return
  for (const config of [guest.config, guest.pending, ...[...guest.snapshots.values()].map((one) => one.config)])
    for (const [key, value] of config) {
      const [volid = '', ...rest] = value.split(',')
      const name = renamed.get(volid)
      if (name !== undefined) config.set(key, [name, ...rest].join(','))
    }
}

function ownBytes(host: Host, vmid: number): number {
  let bytes = 0
  for (const volumes of host.volumes.values()) {
    for (const volume of volumes.values()) if (volume.vmid === vmid) bytes += volume.usedBytes ?? volume.sizeBytes
  }
  return bytes
}
