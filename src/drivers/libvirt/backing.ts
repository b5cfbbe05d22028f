import type { ObservedResource } from '../../model/resource.ts'
import type { Obstacle } from '../../model/rules.ts'
import { ObservationFailed } from '../port.ts'
import { poolCommand } from './names.ts'
import { volumeNames } from './observe.ts'
import { words } from './survey.ts'
import type { Virsh } from './virsh.ts'
import { find, parseXml, textIn } from './xml.ts'

/** Overlays by the path of their backing file: an overlay holds only the differences from that file. */
export interface Overlays {
  readonly on: ReadonlyMap<string, readonly string[]>
  /** Pools that could not be listed: a disk in them may stand on any file. */
  readonly unread: readonly string[]
}

/** Returns the overlays of all pools of a host, as `pool:volume`: a disk may depend on another pool's image. */
export async function readOverlays(virsh: Virsh, doing: string, signal: AbortSignal): Promise<Overlays> {
  const pools = words((await virsh.read(['pool-list', '--all', '--name'], doing, signal)) ?? '')
  const unread = new Set<string>()
  const tables = await virsh.ask(
    pools.map((pool) => ['vol-list', '--pool', pool]),
    doing,
    signal,
    (at) => unread.add(pools[at] ?? ''),
  )
  const volumes = pools.flatMap((pool, at) => volumeNames(tables[at] ?? '').map((name) => ({ pool, name })))
  const answers = await virsh.ask(
    volumes.map(({ pool, name }) => ['vol-dumpxml', '--pool', pool, name]),
    doing,
    signal,
    (at) => unread.add(volumes[at]?.pool ?? ''),
  )
  const on = new Map<string, string[]>()
  for (const [at, { pool, name }] of volumes.entries()) {
    const base = textIn(find(parseXml(answers[at] ?? ''), 'backingStore/path')).trim()
    if (base !== '') on.set(base, [...(on.get(base) ?? []), `${pool}:${name}`])
  }
  return { on, unread: [...unread].sort() }
}

/** Returns why a file cannot be deleted or replaced: every overlay on it would be unreadable at its next start. */
export function stoodOn(observed: ObservedResource): Obstacle | undefined {
  const { overlays, unreadPools } = observed.close?.config ?? {}
  if (Array.isArray(overlays) && overlays.length > 0)
    return {
      message: `${observed.externalId} on ${observed.host}: ${overlaysOn(overlays)}`,
      allow:
        'leave the file as it is and declare the new image under another name, for new machines; it can go once no disk stands on it',
    }
  const [pool] = Array.isArray(unreadPools) ? unreadPools : []
  if (typeof pool !== 'string') return undefined
  return { message: `${observed.externalId} on ${observed.host}: ${mayStandOn(pool)}`, allow: poolCommand(pool) }
}

/** The command that helps names the pool, which virsh itself leaves out. */
export function withPool(error: unknown, pool: string): unknown {
  if (!(error instanceof ObservationFailed) || error.refusal.reason !== 'PoolInactive') return error
  return new ObservationFailed({ ...error.refusal, message: `pool ${pool} is not active; ${poolCommand(pool)}` })
}

export function mayStandOn(pool: string): string {
  return `a disk in pool ${pool}, which cannot be listed, may stand on it and would be lost`
}

export function overlaysOn(overlays: readonly string[]): string {
  const more = overlays.length > SHOWN ? ` and ${overlays.length - SHOWN} more` : ''
  const names = overlays.slice(0, SHOWN).join(', ')
  return overlays.length === 1
    ? `the disk ${names} stands on it and would be lost`
    : `the disks ${names}${more} stand on it and would be lost`
}

const SHOWN = 4
