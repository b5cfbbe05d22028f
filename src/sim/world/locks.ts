import type { Host, World } from './types.ts'

/** How long Proxmox waits for a lock file before it gives up. */
export const LOCK_TIMEOUT_MS = 10_000

/** Takes the lock, waiting for it. False: somebody else held it for the whole time. */
export function acquire(world: World, host: Host, name: string, timeoutMs = LOCK_TIMEOUT_MS): Promise<boolean> | true {
  let lock = host.locks.get(name)
  if (lock === undefined) {
    lock = { held: false, waiting: [] }
    host.locks.set(name, lock)
  }
  if (!lock.held) {
    lock.held = true
    return true
  }
  const wanted = lock
  return new Promise((resolve) => {
    const granted = () => {
      timer.cancel()
      resolve(true)
    }
    const timer = world.clock.schedule(world.clock.now() + timeoutMs, () => {
      const index = wanted.waiting.indexOf(granted)
      if (index >= 0) wanted.waiting.splice(index, 1)
      resolve(false)
    })
    wanted.waiting.push(granted)
  })
}

export function release(host: Host, name: string): void {
  const lock = host.locks.get(name)
  if (lock === undefined) return
  const next = lock.waiting.shift()
  if (next === undefined) host.locks.delete(name)
  else next()
}

/**
 * Does the work while holding the lock. A host that lost its power in between has forgotten its locks: a release from
 * the life before must not free what somebody holds now.
 */
export async function holding<T>(
  world: World,
  host: Host,
  name: string,
  refuse: () => Error,
  work: () => T | Promise<T>,
): Promise<T> {
  const life = host.life
  const got = acquire(world, host, name)
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
