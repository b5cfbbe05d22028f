/** What the pools and networks of a host are, as far as a domain's XML depends on it. */
export interface Places {
  /** Where a pool keeps its volumes, by its name. */
  readonly pools: ReadonlyMap<string, Pool>
  /** Networks that libvirt itself keeps; any other name is a bridge of the host. */
  readonly networks: ReadonlySet<string>
}

export interface Pool {
  readonly type: string
  readonly path: string
}

const BLOCK_POOLS: ReadonlySet<string> = new Set(['logical', 'zfs', 'disk', 'iscsi', 'iscsi-direct', 'scsi', 'mpath'])

export function isBlockPool(pool: Pool | undefined): boolean {
  return pool !== undefined && BLOCK_POOLS.has(pool.type)
}

export function volumePath(places: Places, pool: string, volume: string): string | undefined {
  const path = places.pools.get(pool)?.path
  return path === undefined ? undefined : `${path.replace(/\/$/, '')}/${volume}`
}

/** The pool and the volume that a path belongs to. */
export function placeOf(places: Places, path: string): { readonly pool: string; readonly volume: string } | undefined {
  const slash = path.lastIndexOf('/')
  const directory = path.slice(0, slash)
  for (const [pool, { path: root }] of places.pools)
    if (root.replace(/\/$/, '') === directory) return { pool, volume: path.slice(slash + 1) }
  return undefined
}
