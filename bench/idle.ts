import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeEstate } from './estate.ts'
import { cpuSeconds, residentMb } from './process-usage.ts'
import { startSimulator } from './simulator.ts'
import { showTable } from './table.ts'

/**
 * What a controller costs that has nothing to do: `croft run` over settled machines, for a while.
 * npm run bench:idle; or with less of it: node bin/run bench/idle.ts [--machines 1000] [--minutes 10].
 */
const option = (name: string, usual: number) => {
  const at = process.argv.indexOf(name)
  return at < 0 ? usual : Number(process.argv[at + 1])
}
const machines = option('--machines', 1000)
const minutes = option('--minutes', 10)
const SAMPLE_S = 5
const croft = join(import.meta.dirname, '..', 'bin', 'croft')
const scratch = mkdtempSync(join(tmpdir(), 'croft-idle-'))
const simulator = await startSimulator(croft, machines)
try {
  const estate = join(scratch, 'estate')
  writeEstate(estate, machines, simulator)
  const env = { ...process.env, HOME: scratch, XDG_STATE_HOME: join(scratch, 'state'), PROXMOX_TOKEN: simulator.token }
  const child = spawn(process.execPath, [croft, 'run', estate, '--listen', 'off'], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  // Every machine is taken over and seen to be ready first; that is no idling.
  for (let writes = -1, calm = 0; calm < 3; ) {
    await sleep(5_000)
    const now = (await simulator.stats()).writes
    calm = now === writes && now >= machines ? calm + 1 : 0
    writes = now
  }
  const pid = child.pid ?? 0
  const before = { cpu: cpuSeconds(pid), io: writtenBytes(pid) }
  await simulator.reset()
  const memory: number[] = []
  for (let second = 0; second < minutes * 60; second += SAMPLE_S) {
    await sleep(SAMPLE_S * 1000)
    memory.push(residentMb(pid))
  }
  const used = cpuSeconds(pid) - before.cpu
  const { calls, writes } = await simulator.stats()
  const rows = [
    [
      String(machines),
      String(minutes),
      used.toFixed(2),
      `${((used / (minutes * 60)) * 100).toFixed(2)} %`,
      `${(memory.at(-1) ?? 0).toFixed(0)} MB`,
      `${Math.max(...memory).toFixed(0)} MB`,
      String(calls),
      String(writes),
      String(writtenBytes(pid) - before.io),
    ],
  ]
  process.stdout.write(
    `${showTable(['machines', 'minutes', 'CPU seconds', 'of one core', 'memory', 'most', 'API calls', 'API writes', 'bytes written'], rows)}\n`,
  )
  child.kill('SIGTERM')
  await ended
} finally {
  await simulator.stop()
  rmSync(scratch, { recursive: true, force: true })
}

function writtenBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0)
}
