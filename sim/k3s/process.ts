import type { K3sProcess } from '../world/types.ts'

/** Later in the life of a process; never, if it has ended by then. */
export function after(process: K3sProcess, ms: number, fn: () => void): void {
  const { clock } = process.computer.world
  const timer = clock.schedule(clock.now() + ms, () => {
    process.timers.delete(timer)
    if (process.alive) fn()
  })
  process.timers.add(timer)
}

/** So long after its start; at once when that has passed. */
export function sinceStart(process: K3sProcess, ms: number, fn: () => void): void {
  after(process, process.startedMs + ms - process.computer.world.clock.now(), fn)
}
