import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import type { Estate } from '../../src/model/estate.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { estateFrom, IMAGE } from './manifests.ts'
import { asDeclared, nothingDoubledOrLost, quietFor, strangersOf } from './oracle.ts'
import { type Simulation, simulate, storedText } from './run.ts'
import { LONG, points, replay, seeds } from './volume.ts'

const FILE = 'seed.test.ts'
const HOSTS = ['pumped-piglet', 'still-fawn', 'fun-bedbug']

interface Wish {
  readonly runcmd?: string
  readonly onChange?: 'ignore' | 'rerun' | 'replace'
  readonly replace?: 'allowed'
  readonly power?: 'on' | 'off'
  readonly agent?: boolean
  readonly count?: number
}

function files(wish: Wish): Record<string, string> {
  const host = (name: string) => `apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: ${name}}
spec: {bindings: {networks: {lan: {bridge: vmbr0}}, storages: {fast: local, files: local}}}
`
  const machine = (at: number) => `apiVersion: croft.dev/v1alpha1
kind: Machine
metadata:
  name: node-${at}
  ${wish.replace === undefined ? '' : `annotations: {croft.dev/replace: ${wish.replace}}`}
spec:
  host: ${HOSTS[at % HOSTS.length]}
  cpu: {cores: 2}
  memory: 2Gi
  disks: [{size: 20Gi, image: noble, storage: fast}]
  networks: [{network: lan, address: 192.168.4.${20 + at}}]
  user: ops
  agent: ${wish.agent ?? true}
  power: ${wish.power ?? 'on'}
  cloudInit: {onChange: ${wish.onChange ?? 'ignore'}}
  userData:
    runcmd: ["${wish.runcmd ?? 'echo one'}"]
    write_files: [{path: /etc/join, content: {valueFrom: {env: JOIN}}}]
`
  const all: Record<string, string> = {
    'connection.yaml': `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: "https://127.0.0.1:8006", token: {env: PROXMOX_TOKEN}, vmids: {from: 300, to: 399}}
`,
    'lan.yaml': `apiVersion: croft.dev/v1alpha1
kind: Network
metadata: {name: lan}
spec: {addressPool: lan, gateway: 192.168.4.1, dns: {servers: [192.168.4.1], domain: home.arpa}}
---
apiVersion: croft.dev/v1alpha1
kind: AddressPool
metadata: {name: lan}
spec: {cidr: 192.168.4.0/24}
---
apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: noble}
spec: {url: "https://cloud-images.ubuntu.com/noble/current/${IMAGE}", storage: files}
`,
  }
  for (const name of HOSTS) all[`hosts/${name}.yaml`] = host(name)
  for (let at = 0; at < (wish.count ?? 3); at++) all[`machines/node-${at}.yaml`] = machine(at)
  return all
}

const estates = new Map<string, Estate>()
function estateOf(wish: Wish = {}): Estate {
  const name = JSON.stringify(wish)
  const known = estates.get(name) ?? estateFrom(files(wish))
  assert.deepEqual(
    known.problems.filter((problem) => problem.severity === 'error'),
    [],
  )
  estates.set(name, known)
  return known
}

/** Every image of ours on any storage, with the guests that have it in a drive. */
function images(run: Simulation): readonly string[] {
  const found = new Set<string>()
  for (const host of run.datacentre.world.hosts.values()) {
    for (const [storage, volumes] of host.volumes)
      for (const name of volumes.keys()) if (name.includes('croft-')) found.add(`${host.name} ${storage}:${name}`)
  }
  return [...found]
}

function ours(run: Simulation) {
  return [...run.datacentre.world.guests.values()].filter((guest) => guest.config.get('tags')?.includes('croft'))
}

