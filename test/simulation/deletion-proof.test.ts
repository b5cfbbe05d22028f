import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Estate } from '../../src/model/estate.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { committedAfter } from './git-history.ts'
import { estateOf } from './manifests.ts'
import { type Simulation, simulate } from './run.ts'
import { replay } from './volume.ts'

const FILE = 'deletion-proof.test.ts'
const HOSTS = ['pumped-piglet', 'still-fawn', 'fun-bedbug']
const never = new AbortController().signal

/** The machines of the datacentre that are ours by name. */
function machines(run: Simulation): readonly string[] {
  const names = [...run.datacentre.world.guests.values()].map(({ config }) => config.get('name') ?? '')
  return names.filter((name) => name.startsWith('mine-') || name.startsWith('new-')).sort()
}

const numbered = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i + 1}`)
const declared = (names: readonly string[]): Estate =>
  estateOf(names.map((name, i) => ({ name, host: HOSTS[i % HOSTS.length] ?? '' })))

async function planned(run: Simulation): Promise<readonly string[]> {
  const { engine } = run.start()
  const { entries } = await run.clock.runUntil(engine.plan(run.estate, never))
  return entries.flatMap(({ key, action }) => (action.do === 'nothing' ? [] : [`${action.do} ${key}`]))
}

test('[D-02] a second directory plans, applies and runs beside the first, and nothing of the first is touched', async () => {
  const hint = replay(FILE, 1)
  for (const count of [1, 3]) {
    const first = declared(numbered('mine', count))
    const run = simulate({ seed: 1, estate: first })
    await run.untilSettled(run.start())
    const [mine, memory] = [machines(run), run.disk]
    assert.equal(mine.length, count, hint)
    run.disk = createMemoryStore().disk
    run.estate = declared(['new-1'])
    assert.deepEqual(
      (await planned(run)).filter((line) => line.startsWith('delete')),
      [],
      hint,
    )
    assert.equal(await run.untilSettled(run.start()), 'settled', hint)
    assert.deepEqual(machines(run), [...mine, 'new-1'], hint)
    await run.passes(run.start(), 3)
    assert.deepEqual(machines(run), [...mine, 'new-1'], hint)
    const held = [...run.disk.records.values()].filter(({ status }) => status === 'Held').map(({ key }) => key)
    assert.equal(held.length, count, `each is shown; ${hint}`)
    // And the first sees the second in the same way.
    run.disk = memory
    run.estate = first
    assert.equal(await run.untilSettled(run.start()), 'settled', hint)
    assert.deepEqual(machines(run), [...mine, 'new-1'], hint)
  }
})

test('[D-03] a machine whose file and database are gone: what the plan says is what is done', async () => {
  const hint = replay(FILE, 2)
  const both = declared(['mine-1', 'mine-2'])
  const one = declared(['mine-1'])
  for (const [what, estate, verb] of [
    ['no history', one, 'hold'],
    ['the commit that removed it', committedAfter(both, one), 'delete'],
    [
      'an approval',
      { ...one, approvals: [{ name: 'a', deletes: ['EnvironmentVM/mine-2'], origin: ORIGIN }] },
      'delete',
    ],
  ] as const) {
    const run = simulate({ seed: 2, estate: both })
    await run.untilSettled(run.start())
    run.disk = createMemoryStore().disk
    run.estate = estate
    assert.deepEqual(await planned(run), [`${verb} EnvironmentVM/mine-2`], `${what}; ${hint}`)
    assert.equal(await run.untilSettled(run.start()), 'settled', `${what}; ${hint}`)
    assert.deepEqual(machines(run), verb === 'delete' ? ['mine-1'] : ['mine-1', 'mine-2'], `${what}; ${hint}`)
    const proofs = run.disk.events.flatMap(({ key, cause }) =>
      key === 'EnvironmentVM/mine-2' && cause?.call?.startsWith('DELETE') === true ? [cause.proof ?? 'none'] : [],
    )
    assert.equal(proofs.length > 0, verb === 'delete', what)
    assert.ok(!proofs.includes('none'), `${what}: ${proofs.join()}`)
    if (verb === 'hold')
      assert.match(
        run.disk.records
          .get('EnvironmentVM/mine-2')
          ?.conditions.map(({ message }) => message)
          .join() ?? '',
        /not of this directory/,
      )
  }
})

const ORIGIN = { file: 'a.yaml', line: 1, column: 1 }

test('[D-01] a server of a cluster and what is protected outlive file and database, whoever names them', async () => {
  const hint = replay(FILE, 4)
  for (const policy of [{ protect: true }, { serverOf: 'Cluster/homelab' }]) {
    const both = declared(['mine-1', 'mine-2'])
    const resources = both.resources.map((one) => ({ ...one, policy: { ...one.policy, ...policy } }))
    const run = simulate({ seed: 4, estate: { ...both, resources } })
    await run.untilSettled(run.start())
    run.disk = createMemoryStore().disk
    run.estate = {
      ...declared(['mine-1']),
      approvals: [{ name: 'a', deletes: ['EnvironmentVM/mine-2'], origin: ORIGIN }],
    }
    assert.ok((await planned(run)).includes('refuse EnvironmentVM/mine-2'), hint)
    await run.untilSettled(run.start())
    assert.deepEqual(machines(run), ['mine-1', 'mine-2'], hint)
  }
})

test('[D-03] twelve approved deletions with a lost database all happen', async () => {
  const hint = replay(FILE, 3)
  const names = numbered('mine', 12)
  const run = simulate({ seed: 3, estate: declared([...names, 'new-1']) })
  await run.untilSettled(run.start())
  assert.equal(machines(run).length, 13, hint)
  run.disk = createMemoryStore().disk
  const deletes = names.map((name) => `EnvironmentVM/${name}`)
  run.estate = { ...declared(['new-1']), approvals: [{ name: 'twelve', deletes, origin: ORIGIN }] }
  assert.deepEqual(await planned(run), deletes.map((key) => `delete ${key}`).sort(), hint)
  assert.equal(await run.untilSettled(run.start()), 'settled', hint)
  assert.deepEqual(machines(run), ['new-1'], hint)
})
