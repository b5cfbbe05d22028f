import type { NodeAnswer } from '../../src/k3s/node-program.ts'
import type { Computer } from '../world/types.ts'

/** Begins work that takes a while. One at a time; the same one again is already under way. */
export function beginJob(
  computer: Computer,
  name: string,
  tookMs: number,
  act: (done: (problem?: string) => void) => void,
): NodeAnswer {
  const { machine, world } = computer
  if (machine.job?.state === 'running') {
    return machine.job.name === name ? { ok: true } : { ok: false, error: `the job ${machine.job.name} still runs` }
  }
  const job = { name, state: 'running' as 'running' | 'done' | 'failed', sinceMs: Math.floor(world.clock.now()) }
  machine.job = job
  const { life } = machine
  world.clock.schedule(world.clock.now() + tookMs, () => {
    if (machine.life !== life || machine.job !== job || job.state !== 'running') return
    act((problem) => {
      if (machine.job !== job) return
      job.state = problem === undefined ? 'done' : 'failed'
      if (problem !== undefined) machine.job = { ...job, state: 'failed', message: problem }
    })
  })
  return { ok: true }
}