/** At any moment: an image is only where a guest of ours says that it is coming or going, and what is in a drive is there. */
function noStrayImage(run: Simulation, hint: string): void {
  for (const image of images(run)) {
    const uid = /croft-([0-9a-f]{16})-/.exec(image)?.[1] ?? ''
    const guest = ours(run).find((one) => one.config.get('description')?.includes(uid))
    assert.match(guest?.config.get('description') ?? '', /\b(?:un)?seeding=/, `${image} belongs to nobody; ${hint}`)
  }
  for (const guest of ours(run)) {
    const volume = /^[^,]*iso\/croft-[^,]*/.exec(guest.config.get('ide2') ?? '')?.[0]
    if (volume === undefined) continue
    assert.ok(images(run).includes(`${guest.node} ${volume}`), `${volume} is in a drive and not there; ${hint}`)
  }
}

/** When all is settled: every guest has read its document once, and nothing of it is left outside. */
function seeded(run: Simulation, runs: number, command: string, hint: string): void {
  assert.deepEqual(images(run), [], `images are left; ${hint}`)
  for (const guest of ours(run)) {
    assert.equal(guest.config.get('ide2'), 'none,media=cdrom', hint)
    assert.doesNotMatch(guest.config.get('description') ?? '', /seeding=/, hint)
    assert.equal(guest.inside?.runs, runs, `${guest.vmid} ran cloud-init ${guest.inside?.runs} times; ${hint}`)
    assert.equal(guest.inside?.hostname, guest.config.get('name'), hint)
    const userData = parse(guest.inside?.userData ?? '', { version: '1.1' }) as { runcmd: string[] }
    assert.deepEqual(userData.runcmd, [command], hint)
  }
}

test('[R1] [R12] [A1] [A12] [A13] with the token alone a machine boots with its document and its fixed address', async () => {
  const run = simulate({ seed: 1, estate: estateOf() })
  const process = run.start()
  const plan = await run.clock.runUntil(process.engine.plan(run.estate, new AbortController().signal))
  const steps = plan.entries.flatMap(({ action }) =>
    action.do === 'create' ? action.steps : action.do === 'wait' ? (action.next?.steps ?? []) : [],
  )
  assert.deepEqual(new Set(steps.map(({ lane }) => lane)), new Set(['rest']))
  assert.equal(steps.filter(({ verb }) => verb === 'upload').length, 3)
  assert.equal(await run.untilSettled(process), 'settled')
  seeded(run, 1, 'echo one', '')
  asDeclared(run, '')
  for (const [at, name] of ['node-0', 'node-1', 'node-2'].entries()) {
    const record = run.disk.records.get(`Machine/${name}`)
    assert.equal(record?.details?.addresses, `192.168.4.${20 + at}`)
  }
  const users = ours(run).map((guest) => (parse(guest.inside?.userData ?? '') as { users: { name: string }[] }).users)
  for (const list of users) assert.equal(list[0]?.name, 'ops')
  await quietFor(run, 5, '')
})

test('[R4] a secret is in the guest, and when it has read it, nowhere else', async () => {
  const run = simulate({ seed: 2, estate: estateOf() })
  const process = run.start()
  const secret = run.datacentre.token
  const plans: string[] = []
  let everOnStorage = false
  await run.untilSettled(process, {
    onPass: (report) => {
      plans.push(JSON.stringify(report))
      for (const host of run.datacentre.world.hosts.values())
        for (const volumes of host.volumes.values())
          for (const volume of volumes.values())
            if (Buffer.from(volume.bytes ?? []).includes(secret)) everOnStorage = true
    },
  })
  assert.ok(everOnStorage, 'the image never held the secret: this test would prove nothing')
  for (const guest of ours(run)) assert.ok(guest.inside?.userData.includes(secret))
  assert.deepEqual(images(run), [])
  const outside = [...plans, storedText(run.disk), JSON.stringify(run.datacentre.state())].join('\n')
  const value = secret.slice(secret.indexOf('=') + 1)
  for (const form of [value, Buffer.from(value).toString('base64'), Buffer.from(value).toString('hex')])
    assert.ok(!outside.includes(form))
  // Not even what is no secret: the plan shows the name, the size and the hash of an image, never what is in it.
  assert.ok(!plans.join('\n').includes('echo one'))
  assert.ok(!storedText(run.disk).includes('echo one'))
})

