import type { Sighting } from './sighting.ts'
import type { Refusal } from './verdict.ts'

/** A piece of work that the outside system is doing or has done. */
export interface RemoteTask {
  readonly id: string
  readonly host: string
  readonly verb: string
  /** What it works on, e.g. the VMID. For a clone this is the source. */
  readonly subject: string
  readonly user: string
  readonly state: 'running' | 'succeeded' | 'failed'
  readonly message?: string
  /** What a failure means for retrying, when the driver was asked for the outcome. */
  readonly refusal?: Refusal
  readonly startedMs: number
  readonly endedMs?: number
}

export interface HostSighting {
  readonly name: string
  readonly online: boolean
  readonly memoryBytes?: number
  readonly memoryUsedBytes?: number
  readonly cpus?: number
  /** How busy its processors are right now, 0 to 1. */
  readonly load?: number
  /** Its hottest part, in degrees Celsius. */
  readonly temperatureC?: number
  /** What it draws right now: the whole box where it measures that, else its processors. */
  readonly watts?: number
}

export interface StorageSighting {
  readonly host: string
  readonly name: string
  readonly content: readonly string[]
  readonly available: boolean
  readonly shared: boolean
  readonly totalBytes?: number
  readonly usedBytes?: number
}

/** Everything that a connection shows at one moment, in a constant number of calls. */
export interface Survey {
  readonly connection: string
  readonly atMs: number
  readonly hosts: readonly HostSighting[]
  readonly storages: readonly StorageSighting[]
  readonly sightings: readonly Sighting[]
  readonly tasks: readonly RemoteTask[]
  /** Of kinds that a cluster learns: those that it serves now, as `cilium.io/v2 CiliumNode`. Absent: nobody could ask. */
  readonly served?: readonly string[]
}

/** How busy a host was, one value for a span of time. */
export interface LoadSample {
  readonly atMs: number
  /** 0 to 1. */
  readonly load: number
}
