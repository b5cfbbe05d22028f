import { driveKeys, driveVolume, memoryMb } from '../../../world/guest-config.ts'
import { MIB } from '../../../world/sizes.ts'
import type { Guest, Host, World } from '../../../world/types.ts'
import { addVolume, parseVolumeId } from '../../../world/volumes.ts'

/** Where the memory of a guest is written: where it was told to, or with one of its disks. */
export function stateStorageOf(world: World, guest: Guest): string {
  const own = driveKeys(guest.config).map((key) => parseVolumeId(driveVolume(guest.config.get(key) ?? ''))?.storage)
  const used = own.filter((id) => id !== undefined)
  const isFiles = (id: string) => world.storages.get(id)?.files === true
  return guest.config.get('vmstatestorage') ?? used.findLast(isFiles) ?? used[0] ?? 'local'
}

/** Makes the volume for the saved memory: twice its size and room for the devices. */
export function addStateVolume(world: World, host: Host, guest: Guest, id: string, name: string): string {
  const storage = world.storages.get(id)
  if (storage === undefined) throw new Error(`storage '${id}' does not exist`)
  const file = `vm-${guest.vmid}-state-${name}`
  const volume = storage.files ? `${guest.vmid}/${file}.raw` : file
  addVolume(world, host, storage, {
    name: volume,
    content: 'images',
    format: 'raw',
    sizeBytes: (memoryMb(guest.config) * 2 + 500) * MIB,
    vmid: guest.vmid,
    ctimeSeconds: Math.floor(world.clock.now() / 1000),
  })
  return `${id}:${volume}`
}

/** What a configuration says about memory that was written down. */
export function stateKeys(volid: string): ReadonlyMap<string, string> {
  return new Map([
    ['vmstate', volid],
    ['runningmachine', 'pc-i440fx-10.0+pve1'],
    ['runningcpu', 'kvm64,enforce,+kvm_pv_eoi,+kvm_pv_unhalt,+lahf_lm,+sep'],
  ])
}
