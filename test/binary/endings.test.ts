import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { LONG } from '../simulation/volume.ts'
import {
  type Ended,
  endAll,
  estateAt,
  type Running,
  type Simulator,
  scratch,
  signal,
  start,
  startSimulator,
} from './children.ts'

after(endAll)

const CODES = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const
type Name = keyof typeof CODES

/** A call of apply that is held up for longer than any test: the program is ended while it waits for the answer. */
interface Moment {
  readonly says: string
  readonly match: string
  readonly skip: number
  readonly signals: readonly Name[]
}

const MOMENTS: readonly Moment[] = [
  { says: 'before its first read is answered', match: '^GET ', skip: 0, signals: ['SIGTERM'] },
  { says: 'in the middle of the plan', match: '^GET ', skip: 2, signals: ['SIGHUP'] },
  { says: 'in its first effect', match: '^(POST|PUT) ', skip: 0, signals: ['SIGINT'] },
  { says: 'in a later effect', match: '^(POST|PUT) ', skip: 1, signals: ['SIGTERM'] },
]

const vm = (number: number) => `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: web-${number}}
spec:
  forProvider:
    nodeName: fun-bedbug
    name: web-${number}
    vmId: ${200 + number}
    started: true
    disk: [{interface: scsi0, datastoreId: local, size: 4}]
`

let taken = 0

async function set() {
  const cwd = scratch()
  const simulator = (await startSimulator(['--preset', 'homelab', '--speed', '50'], cwd)) as Simulator & {
    clock: string
  }
  /** A separate estate for each run, in the same datacentre. */
  const apply = (): Running => {
    const name = `estate-${++taken}`
    estateAt(path.join(cwd, name), simulator, { 'vm.yaml': vm(taken) })
    mkdirSync(path.join(cwd, 'data'), { recursive: true })
    const env = {
      HOME: path.join(cwd, 'home'),
      PROXMOX_TOKEN: simulator.token,
      CROFT_STATE: path.join(cwd, 'data', `${name}.db`),
      // In the time of the datacentre: what is told every ten seconds comes soon.
      CROFT_SIM_CLOCK: simulator.clock,
    }
    return start(['apply', '--yes', '--timeout', '2h', name], { cwd, env })
  }
  return { simulator, apply }
}

const said = (ended: Ended) => `${ended.signal ?? ended.code}\n${ended.stdout}\n${ended.stderr}`

async function hold(simulator: Simulator, match: string, skip: number): Promise<void> {
  await simulator.door('DELETE', 'faults')
  await simulator.door('POST', 'faults', { kind: 'delay', match, skip, count: 1, delayMs: 60_000_000 })
}

/** Waits until the call that is held up has come, or the program has ended without it. */
async function held(simulator: Simulator, running: Running): Promise<void> {
  let over = false
  void running.ended.then(() => {
    over = true
  })
  while (!over) {
    // What has struck as often as it may is taken off the list.
    if ((await simulator.door<readonly unknown[]>('GET', 'faults')).length === 0) return
    await sleep(20)
  }
}

test('apply that is ended by a signal at any moment never answers 0', async (t) => {
  const { simulator, apply } = await set()
  for (const { says, match, skip, signals } of MOMENTS) {
    for (const name of LONG ? (Object.keys(CODES) as Name[]) : signals) {
      await t.test(`${name} ${says}`, async () => {
        await hold(simulator, match, skip)
        const running = apply()
        await held(simulator, running)
        signal(running, name)
        const ended = await running.ended
        assert.equal(ended.code, CODES[name], said(ended))
        assert.doesNotMatch(ended.stdout, /Apply complete/)
      })
    }
  }
})

test('a signal in the first moments of the program ends it, by itself or by the signal', async () => {
  const { apply } = await set()
  for (const [name, waitMs] of [
    ['SIGTERM', 0],
    ['SIGHUP', 60],
    ['SIGINT', 150],
  ] as const) {
    const running = apply()
    await sleep(waitMs)
    signal(running, name)
    const ended = await running.ended
    assert.ok(ended.signal === name || ended.code === CODES[name], said(ended))
  }
})

test('a signal at the very end: 0 only when all is done', async () => {
  const { apply } = await set()
  const running = apply()
  running.child.stdout?.on('data', (text: string) => {
    if (text.includes('Apply complete')) signal(running, 'SIGTERM')
  })
  const ended = await running.ended
  assert.match(ended.stdout, /Apply complete/, said(ended))
  assert.ok(ended.code === 0 || ended.code === 143 || ended.signal === 'SIGTERM', said(ended))
})

test('whoever reads the output goes away in the middle of an apply: it ends in good order, and not with 0', async () => {
  const { simulator, apply } = await set()
  for (const also of [undefined, 'SIGTERM'] as const) {
    await hold(simulator, '^(POST|PUT) ', 1)
    const running = apply()
    await held(simulator, running)
    running.child.stdout?.destroy()
    running.child.stderr?.destroy()
    // As when a whole pipeline is ended: the reader goes first, and what croft has to say meets a closed pipe.
    if (also !== undefined) signal(running, also)
    const { code } = await running.exited
    assert.ok(code === 141 || (also !== undefined && code === 143), `${also ?? 'nothing'} beside it: ${code}`)
  }
})

test('a program in which nothing is left to happen before its answer does not end with 0', async () => {
  const ending = new URL('../../src/main/ending.ts', import.meta.url)
  // As bin/croft does it on a new Node: there a promise that never settles ends the process with 0.
  const run = (rest: string) =>
    new Promise<{ code: number | null; stderr: string }>((resolve) => {
      const text = `void import('data:text/javascript,import { prepareEnding } from ${JSON.stringify(ending.href)}; const ending = prepareEnding(); ${rest}')`
      const child = spawn(process.execPath, ['--input-type=commonjs', '-e', text], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let stderr = ''
      child.stderr.setEncoding('utf8').on('data', (part: string) => {
        stderr += part
      })
      child.once('close', (code) => resolve({ code, stderr }))
    })
  const forgotten = await run('await new Promise(() => {})')
  assert.equal(forgotten.code, 1, forgotten.stderr)
  assert.match(forgotten.stderr, /ended before its work was done\. Run it again/)
  const waits =
    'const keep = setInterval(() => {}, 1000); ' +
    'const stopped = new Promise((done) => ending.signal.addEventListener(`abort`, done)); ' +
    'process.kill(process.pid, `SIGTERM`); await stopped; clearInterval(keep); '
  const signalled = await run(`${waits} await new Promise(() => {})`)
  assert.equal(signalled.code, 143, signalled.stderr)
  assert.equal((await run('await ending.answer(0)')).code, 0)
})