test('[F-01] a crash at any point of a seed leaves no image behind and no machine unseeded', async (t) => {
  const estate = estateOf({ count: 1 })
  let crashes = 0
  for (const seed of seeds(1, 100)) {
    const calm = simulate({ seed, estate })
    const whole = calm.start()
    assert.equal(await calm.untilSettled(whole), 'settled')
    for (const point of points(whole.points(), 16)) {
      for (const lostStore of [false, true]) {
        const hint = `${replay(FILE, seed, point)}${lostStore ? ' (store lost)' : ''}`
        const run = simulate({ seed, estate })
        const strangers = strangersOf(run.datacentre)
        assert.equal(await run.untilSettled(run.start({ crashAt: point })), 'killed', hint)
        noStrayImage(run, hint)
        if (lostStore) run.disk = createMemoryStore().disk
        assert.equal(await run.untilSettled(run.start()), 'settled', hint)
        nothingDoubledOrLost(run, strangers, hint)
        asDeclared(run, hint)
        seeded(run, 1, 'echo one', hint)
        await quietFor(run, 2, hint)
        crashes++
      }
    }
  }
  t.diagnostic(`${crashes} crashes`)
})

test('[F-01] the declaration goes at any point of a seed: neither machine nor image is left', async () => {
  const estate = estateOf({ count: 1 })
  const without = estateOf({ count: 0 })
  const calm = simulate({ seed: 1, estate })
  const whole = calm.start()
  await calm.untilSettled(whole)
  for (const point of points(whole.points(), 10)) {
    const hint = `CROFT_POINT=${point}`
    const run = simulate({ seed: 1, estate })
    await run.untilSettled(run.start({ crashAt: point }))
    run.estate = without
    await run.clock.advanceTo(run.clock.now() + 120_000)
    assert.equal(await run.untilSettled(run.start()), 'settled', hint)
    assert.deepEqual(ours(run), [], hint)
    assert.deepEqual(images(run), [], hint)
  }
})

test('[F-04] answers lost on the way of a seed change nothing', async () => {
  const estate = estateOf({ count: 2 })
  for (const seed of seeds(1, 50)) {
    for (const match of ['^POST .*/upload$', '^PUT .*/config$', '^DELETE .*/content/', '^POST .*/status/start$']) {
      for (const kind of ['drop-after', 'drop-before'] as const) {
        const hint = `${replay(FILE, seed)} (${kind} ${match})`
        const run = simulate({ seed, estate })
        run.datacentre.faults.add({ kind, match, count: 3, ...(kind === 'drop-before' ? { sent: 'maybe' } : {}) })
        assert.equal(await run.untilSettled(run.start()), 'settled', hint)
        seeded(run, 1, 'echo one', hint)
        asDeclared(run, hint)
      }
    }
  }
})

test('[A25] changed user data with rerun: a new instance id, and cloud-init runs again, one machine at a time', async () => {
  const before = estateOf({ onChange: 'rerun' })
  const after = estateOf({ onChange: 'rerun', runcmd: 'echo two' })
  for (const seed of seeds(1, 20)) {
    const calm = simulate({ seed, estate: before })
    await calm.untilSettled(calm.start())
    const old = ours(calm).map((guest) => guest.inside?.instanceId)
    calm.estate = after
    const whole = calm.start()
    let together = 0
    const down = () => ours(calm).filter((guest) => guest.run.bootedAtMs === undefined).length
    assert.equal(
      await calm.untilSettled(whole, {
        onPass: () => {
          together = Math.max(together, down())
        },
      }),
      'settled',
    )
    assert.equal(together, 1, 'more than one machine was down at once')
    seeded(calm, 2, 'echo two', replay(FILE, seed))
    for (const guest of ours(calm)) assert.ok(!old.includes(guest.inside?.instanceId))
    await quietFor(calm, 5, replay(FILE, seed))
    for (const point of points(whole.points(), LONG ? 500 : 5)) {
      const hint = replay(FILE, seed, point)
      const run = simulate({ seed, estate: before })
      await run.untilSettled(run.start())
      run.estate = after
      await run.untilSettled(run.start({ crashAt: point }))
      noStrayImage(run, hint)
      assert.equal(await run.untilSettled(run.start()), 'settled', hint)
      seeded(run, 2, 'echo two', hint)
      asDeclared(run, hint)
    }
  }
})

