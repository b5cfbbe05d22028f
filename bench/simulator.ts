import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Agent, request } from 'undici'

export interface SimulatorStats {
  readonly calls: number
  readonly writes: number
  readonly bytes: number
  readonly byPath: Readonly<Record<string, number>>
  readonly storageBusyMs: Readonly<Record<string, number>>
}

/** A simulated datacentre in a process of its own, so that its work is not counted as croft's. */
export interface Simulator {
  readonly endpoint: string
  readonly fingerprint: string
  readonly token: string
  /** What it has served since the last reset. */
  stats(): Promise<SimulatorStats>
  reset(): Promise<void>
  stop(): Promise<void>
}

export function startSimulator(croft: string, machines: number): Promise<Simulator> {
  return startProgram(croft, ['sim', '--vms', String(machines), '--port', '0', '--seed', '1'])
}

/** One that takes as long for each call and task as the real daemon. */
export function startDaemonSimulator(root: string, scenario: string): Promise<Simulator> {
  return startProgram(process.execPath, [
    join(root, 'bin', 'run'),
    join(root, 'bench', 'daemon-simulator.ts'),
    scenario,
  ])
}

async function startProgram(program: string, args: readonly string[]): Promise<Simulator> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const first = await Promise.race([once(lines, 'line'), ended.then(() => undefined)])
  if (first === undefined) throw new Error('the simulator ended before it was ready')
  const announced = JSON.parse(String(first[0])) as { endpoint: string; fingerprint: string; token: string }
  // The simulator's certificate is made anew for each run, and this is our own child on the loopback.
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
  const url = `${announced.endpoint}/sim/stats`
  return {
    ...announced,
    async stats() {
      const { body } = await request(url, { dispatcher })
      return (await body.json()) as SimulatorStats
    },
    async reset() {
      const { body } = await request(url, { dispatcher, method: 'DELETE' })
      await body.dump()
    },
    async stop() {
      await dispatcher.close()
      child.kill('SIGTERM')
      await ended
    },
  }
}
