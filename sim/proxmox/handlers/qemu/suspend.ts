import { touch } from '../../../world/guest-config.ts'
import { powerOff } from '../../../world/guest-run.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { freeVolume } from '../../../world/volumes.ts'
import { failed } from '../../api-error.ts'
import { type Call, flag, hostOf } from '../../call.ts'
import { refuseLockedFor, withConfigLock } from '../guest/config-lock.ts'
import { requireRight } from '../guest/option-rights.ts'
import { haEntry } from '../ha/resources.ts'
import { addStateVolume, stateKeys, stateStorageOf } from './state-volume.ts'

/** Holds a guest, or writes its memory down and switches it off. Whether it runs was looked at before. */
export function suspend(call: Call, guest: Guest): string {
  const toDisk = flag(call, 'todisk')
  const storage = call.params.statestorage ?? stateStorageOf(call.world, guest)
  if (toDisk) {
    if (haEntry(call.world, guest) !== undefined) throw failed('Cannot suspend HA managed VM to disk')
    requireRight(call, `/vms/${guest.vmid}`, 'VM.Config.Disk')
    if ([...guest.config.keys()].some((key) => /^hostpci\d+/.test(key)))
      throw failed(
        'cannot suspend VM to disk due to passed-through PCI device(s), which lack the possibility to save/restore their internal state',
      )
    requireRight(call, `/storage/${storage}`, 'Datastore.AllocateSpace')
  }
  return startTask(call.world, hostOf(call), toDisk ? 'qmsuspend' : 'qmpause', `${guest.vmid}`, call.who.id, (work) =>
    toDisk ? save(call, guest, storage, work) : pause(call, guest),
  )
}

function pause(call: Call, guest: Guest): Promise<void> {
  const { world } = call
  const host = world.hosts.get(guest.node)
  if (host === undefined) throw new Error(`no such node '${guest.node}'`)
  return withConfigLock(world, host, guest.vmid, () => {
    refuseLockedFor(call, guest, 'backup')
    guest.run.paused = true
  })
}

async function save(call: Call, guest: Guest, storage: string, work: Work): Promise<void> {
  const { world } = call
  const host = hostOf(call)
  const change = (deed: () => void) =>
    withConfigLock(world, host, guest.vmid, () => {
      deed()
      touch(guest)
    })
  await change(() => {
    if (guest.config.get('lock') === 'backup') throw new Error('cannot suspend to disk during backup')
    refuseLockedFor(call, guest)
    const date = new Date(world.clock.now()).toISOString().slice(0, 10)
    const volid = addStateVolume(world, host, guest, storage, `suspend-${date}`)
    for (const [key, value] of stateKeys(volid)) guest.config.set(key, value)
    guest.config.set('lock', 'suspending')
  })
  await work.pass(world.timing.shortTaskMs)
  work.log('State saved, quitting')
  await change(() => {
    if (guest.config.get('lock') !== 'suspending') throw new Error('lock changed unexpectedly')
    powerOff(world, guest)
    guest.config.set('lock', 'suspended')
  })
}

/** What was written down has been read again: nothing of it stays. */
export function forgetState(call: Pick<Call, 'world'>, guest: Guest): void {
  const host = call.world.hosts.get(guest.node)
  const volid = guest.config.get('vmstate')
  if (host !== undefined && volid !== undefined) freeVolume(host, volid)
  for (const key of ['lock', ...stateKeys('').keys()]) guest.config.delete(key)
  touch(guest)
}
