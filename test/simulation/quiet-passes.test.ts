import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QUIET_RULES, type QuietRules } from '../../src/engine/quiet.ts'
import { LIMITS } from '../../src/lib/limits.ts'
import { estateOf, IMAGE, SIX } from './manifests.ts'
import { ALL, type Deed, noticed, pass, settled } from './quiet-hunt.ts'

// A pass that sees what the last one saw plans nothing. These tests hold that it looks as closely, and
// that after each change the next pass does what a process without any memory would do. What is planted as a
// mistake in its judgements, one of the deeds finds.

test('a pass that sees what the last one saw plans nothing, makes the same calls, and shows what is measured now', async () => {
  const one = await settled(3)
  const { run, calls } = one
  calls()
  const quiet = await pass(one, ALL)
  const made = calls()
  assert.equal(quiet.unchanged, true)
  // Another object with the same contents: the memory does not hold for it.
  run.estate = { ...run.estate }
  const whole = await pass(one, ALL)
  assert.equal(whole.unchanged, undefined)
  assert.deepEqual([...made].sort(), [...calls()].sort())
  assert.equal(made.filter((path) => /\/(?:config|pending)$/.test(path)).length, SIX.length)
  assert.deepEqual(quiet.plan, whole.plan)
  assert.deepEqual(quiet.records, whole.records)
  assert.ok((quiet.surveys?.[0]?.atMs ?? 0) < (whole.surveys?.[0]?.atMs ?? 0))
  assert.equal((await pass(one)).unchanged, true)
})

const patched = (name: string, patch: Readonly<Record<string, unknown>>): Deed => ({
  name,
  done: ({ run }, vmid) => run.datacentre.patchGuest(vmid, patch),
})

/** Longer than a survey lags behind. */
const LATER_MS = 60_000
const CONFIGURED = patched('a field that no survey shows', { onboot: '0' })
const GONE: Deed = { name: 'a machine is gone', done: ({ run }, vmid) => void run.datacentre.world.guests.delete(vmid) }
const FILE_GONE: Deed = {
  name: 'an image is gone from its storage',
  done: ({ run }) => {
    for (const host of run.datacentre.world.hosts.values()) host.volumes.get('local')?.delete(`import/${IMAGE}`)
  },
}
const RECORD_GONE: Deed = {
  name: 'a record is gone from the store',
  done: ({ run }) => {
    const [key] = [...run.disk.records.keys()]
    if (key !== undefined) run.disk.records.delete(key)
  },
}
const UNDECLARED: Deed = {
  name: 'a machine is no longer declared',
  done: ({ run }) => {
    run.estate = estateOf(SIX.slice(0, 5))
  },
}
const READ_ANEW: Deed = {
  name: 'the declarations are read anew, as after a changed secret',
  done: ({ run }) => {
    run.estate = { ...run.estate }
  },
}
const RESTARTED: Deed = {
  name: 'a machine is restarted',
  async done({ run }, vmid) {
    await run.clock.advanceTo(run.clock.now() + 2 * LATER_MS)
    run.datacentre.patchGuest(vmid, { status: 'stopped' })
    run.datacentre.patchGuest(vmid, { status: 'running' })
    await run.clock.advanceTo(run.clock.now() + LATER_MS / 2)
  },
}
const DARK: Deed = {
  name: 'a host loses its power',
  async done({ run }) {
    run.datacentre.hostPower('still-fawn', 'off')
    await run.clock.advanceTo(run.clock.now() + LATER_MS)
  },
}
const UNSEEN: Deed = {
  name: 'the token is withdrawn',
  done: ({ run }) => run.datacentre.setToken('root@pam!croft', { secret: 'another' }),
}
const LONG_AFTER: Deed = {
  name: 'ten minutes pass',
  done: ({ run }) => run.clock.advanceTo(run.clock.now() + LIMITS.quietMs),
}
const STRANGER: Deed = {
  name: 'a stranger beside them',
  done: ({ run }) => run.datacentre.addGuest(777, 'still-fawn', { name: 'stranger', memory: '512' }),
}
const LARGER: Deed = {
  name: 'a storage is larger',
  async done({ run }) {
    run.datacentre.setStorageSize('local', 9_000_000_000_000)
    await run.clock.advanceTo(run.clock.now() + LATER_MS)
  },
}
const DEEDS: readonly Deed[] = [
  patched('a field that a survey shows', { memory: '3000' }),
  CONFIGURED,
  patched('another name', { name: 'by-hand' }),
  patched('another description', { description: 'by hand' }),
  patched('its tags are gone', { tags: null }),
  patched('a lock', { lock: 'backup' }),
  GONE,
  FILE_GONE,
  RECORD_GONE,
  UNDECLARED,
  READ_ANEW,
  RESTARTED,
  DARK,
  UNSEEN,
  LONG_AFTER,
  STRANGER,
  LARGER,
]

