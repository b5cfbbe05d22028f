import type { Sighting } from '../../model/sighting.ts'
import type { DiskView, DomainView } from './domain-view.ts'
import { seedHashIn } from './names.ts'

/** What a close look brings: the shape of `Sighting.close.config` of this driver. */
export interface DomainConfig {
  readonly [key: string]: unknown
  readonly digest: string
  readonly name: string
  /** What people wrote; ours is not in it. */
  readonly human: string
  readonly description: string
  readonly tags: string
  readonly humanTags: readonly string[]
  readonly onBoot: boolean
  /** As it will be after the next start. */
  readonly domain: DomainView
  /** As it runs now. */
  readonly live: DomainView | undefined
  /** Sizes in bytes of the volumes that its disks are, by `pool:volume`. What is not in here is not there. */
  readonly volumes: Readonly<Record<string, number>>
  /** All volumes that are named after it, in the pools that it uses. */
  readonly ours: readonly string[]
  /** Snapshots that libvirt keeps of it. */
  readonly snapshots: number
}

export function configOf(sighting: Sighting): DomainConfig | undefined {
  const config = sighting.close?.config
  return config === undefined || config.domain === undefined ? undefined : (config as DomainConfig)
}

export interface Inserted {
  readonly disk: DiskView
  readonly hash: string
}

/** The disc with a seed that a domain has. */
export function insertedSeed(uid: string | undefined, domain: DomainView | undefined): Inserted | undefined {
  for (const disk of domain?.disks ?? []) {
    const hash = disk.volume === undefined ? undefined : seedHashIn(uid ?? '', disk.volume)
    if (hash !== undefined) return { disk, hash }
  }
  return undefined
}
