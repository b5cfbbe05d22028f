import { LIMITS } from '../../../lib/limits.ts'
import { isUnattended, type Resource, type Survey } from '../../../model/resource.ts'
import type { Check } from '../../port.ts'
import { countOf, nameOf, recordsOf } from '../foreign.ts'
import { proxmoxRules as rules } from '../rules.ts'
import { storagePath } from '../steps.ts'
import type { ReadPath } from './ask.ts'

/** A disk whose id has no guest. */
interface Orphan {
  readonly volume: string
  readonly host: string
  readonly id: string
  readonly bytes: number | undefined
}

/**
 * Finds disks without a guest: leftovers of a broken creation, or of a deletion that kept them. Only on storages of
 * declared guests, and only under ids that Proxmox itself calls free: a guest that this token may not see keeps its
 * disks.
 */
export async function findOrphans(
  resources: readonly Resource[],
  survey: Survey,
  ask: ReadPath,
): Promise<readonly Check[]> {
  const guests = new Set(survey.resources.map(({ externalId }) => externalId))
  const orphans = new Map<string, Orphan>()
  const free = new Map<string, boolean>()
  for (const [host, storage] of placesOf(resources).slice(0, LIMITS.examinedHosts)) {
    for (const entry of recordsOf(await dataOf(ask, `${storagePath(host, storage)}/content`))) {
      const volume = nameOf(entry.volid)
      const owner = countOf(entry.vmid)
      if (volume === undefined || owner === undefined || !DISKS.has(String(entry.content))) continue
      const id = String(owner)
      if (guests.has(id)) continue
      if (!free.has(id)) free.set(id, (await dataOf(ask, `/cluster/nextid?vmid=${id}`)) !== undefined)
      // A shared storage shows the same volume on every host.
      if (free.get(id) === true && !orphans.has(volume))
        orphans.set(volume, { volume, host, id, bytes: countOf(entry.size) })
    }
  }
  return judgeOrphans([...orphans.values()])
}

/**
 * Reports guests that show only the lock of a creation without a task: the host lost power, or was too busy to start
 * it. They hold only their id, and only root can delete them.
 */
export function judgeUnfinished(survey: Survey): readonly Check[] {
  const left = survey.resources.filter((seen) => isUnattended(seen, survey))
  if (left.length === 0) return []
  return [
    {
      about: 'hosts',
      code: 'unfinished-guests',
      level: 'warning',
      found: `${left.length === 1 ? '1 guest was' : `${left.length} guests were`} begun and never made`,
      details: left
        .slice(0, MOST_SHOWN)
        .map(({ externalId, host, lock }) => `${externalId} on ${host}, locked (${lock})`),
      fix: left.slice(0, MOST_SHOWN).map(({ type, externalId, host }) => {
        const tool = type === 'container' ? 'pct' : 'qm'
        return `${tool} unlock ${externalId} && ${tool} destroy ${externalId}   # on ${host}`
      }),
    },
  ]
}

const DISKS = new Set(['images', 'rootdir'])

/** Returns the storages of declared guests. */
function placesOf(resources: readonly Resource[]): readonly (readonly [string, string])[] {
  const lists = resources.flatMap((resource) => rules.remains(resource, '0'))
  return [...new Set(lists)].sort().flatMap((list) => {
    const [, host, storage] = list.split('/')
    return host === undefined || storage === undefined ? [] : [[host, storage] as const]
  })
}

async function dataOf(ask: ReadPath, path: string): Promise<unknown> {
  try {
    return (await ask(path)).data
  } catch {
    return undefined
  }
}

export function judgeOrphans(orphans: readonly Orphan[]): readonly Check[] {
  if (orphans.length === 0) return []
  const size = (bytes: number | undefined) => (bytes === undefined ? '' : `, ${(bytes / 2 ** 30).toFixed(1)} GiB`)
  const shown = orphans.slice(0, MOST_SHOWN)
  const more = orphans.length - shown.length
  return [
    {
      about: 'storages',
      code: 'orphan-volumes',
      level: 'warning',
      found: `${orphans.length === 1 ? '1 disk belongs' : `${orphans.length} disks belong`} to no guest`,
      details: [
        ...shown.map(({ volume, host, id, bytes }) => `${volume} on ${host}, of id ${id}${size(bytes)}`),
        ...(more > 0 ? [`and ${more} more`] : []),
      ],
      fix: shown.map(({ volume, host }) => `pvesm free ${volume}   # on ${host}, if it is not needed any more`),
    },
  ]
}

const MOST_SHOWN = 20
