import { defined } from '../../../lib/defined.ts'
import type { Resource, Survey } from '../../../model/resource.ts'
import { type Demand, demandOf, fits, freeMemory, freeSpace, type Room, roomsOf, withPromise } from './room.ts'

/** The capacity of one host, its promised part, and what would still fit. */
export interface HostCapacity {
  readonly connection: string
  readonly host: string
  readonly online: boolean
  readonly cpus?: number
  /** 0 to 1, currently. */
  readonly load?: number
  readonly memory: { readonly totalBytes?: number; readonly promisedBytes: number; readonly freeBytes?: number }
  readonly storages: readonly {
    readonly name: string
    readonly shared: boolean
    readonly totalBytes?: number
    readonly freeBytes?: number
    readonly promisedBytes: number
  }[]
  /** By class name. */
  readonly fits: Readonly<Record<string, number>>
}

/** A class of machines, or a size, that could be created. `demandOn` is undefined on a host that can never hold it. */
export interface CapacityClass {
  readonly name: string
  demandOn(host: string): Demand | undefined
}

/** Missing declared machines count as promised on their host. */
export function capacityOf(
  survey: Survey,
  missing: readonly Resource[],
  sorts: readonly CapacityClass[],
): readonly HostCapacity[] {
  const rooms = roomsOf(survey).map((room) =>
    missing
      .filter(({ desired }) => hostIn(desired) === room.node)
      .reduce<Room>((left, { desired }) => withPromise(left, demandOf(desired)), room),
  )
  return rooms
    .sort((a, b) => (a.node < b.node ? -1 : 1))
    .map((room) => {
      const seen = survey.hosts.find(({ name }) => name === room.node)
      const freeBytes = freeMemory(room)
      return {
        connection: survey.connection,
        host: room.node,
        online: room.online,
        ...(seen?.cpus === undefined ? {} : { cpus: seen.cpus }),
        ...(seen?.load === undefined ? {} : { load: seen.load }),
        memory: {
          ...defined({ totalBytes: room.memoryBytes }),
          promisedBytes: room.promisedBytes,
          ...defined({ freeBytes }),
        },
        storages: [...room.storages.values()]
          .filter(({ content }) => content.includes('images') || content.includes('rootdir'))
          .sort((a, b) => (a.name < b.name ? -1 : 1))
          .map((storage) => {
            const free = freeSpace(storage)
            return {
              name: storage.name,
              shared: storage.shared,
              promisedBytes: storage.promisedBytes,
              ...defined({ totalBytes: storage.totalBytes, freeBytes: free }),
            }
          }),
        fits: Object.fromEntries(
          sorts.map((sort) => {
            const demand = sort.demandOn(room.node)
            const count = demand === undefined ? 0 : fits(room, demand)
            return [sort.name, Number.isFinite(count) ? count : 0]
          }),
        ),
      }
    })
}

function hostIn(desired: Resource['desired']): string | undefined {
  if (desired.type === 'vm') return desired.vm.host
  return desired.type === 'container' ? desired.container.host : undefined
}
