import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeRevisions } from '../../src/controller/sources/merge.ts'
import { findKind } from '../../src/kinds/registry.ts'
import type { Estate } from '../../src/model/estate.ts'
import { link } from '../../src/plan/link.ts'
import { readTexts } from '../../src/source/testing/fixture.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { committedAfter } from './git-history.ts'
import { filesOf, type Wanted } from './manifests.ts'
import { type Simulation, simulate } from './run.ts'

const HOME: readonly Wanted[] = [
  { name: 'home-1', host: 'still-fawn' },
  { name: 'home-2', host: 'fun-bedbug' },
]
const LAB: readonly Wanted[] = [{ name: 'lab-1', host: 'pumped-piglet' }]

/** Two sources as the controller puts them together. */
function both(home: Readonly<Record<string, string>>, lab: Readonly<Record<string, string>>): Estate {
  const merged = mergeRevisions([
    { source: 'home', revision: readTexts(home) },
    { source: 'lab', revision: readTexts(lab) },
  ])
  return link(merged, { findKind, problemAt: merged.problemAt })
}

const only = (files: Record<string, string>) => {
  const { 'connection.yaml': _, ...rest } = files
  return rest
}

function guests(run: Simulation): readonly string[] {
  const names = [...run.datacentre.world.guests.values()].map(({ config }) => config.get('name') ?? '')
  return names.filter((name) => /^(?:home|lab)-/.test(name)).sort()
}

test('while one source of two cannot be read whole, nothing of either is deleted; when it can be, what was removed goes', async () => {
  const lab = only(filesOf(LAB))
  const whole = both(filesOf(HOME), lab)
  const run = simulate({ seed: 4, estate: whole })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const all = ['home-1', 'home-2', 'lab-1']
  assert.deepEqual(guests(run), all)
  const fewer = filesOf(HOME.slice(0, 1))
  for (const [what, estate] of [
    ['the other source is broken', both(fewer, { ...lab, 'machines/lab-1.yaml': 'kind: [' })],
    ['its own source is broken', both({ ...fewer, 'x.yaml': 'kind: [' }, lab)],
    ['both are', both({ ...fewer, 'x.yaml': 'kind: [' }, { 'x.yaml': 'kind: [' })],
  ] as const) {
    run.estate = committedAfter(whole, estate)
    await run.passes(run.start(), 4)
    assert.deepEqual(guests(run), all, what)
    // A process without the database has no more rights.
    const { disk } = run
    run.disk = createMemoryStore().disk
    await run.passes(run.start(), 4)
    assert.deepEqual(guests(run), all, `${what}, without a database`)
    run.disk = disk
  }
  run.estate = committedAfter(whole, both(fewer, lab))
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.deepEqual(guests(run), ['home-1', 'lab-1'])
})
