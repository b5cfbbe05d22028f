import { createHash } from 'node:crypto'
import { between } from './chance.ts'
import { holding } from './locks.ts'
import type { StorageEntry, Volume } from './parts.ts'
import type { Work } from './tasks.ts'
import type { Host, World } from './types.ts'

export interface VolumeId {
  readonly storage: string
  readonly name: string
}

export function parseVolumeId(text: string): VolumeId | undefined {
  const colon = text.indexOf(':')
  if (colon < 1 || text.startsWith('/')) return undefined
  return { storage: text.slice(0, colon), name: text.slice(colon + 1) }
}

/** The storage as this host has it, or undefined when it is not there, not for it, or switched off. */
export function storageOn(world: World, host: Host, id: string): StorageEntry | undefined {
  const entry = world.storages.get(id)
  if (entry === undefined || entry.disabled) return undefined
  return entry.nodes === undefined || entry.nodes.includes(host.name) ? entry : undefined
}

/** Why nothing of a storage can be used on a host, or undefined when it can. */
export function unusable(world: World, host: Host, id: string): string | undefined {
  const entry = world.storages.get(id)
  if (entry === undefined) return `storage '${id}' does not exist`
  if (entry.disabled) return `storage '${id}' is disabled`
  return storageOn(world, host, id) === undefined
    ? `storage '${id}' is not available on node '${host.name}'`
    : undefined
}

/** Why a volume cannot be used through its storage, or undefined when it can. */
export function storageProblem(world: World, host: Host, id: string, content: string): string | undefined {
  const problem = unusable(world, host, id)
  if (problem !== undefined) return problem
  return world.storages.get(id)?.content.includes(content)
    ? undefined
    : `storage '${id}' does not support content-type '${content}'`
}

export function volumesOf(host: Host, storage: string): Map<string, Volume> {
  let volumes = host.volumes.get(storage)
  if (volumes === undefined) {
    volumes = new Map()
    host.volumes.set(storage, volumes)
  }
  return volumes
}

export function findVolume(host: Host, volid: string): Volume | undefined {
  const id = parseVolumeId(volid)
  if (id === undefined) return undefined
  const volumes = volumesOf(host, id.storage)
  const exact = volumes.get(id.name)
  if (exact !== undefined) return exact
  // A linked clone is named with its base in front: `101/base-101-disk-0.qcow2/102/vm-102-disk-0.qcow2`.
  const parts = id.name.split('/')
  return parts.length > 1 ? volumes.get(parts.slice(parts.length > 2 ? 2 : 1).join('/')) : undefined
}

/** The volume that lies at a path of the host. */
export function volumeAtPath(world: World, host: Host, path: string): string | undefined {
  for (const entry of world.storages.values())
    if (entry.files)
      for (const { name } of volumesOf(host, entry.id).values())
        if (filePath(entry, name) === path) return `${entry.id}:${name}`
  return undefined
}

export function usedBytes(host: Host, entry: StorageEntry): number {
  let used = entry.baseUsedBytes
  for (const volume of volumesOf(host, entry.id).values()) used += volume.usedBytes ?? volume.sizeBytes
  return used
}

/** `Datastore` kinds by the first part of a file's name. */
export function contentOfName(name: string): string | undefined {
  const slash = name.indexOf('/')
  if (slash < 0) return 'images'
  const first = name.slice(0, slash)
  if (/^\d+$/.test(first)) return 'images'
  return ['iso', 'vztmpl', 'backup', 'snippets', 'import', 'rootdir'].includes(first) ? first : undefined
}

/** Where a file lies on the host, for messages and logs. */
export function filePath(entry: StorageEntry, name: string): string {
  if (!entry.files) return `/dev/zvol/${entry.options.pool ?? entry.id}/${name}`
  const slash = name.indexOf('/')
  const first = name.slice(0, slash)
  const rest = name.slice(slash + 1)
  if (/^\d+$/.test(first)) return `${entry.path}/images/${name}`
  if (first === 'iso') return `${entry.path}/template/iso/${rest}`
  if (first === 'vztmpl') return `${entry.path}/template/cache/${rest}`
  if (first === 'backup') return `${entry.path}/dump/${rest}`
  return `${entry.path}/${first}/${rest}`
}

export interface NewDisk {
  readonly storage: StorageEntry
  readonly vmid: number
  readonly format: string
  readonly sizeBytes: number
  /** `disk` is numbered; `cloudinit` is one per guest. */
  readonly role: 'disk' | 'cloudinit' | 'subvol'
}

