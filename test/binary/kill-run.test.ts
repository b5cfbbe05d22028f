import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../../src/lib/random.ts'
import { LONG } from '../simulation/volume.ts'
import { endAll, estateAt, type Running, type Simulator, scratch, signal, start, startSimulator } from './children.ts'
import { type Left, noneDoubledOrLost, nothingToldLost, type SimState, soundDatabase } from './kill-oracle.ts'

after(endAll)

const SPEED = 20
const SUBJECT = 'EnvironmentVM/web-2'

const vm = (name: string, id: number) => `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: ${name}}
spec:
  forProvider:
    nodeName: fun-bedbug
    name: ${name}
    vmId: ${id}
    started: true
    cpu: [{cores: 2, type: host}]
    memory: [{dedicated: 2048}]
    disk: [{interface: scsi0, datastoreId: local, size: 4}]
    networkDevice: [{bridge: vmbr0, model: virtio}]
`

/** What a person asked for over the API while it ran: the last wish that was granted, and one that got no answer. */
interface Wishes {
  granted: number
  sent: number
  last?: 'suspend' | 'resume'
  open?: 'suspend' | 'resume'
}

test('[F-23] the controller, killed at random moments again and again, loses nothing that it told or granted', async (t) => {
  const random = seededRandom(Number(process.env.CROFT_SEED ?? 23))
  const cwd = scratch()
  const simulator = await startSimulator(['--preset', 'homelab', '--speed', String(SPEED)], cwd)
  const strangers = (await simulator.door<SimState>('GET', 'state')).guests
  estateAt(path.join(cwd, 'estate'), simulator, { 'a.yaml': vm('web-1', 205), 'b.yaml': vm('web-2', 206) })
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token }
  const made = await start(['token', 'create', 'ci', '--scopes', 'read,operate', '--expires', '30d'], { cwd, env })
    .ended
  const token = made.stdout.trim()
  const database = path.join(cwd, 'state.db')
  const run = (): Running =>
    start(['run', 'estate', '--state', database, '--listen', '127.0.0.1:0', '--poll', '1s', '--log', 'json'], {
      cwd,
      env,
      longestMs: 600_000,
    })
  const cycles = LONG ? Number(process.env.CROFT_SEEDS ?? 2_000) : 6
  const wishes: Wishes = { granted: 0, sent: 0 }
  let told = 0
  for (let cycle = 1; cycle <= cycles; cycle++) {
    const running = run()
    const url = pageOf(running)
    const wishing = wish(running, url, token, wishes)
    // Every other time from its very start, else once it is at work: on a busy computer it would never get there.
    if (cycle % 2 === 0) await url
    await sleep(random.next() * 1_500)
    signal(running, 'SIGKILL')
    const ended = await running.ended
    await wishing
    const hint = `cycle ${cycle} of seed ${process.env.CROFT_SEED ?? 23}`
    assert.equal(ended.signal, 'SIGKILL', `it ended by itself: ${ended.stderr}; ${hint}`)
    const left = soundDatabase(database, simulator, hint)
    told += nothingToldLost(left, ended.stdout, hint)
    nothingGrantedLost(left, wishes, hint)
    noneDoubledOrLost(await simulator.door<SimState>('GET', 'state'), left, strangers, 'killed', hint)
    // Now and then there is something to do again.
    if (cycle % 5 === 4) await simulator.door('PATCH', 'guests/205', { memory: '1024' }).catch(() => {})
    // A run of an hour says how far it is, so that one that was ended early still counts.
    if (LONG && cycle % 50 === 0)
      process.stderr.write(`${cycle} kills, ${told} events and ${wishes.granted} wishes kept\n`)
  }
  await toTheEnd(simulator, run, token, wishes)
  const state = await simulator.door<SimState>('GET', 'state')
  noneDoubledOrLost(state, soundDatabase(database, simulator), strangers, 'ended')
  for (const id of [205, 206]) {
    const disks = state.hosts.flatMap(({ volumes }) => Object.values(volumes).flat()).filter(({ vmid }) => vmid === id)
    assert.equal(disks.length, 1, `a second disk of ${id} was made`)
  }
  assert.equal(state.guests.length, strangers.length + 2)
  t.diagnostic(`killed ${cycles} times; ${told} events and ${wishes.granted} wishes were there afterwards`)
})

