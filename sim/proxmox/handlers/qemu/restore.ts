import { macAddress } from '../../../world/chance.ts'
import { driveVolume, isCdrom, isDrive, isUnused, touch } from '../../../world/guest-config.ts'
import { newGuest, noteSeen } from '../../../world/guest-run.ts'
import { parseProperties, printProperties } from '../../../world/properties.ts'
import { GIB, parseSize } from '../../../world/sizes.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { filePath, findVolume, freeVolume, parseVolumeId } from '../../../world/volumes.ts'
import { failed } from '../../api-error.ts'
import { type Call, flag, hostOf, vmidOf } from '../../call.ts'
import { withConfigLock, withNewId } from '../guest/config-lock.ts'
import { keptValue } from '../guest/option-values.ts'
import { backupName } from '../storage/backup-name.ts'
import { copyLimit, rateUnder } from '../storage/bandwidth.ts'
import { copyBytes } from './copy-disk.ts'
import { makeDrive } from './drive-make.ts'
import { startAfterCreate } from './start-after-create.ts'
import type { Workshop } from './workshop.ts'

/** Makes a machine out of its backup, or puts one that is there back with `force`. */
export function restore(
  call: Call,
  archive: string,
  wanted: readonly (readonly [string, string])[],
): string | Promise<string> {
  const vmid = vmidOf(call)
  const id = { vmid, type: 'qemu', before: `unable to restore VM ${vmid} - ` } as const
  return withNewId(call.world, hostOf(call), id, () => beginRestore(call, archive, wanted))
}

function beginRestore(call: Call, archive: string, wanted: readonly (readonly [string, string])[]): string {
  const { world } = call
  const host = hostOf(call)
  const vmid = vmidOf(call)
  const before = `unable to restore VM ${vmid} -`
  const old = world.guests.get(vmid)
  if (old !== undefined && (!flag(call, 'force') || old.type !== 'qemu' || old.node !== host.name))
    throw failed(`${before} ${old.type === 'qemu' ? 'VM' : 'CT'} ${vmid} already exists on node '${old.node}'`)
  const lock = old?.config.get('lock')
  if (lock !== undefined) throw failed(`${before} VM is locked (${lock})`)
  const guest = old ?? newGuest(vmid, 'qemu', host.name, new Map([['lock', 'create']]))
  guest.config.set('lock', 'create')
  if (old === undefined) world.guests.set(vmid, guest)
  noteSeen(world, guest)
  return startTask(world, host, 'qmrestore', `${vmid}`, call.who.id, async (work) => {
    await withConfigLock(world, host, vmid, async () => {
      try {
        if (guest.config.get('protection') === '1') throw new Error(`${before} protection mode enabled`)
        if (guest.run.status === 'running') throw new Error(`${before} vm is running`)
        guest.config = await restored(call, guest, archive, wanted, work)
      } catch (error) {
        guest.config.delete('lock')
        work.log(
          `error before or during data restore, some or all disks were not completely restored. VM ${vmid} state is NOT cleaned up.`,
        )
        throw error
      } finally {
        touch(guest)
        noteSeen(world, guest)
      }
    })
    const { pool } = call.params
    if (pool !== undefined) world.pools.get(pool)?.guests.add(vmid)
    if (flag(call, 'start')) startAfterCreate(call, guest, work)
  })
}

async function restored(
  call: Call,
  guest: Guest,
  archive: string,
  wanted: readonly (readonly [string, string])[],
  work: Work,
): Promise<Map<string, string>> {
  const { world } = call
  const host = hostOf(call)
  const saved = findVolume(host, archive)?.saved
  const entry = world.storages.get(parseVolumeId(archive)?.storage ?? '')
  const name = parseVolumeId(archive)?.name ?? archive
  if (backupName(name)?.type === 'lxc')
    throw new Error(
      `ERROR: file '${entry === undefined ? archive : filePath(entry, name)}' does not look like a QemuServer vzdump backup`,
    )
  if (saved === undefined) throw new Error(`unable to restore VM ${guest.vmid} - '${archive}' is no backup of a VM`)
  const shop: Workshop = { world, host, vmid: guest.vmid, work, made: [] }
  for (const [key, value] of guest.config)
    if ((isDrive(key) && !isCdrom(value)) || isUnused(key)) freeVolume(host, driveVolume(value))
  const config = new Map<string, string>()
  for (const [key, value] of saved.config) {
    if (key === 'lock' || key === 'parent' || isUnused(key)) continue
    config.set(key, isDrive(key) ? await restoredDrive(call, shop, key, value) : fresh(call, key, value))
  }
  for (const [key, value] of wanted) config.set(key, keptValue(world, key, value))
  return config
}

/** On the storage that was asked for, else on the one that it came from. */
async function restoredDrive(call: Call, shop: Workshop, key: string, value: string): Promise<string> {
  const { main, named } = parseProperties(value, 'file')
  const id = parseVolumeId(main)
  if (id === undefined) return value
  const storage = call.params.storage ?? id.storage
  if (isCdrom(value)) return id.name.includes('cloudinit') ? makeDrive(shop, key, `${storage}:cloudinit`) : value
  const bytes = parseSize(named.get('size') ?? '') ?? 0
  named.delete('size')
  const made = await makeDrive(shop, key, printProperties({ main: `${storage}:${bytes / GIB}`, named }))
  await copyBytes(shop, bytes, rateUnder(call, copyLimit(call, 'restore', [storage])))
  return made
}

/** With `unique` cards get new addresses. */
function fresh(call: Call, key: string, value: string): string {
  if (!flag(call, 'unique') || !/^net\d+$/.test(key)) return value
  return value.replace(/(?<==)[0-9A-F]{2}(?::[0-9A-F]{2}){5}/i, macAddress(call.world.random))
}
