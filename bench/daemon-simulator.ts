import { startSimulator } from '../sim/serve.ts'
import { scenarioOf } from './scenarios.ts'

/**
 * A simulated datacentre that takes as long as the real daemon does: three workers that are busy with each call for a
 * while, a process for each task, a storage that makes and removes one disk at a time. Takes the name of the scenario
 * and prints where it answers.
 */
const { hosts, timing } = scenarioOf(process.argv[2] ?? '')
const simulator = await startSimulator({ preset: 'homelab', hosts, timing })
process.stdout.write(`${JSON.stringify(simulator.announcement)}\n`)
process.on('SIGTERM', () => {
  void simulator.close().then(() => process.exit(0))
})
