import { driveKeys, driveVolume, isCdrom, touch } from '../../../world/guest-config.ts'
import { startTask } from '../../../world/tasks.ts'
import type { Guest, Host } from '../../../world/types.ts'
import { findVolume, parseVolumeId, volumesOf } from '../../../world/volumes.ts'
import { failed } from '../../api-error.ts'
import { type Call, guestOf, hostOf, type Routes } from '../../call.ts'
import { refuseLocked, withConfigLock } from '../guest/config-lock.ts'

export const qemuTemplateRoutes: Routes = { 'POST /nodes/{node}/qemu/{vmid}/template': makeTemplate }

function makeTemplate(call: Call): string {
  const { world } = call
  const host = hostOf(call)
  const guest = guestOf(call)
  refuseLocked(guest)
  if (guest.snapshots.size > 0) throw failed('unable to create template, because VM contains snapshots')
  if (guest.config.get('template') === '1' && call.params.disk === undefined)
    throw failed("you can't convert a template to a template")
  if (guest.run.status === 'running') throw failed("you can't convert a VM to template if VM is running")
  return startTask(world, host, 'qmtemplate', `${guest.vmid}`, call.who.id, (work) =>
    withConfigLock(world, host, guest.vmid, async () => {
      await work.pass(world.timing.shortTaskMs)
      const { disk } = call.params
      for (const key of driveKeys(guest.config)) if (disk === undefined || disk === key) toBase(host, guest, key)
      guest.config.set('template', '1')
      touch(guest)
    }),
  )
}

/** Disks of a template are renamed, so that everybody sees that others may stand on them. */
function toBase(host: Host, guest: Guest, key: string): void {
  const value = guest.config.get(key) ?? ''
  const volid = driveVolume(value)
  const volume = findVolume(host, volid)
  const id = parseVolumeId(volid)
  if (isCdrom(value) || volume === undefined || id === undefined || volume.name.includes('base-')) return
  const volumes = volumesOf(host, id.storage)
  volumes.delete(volume.name)
  volume.name = volume.name.replace(/(^|\/)vm-/, '$1base-')
  volumes.set(volume.name, volume)
  guest.config.set(key, value.replace(volid, `${id.storage}:${volume.name}`))
}