/** Sends one request after another until the server is gone. */
async function wish(running: Running, page: Promise<string | undefined>, token: string, wishes: Wishes): Promise<void> {
  let over = false
  void running.exited.then(() => {
    over = true
  })
  const url = await page
  while (url !== undefined && !over) {
    const next = wishes.last === 'suspend' ? 'resume' : 'suspend'
    if (!(await send(url, token, next, wishes))) await sleep(20)
  }
}

async function send(url: string, token: string, order: 'suspend' | 'resume', wishes: Wishes): Promise<boolean> {
  wishes.sent++
  wishes.open = order
  try {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(`${url}/api/wishes/${order}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ key: SUBJECT }),
    })
    await answer.text()
    delete wishes.open
    // A wish whose answer was cut off may have been granted: then the same once more is a conflict.
    if (answer.status === 409) wishes.last = order
    if (answer.status !== 200) return false
    wishes.last = order
    wishes.granted++
    return true
  } catch {
    return false
  }
}

/** Undefined: it was killed before it had one. */
async function pageOf(running: Running): Promise<string | undefined> {
  let said = ''
  return new Promise((resolve) => {
    running.child.stderr?.on('data', (chunk: string) => {
      said += chunk
      const url = /The page is at (\S+)/.exec(said)?.[1]
      if (url !== undefined) resolve(url)
    })
    void running.exited.then(() => resolve(undefined))
  })
}

/** What was granted last still holds, unless the one after it took effect before its answer was cut off. */
function nothingGrantedLost(left: Left | undefined, { last, open, granted, sent }: Wishes, hint: string): void {
  const audited = (left?.audit ?? []).filter(
    ({ what, outcome }) => (what === 'suspend' || what === 'resume') && outcome === 'done',
  ).length
  assert.ok(audited >= granted, `${granted} wishes were granted, the audit log has ${audited}; ${hint}`)
  assert.ok(audited <= sent, `${sent} wishes were sent, the audit log has ${audited}; ${hint}`)
  if (last === undefined || open !== undefined) return
  const kept = JSON.parse(left?.value('controller/wishes') ?? '{"suspended":[]}') as { readonly suspended: string[] }
  assert.deepEqual(kept.suspended, last === 'suspend' ? [SUBJECT] : [], `${last} was granted and is lost; ${hint}`)
}

/** Runs until both machines are as declared, then ends it as systemd does. */
async function toTheEnd(simulator: Simulator, run: () => Running, token: string, wishes: Wishes): Promise<void> {
  const running = run()
  const url = await pageOf(running)
  assert.ok(url !== undefined)
  // Suspended or not: the last of these lets it go on.
  for (const order of ['suspend', 'resume'] as const) {
    for (let tries = 0; !(await send(url, token, order, wishes)) && wishes.last !== order; tries++) {
      assert.ok(tries < 6_000, `it does not ${order}`)
      await sleep(50)
    }
  }
  for (let tries = 0; ; tries++) {
    const { guests } = await simulator.door<SimState>('GET', 'state')
    const ready = guests.filter(({ status, config }) => status === 'running' && /croft/.test(config.tags ?? ''))
    if (ready.length === 2 && ready.every(({ config, pending }) => (pending.memory ?? config.memory) === '2048')) break
    assert.ok(tries < 6_000, `it did not get there: ${JSON.stringify(guests)}`)
    await sleep(100)
  }
  signal(running, 'SIGTERM')
  const { code, stderr } = await running.ended
  assert.equal(code, 0, `a stop that was asked for is not a failure: ${stderr}`)
}
