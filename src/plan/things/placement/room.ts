import { LIMITS } from '../../../lib/limits.ts'
import { type Desired, guestIn, type Survey } from '../../../model/resource.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB

/** A machine's demand on its host. */
export interface Demand {
  readonly memoryBytes: number
  /** By the host's name of the storage. */
  readonly storages: ReadonlyMap<string, number>
}

/** A host's capacity, promises and free rest. */
export interface Room {
  readonly connection: string
  readonly node: string
  readonly online: boolean
  /** Absent if the outside system does not report it. */
  readonly memoryBytes?: number
  /** Promised to guests that run or are about to be created. */
  readonly promisedBytes: number
  readonly storages: ReadonlyMap<string, StorageRoom>
}

export interface StorageRoom {
  readonly name: string
  readonly content: readonly string[]
  readonly shared: boolean
  readonly available: boolean
  readonly totalBytes?: number
  readonly usedBytes?: number
  /** Promised to disks that are about to be created. */
  readonly promisedBytes: number
}

export function demandOf(desired: Desired): Demand {
  const storages = new Map<string, number>()
  const take = (storage: string | undefined, sizeGb: number | undefined) => {
    if (storage !== undefined) storages.set(storage, (storages.get(storage) ?? 0) + (sizeGb ?? 0) * GIB)
  }
  if (desired.type === 'vm') for (const disk of desired.vm.disks) take(disk.storage, disk.sizeGb)
  if (desired.type === 'container') {
    take(desired.container.rootDisk?.storage, desired.container.rootDisk?.sizeGb)
    for (const mount of desired.container.mounts ?? []) take(mount.storage, mount.sizeGb)
  }
  const guest = guestIn(desired)
  // A guest that stays off needs no memory.
  const memoryMb = guest?.power === 'stopped' ? 0 : (guest?.memory?.dedicatedMb ?? 0)
  return { memoryBytes: memoryMb * MIB, storages }
}

/** The memory of a running guest counts in full: unused today, it may be used tomorrow. */
export function roomsOf(survey: Survey): Room[] {
  return survey.hosts.map((host) => ({
    connection: survey.connection,
    node: host.name,
    online: host.online,
    ...(host.memoryBytes === undefined ? {} : { memoryBytes: host.memoryBytes }),
    promisedBytes: survey.resources
      .filter((guest) => guest.host === host.name && guest.power !== 'stopped')
      .reduce((sum, guest) => sum + (guest.memoryBytes ?? 0), 0),
    storages: new Map(
      survey.storages
        .filter((storage) => storage.host === host.name)
        .map(({ host: _, ...storage }) => [storage.name, { ...storage, promisedBytes: 0 }]),
    ),
  }))
}

/** Returns the room after a machine's demand was promised. */
export function withPromise(room: Room, demand: Demand): Room {
  const storages = new Map(room.storages)
  for (const [name, bytes] of demand.storages) {
    const storage = storages.get(name)
    if (storage !== undefined) storages.set(name, { ...storage, promisedBytes: storage.promisedBytes + bytes })
  }
  return { ...room, promisedBytes: room.promisedBytes + demand.memoryBytes, storages }
}

/** Returns the free memory, or undefined if the outside system does not report its size. */
export function freeMemory(room: Room): number | undefined {
  if (room.memoryBytes === undefined) return undefined
  return Math.max(0, room.memoryBytes - LIMITS.hostReserveBytes - room.promisedBytes)
}

export function freeSpace(storage: StorageRoom): number | undefined {
  if (storage.totalBytes === undefined) return undefined
  return Math.max(0, storage.totalBytes - (storage.usedBytes ?? 0) - storage.promisedBytes)
}

/** Returns why it does not fit, or undefined if it does. Unknown capacity is no reason. */
export function shortageOf(room: Room, demand: Demand): string | undefined {
  if (!room.online) return 'is offline'
  const memory = freeMemory(room)
  if (memory !== undefined && memory < demand.memoryBytes)
    return `has ${gib(memory)} of memory free, and ${gib(demand.memoryBytes)} are needed`
  for (const [name, bytes] of demand.storages) {
    const storage = room.storages.get(name)
    if (storage === undefined) return `has no storage ${name}`
    if (!storage.available) return `has storage ${name}, which is not available right now`
    const space = freeSpace(storage)
    if (space !== undefined && space < bytes) return `has ${gib(space)} free on ${name}, and ${gib(bytes)} are needed`
  }
  return undefined
}

/** Returns why no host of this size can hold it, even an empty one. Unknown capacity is no reason. */
export function neverFits(desired: Desired, host: string, survey: Survey): readonly string[] {
  const room = roomsOf(survey).find(({ node }) => node === host)
  if (room === undefined) return []
  const demand = demandOf(desired)
  const misfits: string[] = []
  if (room.memoryBytes !== undefined && demand.memoryBytes > room.memoryBytes)
    misfits.push(`${gib(demand.memoryBytes)} of memory are declared, and host ${host} has ${gib(room.memoryBytes)}`)
  for (const [name, bytes] of demand.storages) {
    const total = room.storages.get(name)?.totalBytes
    if (total !== undefined && bytes > total)
      misfits.push(`disks of ${gib(bytes)} are declared on storage ${name}, which holds ${gib(total)} on host ${host}`)
  }
  return misfits
}

/** Returns demands above the free space: they may fit where disks grow as they fill, but a person should know. */
export function tightOn(desired: Desired, host: string, survey: Survey): readonly string[] {
  const room = roomsOf(survey).find(({ node }) => node === host)
  if (room === undefined) return []
  const tight: string[] = []
  for (const [name, bytes] of demandOf(desired).storages) {
    const storage = room.storages.get(name)
    const free = storage === undefined ? undefined : freeSpace(storage)
    if (free !== undefined && bytes > free) tight.push(`disks of ${gib(bytes)} on ${name}, where ${gib(free)} are free`)
  }
  return tight
}

/** Returns how many more of these would fit. */
export function fits(room: Room, demand: Demand): number {
  if (shortageOf(room, demand) !== undefined) return 0
  const limits = [demand.memoryBytes > 0 ? Math.floor((freeMemory(room) ?? Infinity) / demand.memoryBytes) : Infinity]
  for (const [name, bytes] of demand.storages) {
    const storage = room.storages.get(name)
    if (storage !== undefined && bytes > 0) limits.push(Math.floor((freeSpace(storage) ?? Infinity) / bytes))
  }
  return Math.min(...limits)
}

export function gib(bytes: number): string {
  return `${Math.round((bytes / GIB) * 10) / 10} GiB`
}