/** The name that the next disk of a guest gets: the lowest number that is free on that storage. */
export function nextDiskName(host: Host, disk: NewDisk): string {
  const { storage, vmid, format, role } = disk
  const extension = storage.files ? `.${format}` : ''
  const folder = storage.files ? `${vmid}/` : ''
  if (role === 'cloudinit') return `${folder}vm-${vmid}-cloudinit${extension}`
  const volumes = volumesOf(host, storage.id)
  // Disks, folders and bases of a guest share one sequence of numbers.
  const numbered = new RegExp(`(?:vm|base|subvol|basevol)-${vmid}-disk-(\\d+)`)
  const taken = new Set([...volumes.values()].map((volume) => Number(numbered.exec(volume.name)?.[1] ?? -1)))
  let number = 0
  while (taken.has(number)) number++
  return `${folder}${role === 'subvol' ? 'subvol' : 'vm'}-${vmid}-disk-${number}${extension}`
}

/** What makes or removes disks of a storage does it one after another, and waits ten seconds for its turn. */
export function lockingStorage<T>(world: World, host: Host, storage: string, work: () => Promise<T>): Promise<T> {
  const refuse = () => new Error(`can't lock file '/var/lock/pve-manager/pve-storage-${storage}' - got timeout`)
  return holding(world, host, `storage-${storage}`, refuse, async () => {
    const begunMs = world.clock.now()
    try {
      return await work()
    } finally {
      const place = `${host.name}/${storage}`
      world.storageBusyMs.set(place, (world.storageBusyMs.get(place) ?? 0) + world.clock.now() - begunMs)
    }
  })
}

/** Makes a disk under the storage's lock, which is what parallel creations wait for. */
export function allocate(world: World, host: Host, work: Work, disk: NewDisk): Promise<string> {
  const { storage } = disk
  return lockingStorage(world, host, storage.id, async () => {
    await work.pass(between(world.random, world.timing.allocateMs))
    const name = nextDiskName(host, disk)
    const free = storage.totalBytes - usedBytes(host, storage)
    if (disk.sizeBytes > free && disk.role !== 'cloudinit') throw new Error(outOfSpace(storage, name))
    if (disk.role === 'cloudinit' && volumesOf(host, storage.id).has(name)) {
      throw new Error(`disk image '${filePath(storage, name)}' already exists`)
    }
    addVolume(world, host, storage, {
      name,
      content: 'images',
      format: disk.format,
      sizeBytes: disk.sizeBytes,
      vmid: disk.vmid,
      ctimeSeconds: Math.floor(world.clock.now() / 1000),
    })
    return `${storage.id}:${name}`
  })
}

function outOfSpace(storage: StorageEntry, name: string): string {
  return storage.files
    ? `unable to create image: qemu-img: ${filePath(storage, name)}: Could not resize file: No space left on device`
    : `zfs error: cannot create '${storage.options.pool ?? storage.id}/${name}': out of space`
}

export function addVolume(_world: World, host: Host, storage: StorageEntry, volume: Volume): void {
  volumesOf(host, storage.id).set(volume.name, volume)
}

export function freeVolume(host: Host, volid: string): boolean {
  const id = parseVolumeId(volid)
  const volume = findVolume(host, volid)
  return id !== undefined && volume !== undefined && volumesOf(host, id.storage).delete(volume.name)
}

/** The volumes of a guest that lie on any storage of a host. */
export function volumesOfGuest(host: Host, vmid: number): string[] {
  const found: string[] = []
  for (const [storage, volumes] of host.volumes) {
    for (const volume of volumes.values())
      if (volume.vmid === vmid && volume.content !== 'backup') found.push(`${storage}:${volume.name}`)
  }
  return found
}

/**
 * A guest's disks go where it goes, each to the storage that it is told, under the name that it would have had there.
 * Answers the names that changed.
 */
export function carryVolumes(
  world: World,
  from: Host,
  to: Host,
  vmid: number,
  storageThere: (storage: string) => string = (storage) => storage,
): ReadonlyMap<string, string> {
  const renamed = new Map<string, string>()
  const own = [...from.volumes].flatMap(([storage, volumes]) =>
    [...volumes.values()]
      .filter((volume) => volume.vmid === vmid && volume.content !== 'backup')
      .map((volume) => ({ storage, volume })),
  )
  for (const { storage, volume } of own) {
    const there = world.storages.get(storage)?.shared === true ? storage : storageThere(storage)
    const files = world.storages.get(there)?.files === true
    const stem = volume.name.replace(/^.*\//, '').replace(/\.[a-z0-9]+$/, '')
    const name = there === storage ? volume.name : files ? `${vmid}/${stem}.${volume.format}` : stem
    volumesOf(from, storage).delete(volume.name)
    volumesOf(to, there).set(
      name,
      there === storage ? volume : { ...volume, name, ...(files ? {} : { format: 'raw' }) },
    )
    if (there !== storage) renamed.set(`${storage}:${volume.name}`, `${there}:${name}`)
  }
  return renamed
}

/** A checksum that a file would have. Two files with the same seed text are the same file. */
export function checksumOf(seed: string, algorithm: string): string {
  return createHash(algorithm).update(`croft-sim:${seed}`).digest('hex')
}
