import { LIMITS } from '../../../lib/limits.ts'
import { type Desired, guestIn, type Survey } from '../../../model/resource.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB

/** What a machine takes of its host. */
export interface Demand {
  readonly memoryBytes: number
  /** By the name that the host has for the storage. */
  readonly storages: ReadonlyMap<string, number>
}

/** What a host has, has promised and has left. */
export interface Room {
  readonly connection: string
  readonly node: string
  readonly online: boolean
  /** Absent where the outside system does not tell. */
  readonly memoryBytes?: number
  /** To guests that run, or are about to be made. */
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
  /** To disks that are about to be made. */
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
  // What is not to run takes no memory.
  const memoryMb = guest?.power === 'stopped' ? 0 : (guest?.memory?.dedicatedMb ?? 0)
  return { memoryBytes: memoryMb * MIB, storages }
}

/** Memory counts as promised in full while a guest runs: what it does not use now it may use tomorrow. */
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

/** The same after a machine was promised its part. */
export function withPromise(room: Room, demand: Demand): Room {
  const storages = new Map(room.storages)
  for (const [name, bytes] of demand.storages) {
    const storage = storages.get(name)
    if (storage !== undefined) storages.set(name, { ...storage, promisedBytes: storage.promisedBytes + bytes })
  }
  return { ...room, promisedBytes: room.promisedBytes + demand.memoryBytes, storages }
}

/** Undefined where the outside system does not tell how much there is. */
export function freeMemory(room: Room): number | undefined {
  if (room.memoryBytes === undefined) return undefined
  return Math.max(0, room.memoryBytes - LIMITS.hostReserveBytes - room.promisedBytes)
}

export function freeSpace(storage: StorageRoom): number | undefined {
  if (storage.totalBytes === undefined) return undefined
  return Math.max(0, storage.totalBytes - (storage.usedBytes ?? 0) - storage.promisedBytes)
}

/** Why it does not fit, for a person; undefined when it does. What is not known is no reason. */
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

/** What no host of this size can hold, however empty it is. What is not known is no reason. */
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

/** What is more than what is free now: it may do where disks grow as they fill, and a person should know. */
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

/** How often it would still fit. */
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
