import type { Host, World } from './types.ts'

/** How long Proxmox waits for a lock file before it gives up. */
export const LOCK_TIMEOUT_MS = 10_000

/** What a host's backup job holds while it runs. */
export const BACKUP_LOCK = '/var/run/vzdump.lock'

/** exclusive: alone. shared: beside others that only read. */
export type LockMode = 'exclusive' | 'shared'

/** Waits for the lock and takes it. False: another holder kept it until the timeout. */
export function acquire(
  world: World,
  host: Host,
  name: string,
  timeoutMs = LOCK_TIMEOUT_MS,
  mode: LockMode = 'exclusive',
): Promise<boolean> | true {
  let lock = host.locks.get(name)
  if (lock === undefined) {
    lock = { held: 0, mode, waiting: [] }
    host.locks.set(name, lock)
  }
  if (lock.held === 0 || (lock.mode === 'shared' && mode === 'shared' && lock.waiting.length === 0)) {
    lock.held += 1
    lock.mode = mode
    return true
  }
  const wanted = lock
  return new Promise((resolve) => {
    const turn = {
      mode,
      grant: () => {
        timer.cancel()
        resolve(true)
      },
    }
    const timer = world.clock.schedule(world.clock.now() + timeoutMs, () => {
      const index = wanted.waiting.indexOf(turn)
      if (index >= 0) wanted.waiting.splice(index, 1)
      resolve(false)
    })
    wanted.waiting.push(turn)
  })
}

export function release(host: Host, name: string): void {
  const lock = host.locks.get(name)
  if (lock === undefined) return
  lock.held -= 1
  for (let next = lock.waiting[0]; next !== undefined; next = lock.waiting[0]) {
    if (lock.held > 0 && (lock.mode === 'exclusive' || next.mode === 'exclusive')) return
    lock.waiting.shift()
    lock.held += 1
    lock.mode = next.mode
    next.grant()
  }
  if (lock.held === 0) host.locks.delete(name)
}

/**
 * Does the work while holding the lock. A host that lost its power in between has forgotten its locks: a release from
 * before the power loss must not free a lock taken since.
 */
export async function holding<T>(
  world: World,
  host: Host,
  name: string,
  refuse: () => Error,
  work: () => T | Promise<T>,
  mode: LockMode = 'exclusive',
  timeoutMs = LOCK_TIMEOUT_MS,
): Promise<T> {
  const life = host.life
  const got = acquire(world, host, name, timeoutMs, mode)
  const mine = got === true || (await got)
  if (host.life !== life) throw new PowerLost()
  if (!mine) throw refuse()
  try {
    return await work()
  } finally {
    if (host.life === life) release(host, name)
  }
}

/** The machine that did the work is gone. Nothing after it happens: no cleaning up, no end of the task. */
export class PowerLost extends Error {
  constructor() {
    super('the host lost its power')
    this.name = 'PowerLost'
  }
}
