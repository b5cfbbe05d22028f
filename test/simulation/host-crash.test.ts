import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostStateOf } from '../../src/sim/metal/host-state.ts'
import { all, begin, HOSTS, missingTypes, nothing, type Run, stateOf } from './every-item.ts'
import { hostsEstate } from './hosts-run.ts'
import { quietFor } from './oracle.ts'
import { LONG, points, replay, seeds } from './volume.ts'

const FILE = 'host-crash.test.ts'

function asDeclared(run: Run, hint: string): void {
  const text = (path: string) => run.textOf('duck', path)
  assert.equal(text('/etc/new.conf'), 'new\n', hint)
  assert.equal(text('/etc/issue'), 'ours\n', hint)
  assert.equal(text('/etc/environment'), 'PATH=/bin\nA=ours\n# croft begins: b\nB=ours\n# croft ends: b\n', hint)
  const state = hostStateOf(run.box('duck'))
  assert.ok(state.users.get('deploy')?.groups.has('adm'), hint)
  assert.deepEqual(
    [...state.disks.values()].map(({ content }) => content),
    ['btrfs', 'zfs_member', 'zfs_member', ''],
    hint,
  )
  assert.equal(state.armed.size, 0, `nothing is left that would take something back; ${hint}`)
  for (const program of ['mkfs.btrfs', 'zpool create', 'dd '])
    assert.equal(
      state.deeds.filter((deed) => deed.startsWith(program)).length,
      1,
      `${program}: a disk is emptied once and never again; ${hint}`,
    )
}

test('every type of item is among those that are killed here', () => assert.deepEqual(missingTypes(all), []))

test('[F-01] [F-23] a crash at any moment of configuring a host doubles nothing, and the undo is right', async (t) => {
  let crashes = 0
  for (const seed of seeds(1, 100)) {
    const calm = begin(seed)
    const before = stateOf(calm)
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
      assert.deepEqual(stateOf(run), before, `it is not as it was before; ${hint}`)
    }
  }
  t.diagnostic(`${crashes} crashes`)
})

test('[F-01] a crash while a host is taken back leaves nothing half', async () => {
  for (const seed of seeds(1, 50)) {
    const calm = begin(seed)
    const before = stateOf(calm)
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
      assert.deepEqual(stateOf(run), before, hint)
    }
  }
})

test('a host that nobody configures any more is taken back as a whole, and then left in peace', async () => {
  const run = begin(1)
  const before = stateOf(run)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  run.estate = hostsEstate([HOSTS])
  assert.deepEqual(run.estate.connections, [])
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.deepEqual(stateOf(run), before)
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
