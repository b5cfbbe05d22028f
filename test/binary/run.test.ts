import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { endAll, estateAt, type Running, type Simulator, scratch, signal, start, startSimulator } from './children.ts'
import { type SimState, soundDatabase } from './kill-oracle.ts'
import { webVm } from './web-vm.ts'

after(endAll)

const SPEED = 20
const VM = webVm({ fields: ['cpu: [{cores: 2, type: host}]', 'networkDevice: [{bridge: vmbr0, model: virtio}]'] })

async function prepared(cwd: string) {
  const simulator = await startSimulator(['--preset', 'homelab', '--speed', String(SPEED)], cwd)
  estateAt(path.join(cwd, 'estate'), simulator, { 'vm.yaml': VM })
  const database = path.join(cwd, 'state.db')
  const run = (...more: string[]): Running =>
    start(['run', 'estate', '--state', database, '--listen', 'off', '--poll', '1s', ...more], {
      cwd,
      env: { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token },
      longestMs: 600_000,
    })
  return { simulator, database, run }
}

/** Runs until the machine is as declared, then ends it as systemd does. */
async function toTheEnd(simulator: Simulator, run: () => Running): Promise<void> {
  const running = run()
  // Before its first line it has not installed its handlers, so it cannot end in good order.
  const { stdout, stderr: log } = running.child
  const begun = new Promise((resolve) => {
    for (const stream of [stdout, log]) stream?.once('data', resolve)
  })
  for (let tries = 0; ; tries++) {
    const state = await simulator.door<SimState>('GET', 'state')
    const guest = state.guests.find(({ vmid }) => vmid === 205)
    if (guest?.status === 'running' && /croft/.test(guest.config.tags ?? '')) break
    assert.ok(tries < 6_000, 'it did not get there')
    await sleep(100)
  }
  await begun
  signal(running, 'SIGTERM')
  const { code, stderr } = await running.ended
  assert.equal(code, 0, `a stop that was asked for is not a failure: ${stderr}`)
}

async function hasDatabase({ child }: Running, database: string): Promise<void> {
  const owner = `${database}.owner`
  for (let tries = 0; !(existsSync(owner) && readFileSync(owner, 'utf8').includes(`${child.pid}`)); tries++) {
    assert.ok(tries < 20_000, 'it never took the database')
    await sleep(1)
  }
}

async function onlyOne(simulator: Simulator): Promise<void> {
  const state = await simulator.door<SimState>('GET', 'state')
  assert.deepEqual(
    state.guests.map(({ vmid }) => vmid).sort((a, b) => a - b),
    [108, 109, 205],
  )
  const disks = state.hosts.flatMap(({ volumes }) => Object.values(volumes).flat()).filter(({ vmid }) => vmid === 205)
  assert.equal(disks.length, 1, 'a second disk was made')
}

test('[F-03] killed in the first 50 ms of its process, and of its work on the database, twenty times in a row each: it starts with nobody helping', async () => {
  const cwd = scratch()
  const { simulator, database, run } = await prepared(cwd)
  for (let n = 0; n < 40; n++) {
    const running = run()
    // Node itself needs longer than that to begin: every other time is counted from where croft has the database.
    if (n % 2 === 1) await hasDatabase(running, database)
    await sleep(Math.floor(n / 2) * 2.5)
    signal(running, 'SIGKILL')
    await running.exited
  }
  soundDatabase(database, simulator)
  await toTheEnd(simulator, run)
  await onlyOne(simulator)
})

test('a second controller on the same database refuses and names the first; its token is nowhere in what it wrote', async () => {
  const cwd = scratch()
  const { simulator, database, run } = await prepared(cwd)
  const first = run()
  for (let tries = 0; !existsSync(`${database}.owner`) && tries < 6_000; tries++) await sleep(50)
  await sleep(300)
  const second = await run().ended
  assert.equal(second.code, 1)
  assert.match(second.stderr, new RegExp(`process ${first.child.pid} on .* is at work on .*state\\.db\\. Stop it`))
  // With --wait it stands by and takes over.
  const standing = run('--wait')
  let said = ''
  standing.child.stderr?.on('data', (chunk: string) => {
    said += chunk
  })
  for (let tries = 0; !said.includes('Waiting: another croft'); tries++) {
    assert.ok(tries < 6_000, said)
    await sleep(25)
  }
  signal(first, 'SIGTERM')
  const { stdout, stderr } = await first.ended
  const secret = simulator.token.split('=')[1] ?? simulator.token
  for (const text of [stdout, stderr, readFileSync(database, 'latin1')]) assert.ok(!text.includes(secret))
  await hasDatabase(standing, database)
  signal(standing, 'SIGTERM')
  assert.equal((await standing.ended).code, 0)
})
