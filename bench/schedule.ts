import type { Estate } from '../src/model/estate.ts'
import { estateFrom } from '../test/simulation/manifests.ts'
import { simulate } from '../test/simulation/run.ts'
import { lowerBoundMs } from './bound.ts'
import { approvedConnection, machine } from './machines.ts'
import type { Scenario } from './scenarios.ts'

/** One step of a day in simulated time. */
export interface ScheduledStep {
  readonly name: string
  readonly calls: number
  readonly tookMs: number
  readonly boundMs: number
}

/** The hosts of the simulated homelab. */
const HOSTS = ['pumped-piglet', 'still-fawn', 'fun-bedbug']

/**
 * The same day in simulated time, where the work of croft and of the simulator takes none: what is left above the bound
 * is croft waiting when it could have asked.
 */
export async function scheduled(size: number, scenario: Scenario, seed: number): Promise<readonly ScheduledStep[]> {
  const hosts = HOSTS.slice(0, scenario.hosts.length)
  const run = simulate({ seed, estate: estateOf(0, { ...scenario, hosts }, size), timing: scenario.timing })
  const steps: ScheduledStep[] = []
  const days: readonly (readonly [string, number, number])[] = [
    ['create', size, 512],
    ['memory of all', size, 1024],
    ['destroy', 0, 1024],
  ]
  for (const [name, count, memory] of days) {
    run.estate = estateOf(count, { ...scenario, hosts }, size, memory)
    run.datacentre.resetStats()
    const begunMs = run.clock.now()
    const outcome = await run.untilSettled(run.start())
    if (outcome !== 'settled') throw new Error(`${name} of ${size} machines in simulated time: ${outcome}`)
    const stats = run.datacentre.stats()
    const tookMs = run.clock.now() - begunMs
    steps.push({ name, calls: stats.calls, tookMs, boundMs: lowerBoundMs(stats, scenario.timing) })
  }
  return steps
}

function estateOf(count: number, scenario: Scenario, size: number, memory = 512): Estate {
  const connection = approvedConnection({ endpoint: 'https://127.0.0.1:8006' }, size)
  const machines = Array.from({ length: count }, (_, at) => [`vm-${at}.yaml`, machine(at, memory, scenario)])
  return estateFrom({ 'connection.yaml': connection, ...Object.fromEntries(machines) })
}