test('[A25] changed user data with ignore: the plan says so and does nothing', async () => {
  const run = simulate({ seed: 1, estate: estateOf() })
  await run.untilSettled(run.start())
  const writes = run.datacentre.writes.length
  run.estate = estateOf({ runcmd: 'echo two' })
  const plan = await run.clock.runUntil(run.start().engine.plan(run.estate, new AbortController().signal))
  const machines = plan.entries.filter(({ key }) => key.startsWith('Machine/'))
  assert.equal(machines.length, 3)
  for (const { action, notes } of machines) {
    assert.equal(action.do, 'nothing')
    assert.match(notes?.join() ?? '', /keeps the old data/)
  }
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(run.datacentre.writes.length, writes)
})

test('[A25] changed user data with replace: made anew where that is allowed, refused where it is not', async () => {
  const run = simulate({ seed: 1, estate: estateOf({ onChange: 'replace', count: 1 }) })
  await run.untilSettled(run.start())
  run.estate = estateOf({ onChange: 'replace', count: 1, runcmd: 'echo two' })
  const refused = await run.clock.runUntil(run.start().engine.plan(run.estate, new AbortController().signal))
  assert.equal(refused.entries.find(({ key }) => key === 'Machine/node-0')?.action.do, 'refuse')
  run.estate = estateOf({ onChange: 'replace', count: 1, runcmd: 'echo two', replace: 'allowed' })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  seeded(run, 1, 'echo two', '')
})

test('a machine that is declared off gets its image when it is switched on, and loses it when it is switched off unread', async () => {
  const run = simulate({ seed: 1, estate: estateOf({ power: 'off', count: 1 }) })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.deepEqual(images(run), [])
  run.estate = estateOf({ count: 1 })
  const process = run.start()
  for (let pass = 0; pass < 60 && !ours(run).some((guest) => guest.config.get('ide2')?.includes('croft-')); pass++)
    await run.passes(process, 1)
  assert.equal(images(run).length, 1)
  run.estate = estateOf({ power: 'off', count: 1 })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.deepEqual(images(run), [])
  run.estate = estateOf({ count: 1 })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  seeded(run, 1, 'echo one', '')
})

test('[R11] without an agent nothing waits for one: the image goes after its time', async () => {
  const run = simulate({ seed: 1, estate: estateOf({ agent: false, count: 1 }) })
  const startedMs = run.clock.now()
  assert.equal(await run.untilSettled(run.start()), 'settled')
  seeded(run, 1, 'echo one', '')
  const seconds = (run.clock.now() - startedMs) / 1000
  assert.ok(seconds >= 300 && seconds < 400, `${seconds} s`)
})

test('an agent that never answers does not keep the image there for ever', async () => {
  const run = simulate({ seed: 1, estate: estateOf({ count: 1 }) })
  run.datacentre.faults.add({
    kind: 'fail',
    match: '^GET .*/agent/',
    status: 500,
    reason: 'QEMU guest agent is not running',
  })
  await run.untilSettled(run.start(), { mostMs: 600_000 })
  assert.deepEqual(images(run), [])
  assert.equal(run.disk.records.get('Machine/node-0')?.status, 'Booting')
})
