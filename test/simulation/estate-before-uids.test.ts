import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type Estate, estateMark } from '../../src/model/estate.ts'
import type { ResourceRecord } from '../../src/model/record.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { estateOf, type Wanted } from './manifests.ts'
import { type Simulation, simulate } from './run.ts'

/** Written by a croft that knew no uids of estates: its records, and the marks on its guests. */
const OLD = JSON.parse(readFileSync(new URL('./fixtures/estate-before-uids.json', import.meta.url), 'utf8')) as {
  readonly records: readonly ResourceRecord[]
  readonly guests: readonly { readonly name: string; readonly tags: string; readonly description: string }[]
}

const MACHINES: readonly Wanted[] = [
  { name: 'web-1', host: 'still-fawn' },
  { name: 'web-2', host: 'fun-bedbug' },
  { name: 'kept-1', host: 'still-fawn', deletion: 'Orphan' },
]
const never = new AbortController().signal

function named(machines: readonly Wanted[], uid: string): Estate {
  const plain = estateOf(machines)
  const resources = plain.resources.map((one) => ({ ...one, estate: estateMark('default', uid), declaredBy: uid }))
  return { ...plain, resources, sources: [uid, 'directory /home'] }
}

/** The machines as the old croft left them, with its database. */
async function asItWas(): Promise<Simulation> {
  const run = simulate({ seed: 1, estate: estateOf(MACHINES) })
  await run.untilSettled(run.start())
  for (const { name, tags, description } of OLD.guests) {
    const guest = [...run.datacentre.world.guests.values()].find(({ config }) => config.get('name') === name)
    assert.equal(guest?.config.get('description'), description, 'the same mark is written where there is no uid')
    guest?.config.set('tags', tags)
  }
  const { disk } = createMemoryStore()
  for (const record of OLD.records) disk.records.set(record.key, record)
  disk.complete = true
  run.disk = disk
  return run
}

async function planned(run: Simulation): Promise<readonly string[]> {
  const { entries } = await run.clock.runUntil(run.start().engine.plan(run.estate, never))
  return entries.flatMap(({ key, action }) => (action.do === 'nothing' ? [] : [`${action.do} ${key}`])).sort()
}

const left = (run: Simulation) =>
  [...run.datacentre.world.guests.values()].flatMap(({ config }) => {
    const name = config.get('name') ?? ''
    return MACHINES.some((one) => one.name === name) ? [name] : []
  })

test('[D-02] an estate from before uids is taken over: its marks get the uid, nothing else happens', async () => {
  const run = await asItWas()
  run.estate = named(MACHINES, 'e'.repeat(16))
  assert.deepEqual(await planned(run), MACHINES.map(({ name }) => `update EnvironmentVM/${name}`).sort())
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.deepEqual(await planned(run), [])
  assert.equal(left(run).length, 3)
  for (const { config } of run.datacentre.world.guests.values()) {
    if (MACHINES.some(({ name }) => name === config.get('name')))
      assert.match(config.get('description') ?? '', / estate=default\/e{16} /)
  }
  const drifts = run.disk.events.filter(({ reason }) => reason === 'Drift')
  assert.deepEqual(drifts, [], 'nobody changed anything in the world')
})

test('[D-02] what leaves Git at the same moment leaves by the old record, each as its policy says', async () => {
  const run = await asItWas()
  run.estate = named(MACHINES.slice(0, 1), 'e'.repeat(16))
  assert.deepEqual(await planned(run), [
    'delete EnvironmentVM/web-2',
    'forget EnvironmentVM/kept-1',
    'update EnvironmentVM/web-1',
  ])
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.deepEqual(left(run).sort(), ['kept-1', 'web-1'])
})

test('[D-02] another directory, with a uid or without, takes none of the old machines for its own', async () => {
  for (const uid of ['f'.repeat(16), undefined]) {
    const run = await asItWas()
    run.disk = createMemoryStore().disk
    const other = [{ name: 'new-1', host: 'pumped-piglet' }]
    run.estate = uid === undefined ? estateOf(other) : named(other, uid)
    await run.untilSettled(run.start())
    assert.equal(left(run).length, 3, String(uid))
  }
})
