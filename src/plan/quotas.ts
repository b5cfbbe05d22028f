import type { FieldProblem } from '../kinds/kind.ts'
import type { ResourceKey } from '../model/declaration.ts'
import {
  atLeast,
  type Grant,
  holderOf,
  mayBeCalled,
  NO_USAGE,
  QUOTA_WORDS,
  type Quota,
  type SourceQuota,
  type Usage,
} from '../model/grant.ts'
import { type Desired, guestIn, type Resource } from '../model/resource.ts'
import { fixedAddresses } from './things/addresses.ts'
import type { Removal } from './things/removals.ts'

/** Returns a resource's usage of a quota, without its namespace, which counts once for all its objects. Pure. */
export function usageOf(desired: Desired): Usage {
  if (desired.type === 'object') return { ...NO_USAGE, objects: 1 }
  const guest = guestIn(desired)
  if (guest === undefined) return NO_USAGE
  const isVm = 'disks' in guest
  const { cores = 1 } = guest.cpu ?? {}
  const { sockets = 1, hotplugged = 0 } = (isVm ? guest.cpu : undefined) ?? {}
  const swap = isVm ? 0 : (guest.memory?.swapMb ?? 0)
  return {
    ...NO_USAGE,
    machines: 1,
    cores: Math.max(cores * sockets, hotplugged),
    memoryMb: (guest.memory?.dedicatedMb ?? DEFAULT_MEMORY_MB) + swap,
    diskGb: disksOf(guest).reduce((sum, { sizeGb = 0 }) => sum + sizeGb, 0),
    addresses: fixedAddresses(desired).length,
  }
}

/** Proxmox's default for a guest. */
const DEFAULT_MEMORY_MB = 512

function disksOf(guest: NonNullable<ReturnType<typeof guestIn>>): readonly { readonly sizeGb?: number }[] {
  if ('disks' in guest) return guest.disks
  const own = guest.mounts.filter(({ source }) => source === undefined)
  return [...(guest.rootDisk === undefined ? [] : [guest.rootDisk]), ...own]
}

/**
 * Returns what a guest leaves open although its quota counts it: the size of a copied disk, the processors of a
 * container without a limit. Pure.
 */
function uncounted(desired: Desired, quota: Quota): string | undefined {
  const guest = guestIn(desired)
  if (guest === undefined) return undefined
  const copied = 'clone' in guest && guest.clone !== undefined && guest.disks.length === 0
  if (quota.diskGb !== undefined && (copied || disksOf(guest).some(({ sizeGb }) => sizeGb === undefined)))
    return 'a disk without a size'
  if (quota.cores !== undefined && !('disks' in guest) && guest.cpu?.cores === undefined)
    return 'a container without a number of cores'
  return undefined
}

/** Counts one source's usage while its resources are judged in turn. */
export function createTally(grant: Pick<Grant, 'source' | 'namespace' | 'names' | 'quota'>) {
  const { source, names, quota } = grant
  let used: Usage = NO_USAGE
  let exceeded = false
  const namespaces = new Set<string>()
  const keys = new Set<ResourceKey>()
  const wanted = (resource: Pick<Resource, 'desired' | 'connection'>): Usage => {
    const own = usageOf(resource.desired)
    const namespace = namespaceOf(resource)
    return namespace === undefined || namespaces.has(namespace) ? own : { ...own, namespaces: 1 }
  }
  return {
    /** Counts it, or returns what it exceeds. A refused one is not counted: a smaller one after it may still fit. */
    take(resource: Resource): FieldProblem | undefined {
      const unknown = uncounted(resource.desired, quota)
      const together = plus(used, wanted(resource))
      const over = overrun(together, quota)
      if (unknown === undefined && over === undefined) {
        used = together
        keys.add(resource.key)
        const namespace = namespaceOf(resource)
        if (namespace !== undefined) namespaces.add(namespace)
        return undefined
      }
      exceeded = true
      return {
        code: 'over-quota',
        path: ['spec'],
        message:
          unknown === undefined
            ? `with it ${holderOf(grant)} would have ${over}`
            : `${unknown} cannot be counted, and ${holderOf(grant)} has a quota for it`,
        hint:
          unknown === undefined
            ? 'declare less, or ask the administrator of croft for a larger quota in its grant'
            : 'write the number',
      }
    },
    /** A resource was refused before it was counted. */
    exceed() {
      exceeded = true
    },
    result: (): SourceQuota => ({ source, names, quota, used, keys, exceeded }),
  }
}

function namespaceOf({ desired, connection }: Pick<Resource, 'desired' | 'connection'>): string | undefined {
  if (desired.type !== 'object') return undefined
  const { kind, metadata } = desired.object.object
  const name = kind === 'Namespace' ? metadata.name : metadata.namespace
  return name === undefined ? undefined : `${connection} ${name}`
}

/**
 * Returns the usage of a source's undeclared things that still exist. They count until deleted; otherwise abandoned
 * machines would evade the quota. Pure.
 */
export function leftOver(quota: Pick<SourceQuota, 'names'>, leaving: readonly Removal[]): Usage {
  return leaving
    .filter(({ key, type }) => type !== 'object' && mayBeCalled(key, quota))
    .map(({ observed }) => ({
      ...NO_USAGE,
      machines: 1,
      cores: observed.cpus ?? 0,
      memoryMb: Math.round((observed.memoryBytes ?? 0) / 1024 ** 2),
      diskGb: Math.round((observed.diskBytes ?? 0) / 1024 ** 3),
    }))
    .reduce(plus, NO_USAGE)
}

/** Returns the first exceeded limit, such as `11 machines of 10 granted`. */
export function overrun(used: Usage, quota: Quota): string | undefined {
  const found = QUOTA_WORDS.find(([name]) => !atLeast(quota[name], used[name]))
  if (found === undefined) return undefined
  const [name, words] = found
  return `${used[name]} ${words}, and ${quota[name]} are granted`
}

export function plus(one: Usage, other: Usage): Usage {
  const sum: { -readonly [K in keyof Usage]: number } = { ...one }
  for (const [name] of QUOTA_WORDS) sum[name] += other[name]
  return sum
}
