import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateOf, SIX } from './manifests.ts'
import { nothingDoubledOrLost, strangersOf } from './oracle.ts'
import { simulate } from './run.ts'
import { replay, seeds } from './volume.ts'

const FILE = 'f09-absence.test.ts'
const estate = estateOf(SIX)
const IDENTITY = 'root@pam!croft'

test('[F-09] a token that sees less makes nothing, deletes nothing, and is reported in one cycle', async () => {
  for (const seed of seeds(2, 100)) {
    for (const hidden of [1, 3, 6]) {
      for (const lostStore of [false, true]) {
        const hint = `${replay(FILE, seed)} (${hidden} hidden, store ${lostStore ? 'lost' : 'kept'})`
        const run = simulate({ seed, estate })
        const strangers = strangersOf(run.datacentre)
        const process = run.start()
        assert.equal(await run.untilSettled(process), 'settled', hint)
        const before = run.datacentre.writes.length
        const ours = [...run.datacentre.world.guests.keys()].filter((id) => id >= 200).slice(0, hidden)
        run.datacentre.hideGuests(IDENTITY, (id) => ours.includes(id))
        if (lostStore)
          run.disk = { ...run.disk, epoch: 0, complete: false, records: new Map(), intentions: new Map(), events: [] }
        const watcher = lostStore ? run.start() : process
        const reports = await run.passes(watcher, 10)
        assert.equal(run.datacentre.writes.length, before, `writes although guests were hidden; ${hint}`)
        if (!lostStore) {
          assert.ok(
            reports[0]?.plan.notes.some((note) => note.code === 'suspect'),
            `not suspected in the first cycle; ${hint}`,
          )
        }
        run.datacentre.hideGuests(IDENTITY, undefined)
        assert.equal(await run.untilSettled(run.start()), 'settled', hint)
        assert.equal(run.datacentre.writes.length, before, `nothing was to do after all; ${hint}`)
        nothingDoubledOrLost(run, strangers, hint)
      }
    }
  }
})

test('[F-09] a list that comes back empty is not believed', async () => {
  for (const seed of seeds(2, 100)) {
    const hint = replay(FILE, seed)
    const run = simulate({ seed, estate })
    const process = run.start()
    await run.untilSettled(process)
    const before = run.datacentre.writes.length
    run.datacentre.faults.add({
      kind: 'fail',
      match: '^GET /cluster/resources',
      status: 200,
      reason: 'OK',
      body: '{"data":[]}',
    })
    const reports = await run.passes(process, 5)
    assert.ok(
      reports[0]?.plan.notes.some((note) => note.code === 'suspect'),
      hint,
    )
    assert.equal(run.datacentre.writes.length, before, hint)
  }
})

test('a machine that was really deleted is made again, alone', async () => {
  const run = simulate({ seed: 1, estate })
  await run.untilSettled(run.start())
  run.datacentre.removeGuest(202)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(run.datacentre.world.guests.get(202)?.run.status, 'running')
})
