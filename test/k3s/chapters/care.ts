import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { childrenOf } from '../../process-children.ts'
import { sleep } from '../hosts.ts'
import { selftested } from '../selftested.ts'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'

/** `croft run` keeps the cluster for so many minutes: what it costs. */
export const takeCare =
  (minutes: number) =>
  async (stage: Stage, story: Story): Promise<void> => {
    await story.step('croft selftest with a restore on h5', async () => {
      await stage.lab.emptyDisk('h5')
      await stage.lab.boot('h5')
      return selftested(stage, '--drill', 'h5')
    })
    await story.step(`croft run for ${minutes} minutes`, async () => {
      const child = stage.startCroft(['run', '.', '--listen', 'off'])
      let said = ''
      child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')))
      child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')))
      const pid = child.pid ?? 0
      try {
        // The first looks are dear: what counts is how it is when nothing happens.
        await sleep(45_000)
        const before = use(pid)
        await sleep(minutes * 60_000)
        assert.equal(child.exitCode, null, `croft run ended: ${said}`)
        const after = use(pid)
        const cpu = after.cpuSeconds - before.cpuSeconds
        const percent = ((cpu / (minutes * 60)) * 100).toFixed(2)
        return `${percent} % of a core, ${Math.round(after.rssMb)} MB, ${((after.writtenKb - before.writtenKb) / minutes).toFixed(0)} KB written a minute`
      } finally {
        child.kill('SIGTERM')
      }
    })
  }

interface Use {
  readonly cpuSeconds: number
  readonly rssMb: number
  readonly writtenKb: number
}

/** Of a program and of all that it started: croft starts the Node that it is made for. */
function use(pid: number): Use {
  const all = [ownUse(pid), ...childrenOf(pid).map(use)]
  const sum = (of: (one: Use) => number) => all.reduce((total, one) => total + of(one), 0)
  return {
    cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
    rssMb: sum(({ rssMb }) => rssMb),
    writtenKb: sum(({ writtenKb }) => writtenKb),
  }
}

function ownUse(pid: number): Use {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const io = readFileSync(`/proc/${pid}/io`, 'utf8')
  const number = (text: string, name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0)
  return {
    // With what its own children, ended by now, have used.
    cpuSeconds: [11, 12, 13, 14].reduce((total, at) => total + Number(stat[at]), 0) / 100,
    rssMb: number(status, 'VmRSS') / 1024,
    writtenKb: number(io, 'write_bytes') / 1024,
  }
}
