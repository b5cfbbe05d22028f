import assert from 'node:assert/strict'
import { test } from 'node:test'
import { all, asDeclared, begin, HOSTS, missingTypes, nothing, stateOf } from './every-item.ts'
import { hostsEstate } from './hosts-run.ts'
import { quietFor } from './oracle.ts'
import { LONG, points, replay, seeds } from './volume.ts'

const FILE = 'host-crash.test.ts'

test('every type of item is among those that are killed here', () => assert.deepEqual(missingTypes(all), []))

test('[F-01] [F-23] a crash at any moment of configuring a host doubles nothing, and the undo is right', async (t) => {
  let crashes = 0
  for (const seed of seeds(1, 100)) {
    const calm = begin(seed)
    const before = stateOf(calm)
    const whole = calm.start()
    assert.equal(await calm.untilSettled(whole), 'settled', replay(FILE, seed))
    asDeclared(calm, replay(FILE, seed))
    for (const point of points(whole.points(), 20)) {
      const hint = replay(FILE, seed, point)
      const run = begin(seed)
      assert.equal(await run.untilSettled(run.start({ crashAt: point })), 'killed', `not reached; ${hint}`)
      crashes++
      assert.equal(await run.untilSettled(run.start()), 'settled', `did not settle after the crash; ${hint}`)
      // Killed while a change was unconfirmed: the host takes it back by itself, and croft makes it again.
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
    for (const point of points(whole.points(), 10)) {
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
