import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Files } from '../../src/sim/guest/files.ts'
import { addDisk, hostStateOf } from '../../src/sim/metal/host-state.ts'
import { example, hostsEstate, simulateHosts } from './hosts-run.ts'
import { quietFor } from './oracle.ts'
import { LONG, points, replay, seeds } from './volume.ts'

const FILE = 'host-crash.test.ts'
const HOSTS = example('host-config/hosts.yaml')
const DISK = 'ata-DATA_1'

/** One item of each sort of effect: a file anew, a file changed, a line among others', a user, a door, a disk. */
const CONFIG = `apiVersion: croft.dev/v1alpha1
kind: HostConfig
metadata: {name: small}
spec:
  hosts: [duck]
  packages: [curl]
  users: [{name: deploy, groups: [adm], sudo: true}]
  files:
    - {path: /etc/new.conf, content: "new\\n"}
    - {path: /etc/issue, content: "ours\\n"}
  lines: [{path: /etc/environment, line: "A=ours", match: "A="}]
  blocks: [{path: /etc/environment, name: b, content: "B=ours\\n"}]
  sysctl: {net.ipv4.ip_forward: 1}
  units: [{name: tick.service, content: "[Service]\\nExecStart=/bin/true\\n", enabled: true, state: started}]
  sshd: {passwordAuthentication: false}
  btrfs: [{path: /srv/data, device: /dev/disk/by-id/${DISK}, label: data, erase: [DATA1]}]
`
/** What was declared has gone; one item stays, so that the host is still looked at. */
const NEARLY_NOTHING = `apiVersion: croft.dev/v1alpha1
kind: HostConfig
metadata: {name: small}
spec:
  hosts: [duck]
  directories: [{path: /etc}]
`
const all = hostsEstate([HOSTS, CONFIG])
const nothing = hostsEstate([HOSTS, NEARLY_NOTHING])

function begin(seed: number) {
  const run = simulateHosts({ seed, estate: all })
  const duck = run.box('duck')
  addDisk(duck, DISK, 'DATA1', 'ext4')
  duck.machine.files.write('/etc/issue', 'as it was\n')
  duck.machine.files.write('/etc/environment', 'PATH=/bin\nA=theirs\n')
  return run
}

type Run = ReturnType<typeof begin>

/** Everything on the disk of the host but what croft keeps there for itself. */
function treeOf(run: Run): Readonly<Record<string, string>> {
  const { files } = run.box('duck').machine
  const found: Record<string, string> = {}
  walk(files, '', (path) => {
    if (!path.startsWith('/var/lib/croft/')) found[path] = run.textOf('duck', path)
  })
  return found
}

function walk(files: Files, at: string, file: (path: string) => void): void {
  for (const name of files.list(at === '' ? '/' : at)) {
    if (files.isFolder(`${at}/${name}`)) walk(files, `${at}/${name}`, file)
    else file(`${at}/${name}`)
  }
}

function asDeclared(run: Run, hint: string): void {
  const text = (path: string) => run.textOf('duck', path)
  assert.equal(text('/etc/new.conf'), 'new\n', hint)
  assert.equal(text('/etc/issue'), 'ours\n', hint)
  assert.equal(text('/etc/environment'), 'PATH=/bin\nA=ours\n# croft begins: b\nB=ours\n# croft ends: b\n', hint)
  const state = hostStateOf(run.box('duck'))
  assert.ok(state.users.get('deploy')?.groups.has('adm'), hint)
  assert.equal(state.disks.get(`/dev/disk/by-id/${DISK}`)?.content, 'btrfs', hint)
  assert.equal(state.armed.size, 0, `nothing is left that would take something back; ${hint}`)
  const made = state.deeds.filter((deed) => deed.startsWith('mkfs.btrfs'))
  assert.equal(made.length, 1, `a disk is emptied once and never again; ${hint}`)
}