for (const [index, deed] of DEEDS.entries())
  test(`[F-12] the next pass plans what a process without memory plans: ${deed.name}`, () => noticed(deed, index + 20))

test('where nobody does anything nothing is noticed', async () => {
  await assert.rejects(noticed({ name: 'nothing', done: () => {} }, 19), /was not noticed/)
})

const { sameGround, sameLooks } = QUIET_RULES
// Not in the list is a restart that is overlooked here: the close look that was kept is dropped when a machine is up for less
// long than it was, and a pass that lacks a look is no quiet one.
const BUGS: readonly (readonly [name: string, rules: Partial<QuietRules>, deed: Deed])[] = [
  [
    'surveys are not compared',
    { sameGround: (quiet, now, time) => sameGround(quiet, { ...now, seen: quiet.standing.seen }, time) },
    STRANGER,
  ],
  [
    'hosts and storages are not compared',
    {
      sameGround(quiet, now, time) {
        const seen = [...now.seen].map(([name, facts]) => {
          const { hosts = [], storages = [] } = quiet.standing.seen.get(name)?.survey ?? {}
          return [name, { ...facts, survey: { ...facts.survey, hosts, storages } }] as const
        })
        return sameGround(quiet, { ...now, seen: new Map(seen) }, time)
      },
    },
    LARGER,
  ],
  [
    'records are not compared',
    { sameGround: (quiet, now, time) => sameGround(quiet, { ...now, records: quiet.standing.records }, time) },
    RECORD_GONE,
  ],
  [
    'another estate counts as the same',
    { sameGround: (quiet, now, time) => sameGround(quiet, { ...now, estate: quiet.standing.estate }, time) },
    UNDECLARED,
  ],
  [
    'secrets that are read anew count for nothing',
    { sameGround: (quiet, now, time) => sameGround(quiet, { ...now, estate: quiet.standing.estate }, time) },
    READ_ANEW,
  ],
  [
    'a connection that is not seen counts as unchanged',
    {
      sameGround: (quiet, now, time) => sameGround(quiet, { ...now, unseen: 0, seen: quiet.standing.seen }, time),
      sameLooks: () => true,
    },
    UNSEEN,
  ],
  [
    'a memory never ends',
    { sameGround: (quiet, now, time) => sameGround(quiet, now, { ...time, steadyMs: 0 }) },
    LONG_AFTER,
  ],
  [
    'configurations are not compared',
    {
      sameLooks: (before, now) =>
        sameLooks(before, {
          ...now,
          seen: new Map(
            [...now.seen].map(([name, facts]) => [
              name,
              { ...facts, close: before.seen.get(name)?.close ?? facts.close },
            ]),
          ),
        }),
    },
    CONFIGURED,
  ],
  [
    'lists are not compared',
    {
      sameLooks: (before, now) =>
        sameLooks(before, {
          ...now,
          seen: new Map(
            [...now.seen].map(([name, facts]) => [
              name,
              { ...facts, lists: before.seen.get(name)?.lists ?? facts.lists },
            ]),
          ),
        }),
    },
    FILE_GONE,
  ],
]

for (const [name, broken, deed] of BUGS)
  test(`[F-40] planted bug found: of quiet passes, ${name}`, async () => {
    const sabotage = { quietRules: { ...QUIET_RULES, ...broken } }
    await assert.rejects(
      noticed(deed, 20 + DEEDS.indexOf(deed), sabotage),
      (error) => error instanceof assert.AssertionError,
    )
  })
