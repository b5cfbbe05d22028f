import { holding, type LockMode } from '../../world/locks.ts'
import type { Guest, Host, World } from '../../world/types.ts'
import { failed } from '../api-error.ts'

/** Works on one guest while nobody else does. Others wait ten seconds and are then told so. */
export function withConfigLock<T>(
  world: World,
  host: Host,
  vmid: number,
  work: () => T | Promise<T>,
  mode: LockMode = 'exclusive',
): Promise<T> {
  const refuse = () => failed(`can't lock file '/var/lock/qemu-server/lock-${vmid}.conf' - got timeout`)
  return holding(world, host, `lock-${vmid}`, refuse, work, mode)
}

/** The mark `lock:` in a configuration says that long work is under way, or that it died. */
export function refuseLocked(guest: Guest): void {
  const lock = guest.config.get('lock')
  if (lock !== undefined) throw failed(`${guest.type === 'qemu' ? 'VM' : 'CT'} is locked (${lock})`)
}
