import { startSimulator } from '../sim/serve.ts'

/**
 * A simulated datacentre that takes as long as the real daemon does: three workers that are busy with each call for a
 * while, a process for each task, a storage that makes and removes one disk at a time. Prints where it answers.
 */
const simulator = await startSimulator({
  preset: 'homelab',
  hosts: ['pve1'],
  timing: { callMs: [30, 80], taskStartMs: 100, allocateMs: [50, 150], freeMs: [30, 80] },
})
process.stdout.write(`${JSON.stringify(simulator.announcement)}\n`)
process.on('SIGTERM', () => {
  void simulator.close().then(() => process.exit(0))
})
