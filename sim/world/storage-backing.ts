import type { StorageEntry } from './parts.ts'
import { answers } from './reachable.ts'
import type { World } from './types.ts'

/** Ports that are tried before a storage in the network is believed in. */
const PORTS: Readonly<Record<string, number>> = {
  nfs: 2049,
  cifs: 445,
  pbs: 8007,
  esxi: 443,
  iscsi: 3260,
  iscsidirect: 3260,
  zfs: 3260,
  rbd: 6789,
  cephfs: 6789,
}

/** Is what an entry points to really there? Undefined when it is; otherwise what using it answers. */
export function backingProblem(world: World, entry: StorageEntry): string | undefined {
  const { type, options } = entry
  if (entry.backed === true || type === 'dir') return undefined
  const port = PORTS[type]
  if (port !== undefined) {
    const server = String(options.server ?? options.portal ?? options.monhost ?? '127.0.0.1').split(/[,;\s]+/)[0] ?? ''
    const at = Number(options.port ?? port)
    if (answers(world, server, at)) return undefined
    return type === 'pbs'
      ? `${entry.id}: error fetching datastores - 500 Can't connect to ${server}:${at} (Connection refused)`
      : `storage '${entry.id}' is not online`
  }
  if (hasLocal(world, entry)) return undefined
  if (type === 'lvmthin') return `no such logical volume ${options.vgname}/${options.thinpool}`
  if (type === 'lvm') return `Volume group "${options.vgname}" not found`
  if (type === 'btrfs') return `'${entry.path}' is not a btrfs file system`
  const pool = poolOf(entry)
  return `could not activate storage '${entry.id}', zfs error: cannot import '${pool}': no such pool available`
}

/** Another entry that is there stands on the same disks. */
function hasLocal(world: World, entry: StorageEntry): boolean {
  return [...world.storages.values()].some(
    (other) => other.backed === true && other.type === entry.type && sameDisks(other, entry),
  )
}

function sameDisks(a: StorageEntry, b: StorageEntry): boolean {
  if (a.type === 'zfspool') return poolOf(a) === poolOf(b)
  return a.options.vgname === b.options.vgname && a.options.thinpool === b.options.thinpool
}

function poolOf(entry: StorageEntry): string {
  return String(entry.options.pool ?? '').replace(/\/.*$/, '')
}