test('[F-01] [F-23] a crash at any moment of configuring a host doubles nothing, and the undo is right', async (t) => {
  let crashes = 0
  for (const seed of seeds(1, 100)) {
    const calm = begin(seed)
    const before = treeOf(calm)
    const whole = calm.start()
    assert.equal(await calm.untilSettled(whole), 'settled', replay(FILE, seed))
    asDeclared(calm, replay(FILE, seed))
    for (const point of points(whole.points(), 40)) {
      const hint = replay(FILE, seed, point)
      const run = begin(seed)
      assert.equal(await run.untilSettled(run.start({ crashAt: point })), 'killed', `not reached; ${hint}`)
      crashes++
      assert.equal(await run.untilSettled(run.start()), 'settled', `did not settle after the crash; ${hint}`)
      // Whoever was killed with the door ajar: the host closes it by itself, and it is opened again.
      await run.clock.advanceTo(run.clock.now() + 120_000)
      assert.equal(await run.untilSettled(run.start()), 'settled', hint)
      asDeclared(run, hint)
      if (LONG || point % 4 === 1) await quietFor(run, 2, hint)
      run.estate = nothing
      assert.equal(await run.untilSettled(run.start()), 'settled', hint)
      assert.deepEqual(treeOf(run), before, `it is not as it was before; ${hint}`)
    }
  }
  t.diagnostic(`${crashes} crashes`)
})

test('[F-01] a crash while a host is taken back leaves nothing half', async () => {
  for (const seed of seeds(1, 50)) {
    const calm = begin(seed)
    const before = treeOf(calm)
    await calm.untilSettled(calm.start())
    calm.estate = nothing
    const whole = calm.start()
    assert.equal(await calm.untilSettled(whole), 'settled', replay(FILE, seed))
    for (const point of points(whole.points(), 20)) {
      const hint = replay(FILE, seed, point)
      const run = begin(seed)
      await run.untilSettled(run.start())
      run.estate = nothing
      await run.untilSettled(run.start({ crashAt: point }))
      assert.equal(await run.untilSettled(run.start()), 'settled', hint)
      assert.deepEqual(treeOf(run), before, hint)
    }
  }
})

test('a host that nobody configures any more is taken back as a whole, and then left in peace', async () => {
  const run = begin(1)
  const before = treeOf(run)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  run.estate = hostsEstate([HOSTS])
  assert.deepEqual(run.estate.connections, [])
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.deepEqual(treeOf(run), before)
  assert.deepEqual([...run.disk.records.keys()], [], 'nothing of it is remembered')
  const reports = await run.passes(run.start(), 2)
  assert.deepEqual(
    reports.flatMap(({ surveys = [] }) => surveys.map(({ connection }) => connection)),
    [],
    'it may sleep now',
  )
})

const HOUR_MS = 3_600_000
const JUMPS = { 'an hour on': HOUR_MS, 'an hour back': -HOUR_MS, 'ten years on': 10 * 365 * 24 * HOUR_MS } as const

for (const [what, jumpMs] of Object.entries(JUMPS)) {
  test(`[F-22] the controller's clock jumps ${what} in the middle: nothing is done twice, and no storm begins`, async () => {
    for (const seed of seeds(1, 20)) {
      const hint = replay(FILE, seed)
      const calm = begin(seed)
      assert.equal(await calm.untilSettled(calm.start()), 'settled', hint)
      const run = begin(seed)
      const startMs = run.clock.now()
      const wallOffMs = () => (run.clock.now() - startMs > 400 ? jumpMs : 0)
      let passes = 0
      const end = await run.untilSettled(run.start({ wallOffMs }), { onPass: () => passes++ })
      assert.equal(end, 'settled', hint)
      asDeclared(run, hint)
      const deeds = (one: Run) => one.deedsOf('duck').filter((deed) => !deed.startsWith('mkdir'))
      assert.deepEqual(deeds(run).toSorted(), deeds(calm).toSorted(), `each thing is done once; ${hint}`)
      assert.ok(passes < calm.reconciles * 3 + 20, `${passes} passes; ${hint}`)
      // And it stays calm afterwards: a look every so often, no more.
      const reports = await run.passes(run.start({ wallOffMs }), 5)
      assert.deepEqual(
        reports.map(({ effects }) => effects),
        [0, 0, 0, 0, 0],
        hint,
      )
      assert.ok(
        reports.every(({ lookAgainMs }) => lookAgainMs >= 1_000),
        hint,
      )
    }
  })
}
