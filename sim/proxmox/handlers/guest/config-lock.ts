import { touch } from '../../../world/guest-config.ts'
import { holding, type LockMode, PowerLost } from '../../../world/locks.ts'
import type { Guest, Host, World } from '../../../world/types.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, flag } from '../../call.ts'

/** A copy waits a second only, for its source and for its own id. */
export const COPY_TIMEOUT_MS = 1_000

/** Runs work that holds the lock of one guest. Other calls wait ten seconds for it, then fail. */
export function withConfigLock<T>(
  world: World,
  host: Host,
  vmid: number,
  work: () => T | Promise<T>,
  mode: LockMode = 'exclusive',
  timeoutMs?: number,
): Promise<T> {
  const file = lockFile(vmid, world.guests.get(vmid)?.type ?? 'qemu')
  const refuse = () => failed(`can't lock file '${file}' - got timeout`)
  return holding(world, host, `lock-${vmid}`, refuse, work, mode, timeoutMs)
}

function lockFile(vmid: number, type: Guest['type']): string {
  return type === 'lxc' ? `/run/lock/lxc/pve-config-${vmid}.lock` : `/var/lock/qemu-server/lock-${vmid}.conf`
}

/** How long a new guest waits for its id. */
const CREATE_TIMEOUT_MS = 5_000

/**
 * Takes an id for a new or restored guest. While another call works on that id, this one waits for its end before it
 * starts a task, since only then it is known whether the id is free.
 */
export function withNewId<T>(
  world: World,
  host: Host,
  { vmid, type, before }: { readonly vmid: number; readonly type: Guest['type']; readonly before: string },
  take: () => T,
): T | Promise<T> {
  if (!host.locks.has(`lock-${vmid}`)) return take()
  const refuse = () => failed(`${before}can't lock file '${lockFile(vmid, type)}' - got timeout`)
  return holding(world, host, `lock-${vmid}`, refuse, take, 'exclusive', CREATE_TIMEOUT_MS)
}

/** A guest moves, goes back or loses a snapshot, and does one of it at a time: the lock for that comes before all others. */
export function withMigrationLock<T>(world: World, host: Host, vmid: number, work: () => T | Promise<T>): Promise<T> {
  const refuse = () => failed(`can't lock file '/var/lock/pve-manager/pve-migrate-${vmid}' - got timeout`)
  return holding(world, host, `pve-migrate-${vmid}`, refuse, work)
}

/** The same for the end of a snapshot, which may skip that lock and reports it differently. */
export async function withSnapshotLock(call: Call, host: Host, vmid: number, work: () => Promise<void>): Promise<void> {
  if (flag(call, 'force')) return work()
  const refuse = () => failed('Failed to obtain guest migration lock - replication running?')
  return holding(call.world, host, `pve-migrate-${vmid}`, refuse, work)
}

/** The mark `lock:` in a configuration says that long work is under way, or that it died. Some work goes with some marks. */
export function refuseLocked(guest: Guest, ...except: readonly string[]): void {
  const lock = guest.config.get('lock')
  if (lock !== undefined && !except.includes(lock))
    throw failed(`${guest.type === 'qemu' ? 'VM' : 'CT'} is locked (${lock})`)
}

/** Root alone may pass by the mark, and only where it is root's own login. */
export function refuseSkipLock(call: Call): void {
  if (flag(call, 'skiplock') && call.who.id !== 'root@pam')
    throw badParameter('skiplock', 'Only root may use this option.')
}

/** The mark counts unless root passes by it. */
export function refuseLockedFor(call: Call, guest: Guest, ...except: readonly string[]): void {
  if (!flag(call, 'skiplock')) refuseLocked(guest, ...except)
}

/**
 * Long work that holds the lock file only to begin and to end. Meanwhile the configuration carries the mark, and
 * everybody else is refused at once. A host that lost its power leaves the mark; so does work that failed half-way
 * and cannot be undone.
 */
export async function underMark(
  world: World,
  host: Host,
  guest: Guest,
  mark: 'snapshot' | 'snapshot-delete' | 'rollback' | 'backup' | 'disk',
  deed: () => void | Promise<void>,
  prepare: () => void = () => {},
): Promise<void> {
  await withConfigLock(world, host, guest.vmid, () => {
    refuseLocked(guest)
    prepare()
    guest.config.set('lock', mark)
    touch(guest)
  })
  try {
    await deed()
  } catch (error) {
    const stays = error instanceof PowerLost || mark === 'snapshot-delete' || mark === 'rollback'
    if (!stays) await unmark(world, host, guest)
    throw error
  }
  await unmark(world, host, guest)
}

export function unmark(world: World, host: Host, guest: Guest): Promise<void> {
  return withConfigLock(world, host, guest.vmid, () => {
    guest.config.delete('lock')
    touch(guest)
  })
}
