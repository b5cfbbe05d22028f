import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { addStorage } from '../sim/world/create-world.ts'
import { NOBLE, putFile } from '../sim/world/presets.ts'
import { GIB } from '../sim/world/sizes.ts'
import { seededRandom } from '../src/lib/random.ts'
import type { Estate } from '../src/model/estate.ts'
import type { Plan } from '../src/model/plan.ts'
import { WITHOUT_EVIDENCE } from './evidence/of-others.ts'
import { acceptedCalls, assertSameCalls, plannedCalls } from './exactness-calls.ts'
import { drawMachines, drawNext, filesFor, HOSTS, type Machine } from './exactness-estates.ts'
import { seedManifests } from './seeds.ts'
import { estateFrom } from './simulation/manifests.ts'
import { type Simulation, simulate, storedText } from './simulation/run.ts'
import { seeds } from './simulation/volume.ts'

const ROUNDS = 4

function replay(seed: number, round?: number): string {
  const at = round === undefined ? '' : ` (round ${round})`
  return `to replay: CROFT_SEED=${seed} node bin/run scripts/test.ts test/exactness.test.ts${at}`
}

/** Every image on every host, so that machines can be made at once, and room for all of them: no plan foresees less. */
function stock(run: Simulation): void {
  run.datacentre.setStorageSize('local', 20_000 * GIB)
  for (const host of run.datacentre.world.hosts.values()) {
    putFile(run.datacentre.world, host, 'local', NOBLE, {
      format: 'qcow2',
      sizeBytes: 618_925_568,
      virtualBytes: 3.5 * GIB,
      system: { agent: true, acpi: true },
    })
  }
}

function valid(files: Readonly<Record<string, string>>, hint: string): Estate {
  const estate = estateFrom(files)
  const errors = estate.problems.filter(({ severity }) => severity === 'error')
  assert.deepEqual(errors, [], hint)
  return estate
}

async function planOf(run: Simulation): Promise<Plan> {
  const work = run.start().engine.plan(run.estate, new AbortController().signal)
  return run.clock.runUntil(work, { maxMs: 600_000 })
}

/** The plan is what happens: those calls and no others, then nothing more. Answers the plan. */
async function happensAsPlanned(run: Simulation, hint: string): Promise<Plan> {
  const { datacentre } = run
  const before = datacentre.writes.length
  const remembered = storedText(run.disk)
  const plan = await planOf(run)
  assert.equal(datacentre.writes.length, before, `planning wrote to the datacentre; ${hint}`)
  assert.equal(storedText(run.disk), remembered, `planning wrote to the store; ${hint}`)

  assert.equal(await run.untilSettled(run.start(), { mostMs: 600_000 }), 'settled', `it did not settle; ${hint}`)
  assertSameCalls(plannedCalls(plan), acceptedCalls(datacentre, before), hint)

  const after = datacentre.writes.length
  const second = await planOf(run)
  const left = second.entries.filter(({ action }) => action.do !== 'nothing')
  const objected = plan.entries.filter(({ action }) => action.do === 'hold' || action.do === 'refuse')
  assert.deepEqual(
    left.map(({ key, action }) => `${action.do} ${key}`).sort(),
    objected.map(({ key, action }) => `${action.do} ${key}`).sort(),
    `the second plan has something to do; ${hint}`,
  )
  await run.passes(run.start(), 5)
  assert.equal(datacentre.writes.length, after, `it went on writing after it had settled; ${hint}`)
  return plan
}

test("people's manifests, as printed: the plan is what happens", { skip: WITHOUT_EVIDENCE }, async (t) => {
  const machines = seedManifests().filter(({ kind }) => kind === 'EnvironmentVM')
  assert.equal(machines.length, 4, 'the seeds hold four machines')
  for (const { place, text } of machines) {
    await t.test(place, async () => {
      // Its provider is called as its author called it; here the datacentre is.
      const named = text.replace(/(providerConfigRef:\s*(?:\{\s*)?name:\s*)[\w-]+/, '$1default')
      const estate = valid({ ...filesFor([], false), 'machine.yaml': named }, place)
      const run = simulate({ seed: 1, estate })
      // The machine of 004 exists already and is foreign; here croft makes it.
      run.datacentre.removeGuest(108)
      // The machine of 000 names no storage, which means this one.
      addStorage(run.datacentre.world, { id: 'local-lvm', type: 'lvmthin', path: '', content: ['images', 'rootdir'] })
      const plan = await happensAsPlanned(run, place)
      assert.deepEqual(
        plan.entries.map(({ action }) => action.do),
        ['create'],
      )
      t.diagnostic(`${place}: ${plannedCalls(plan).length} calls`)
    })
  }
})

test('the examples: the plan is what happens', async (t) => {
  for (const name of ['homelab', 'machines']) {
    await t.test(name, async () => {
      const root = fileURLToPath(new URL(`../examples/${name}`, import.meta.url))
      const files = Object.fromEntries(
        globSync('**/*.yaml', { cwd: root }).map((file) => [file, readFileSync(`${root}/${file}`, 'utf8')]),
      )
      const run = simulate({ seed: 1, estate: valid(files, name) })
      const plan = await happensAsPlanned(run, name)
      assert.ok(plannedCalls(plan).length > 0, 'an example that asks for nothing shows nothing')
    })
  }
})

test('[F-37] machines made, changed and removed at random: each plan is what happens', async (t) => {
  let calls = 0
  const actions = new Map<string, number>()
  for (const seed of seeds(12, 5000)) {
    const random = seededRandom(seed)
    let machines: readonly Machine[] = drawMachines(random)
    const run = simulate({ seed, estate: valid(filesFor(machines, false), replay(seed)) })
    stock(run)
    for (let round = 1; round <= ROUNDS; round++) {
      const hint = replay(seed, round)
      const plan = await happensAsPlanned(run, hint)
      calls += plannedCalls(plan).length
      for (const { action } of plan.entries) actions.set(action.do, (actions.get(action.do) ?? 0) + 1)
      machines = drawNext(random, machines, round)
      run.estate = valid(filesFor(machines, false), hint)
    }
  }
  t.diagnostic(`${calls} calls; ${[...actions].map(([name, count]) => `${count} ${name}`).join(', ')}`)
  if (process.env.CROFT_SEED !== undefined) return
  for (const name of ['create', 'update', 'delete', 'forget', 'nothing'])
    assert.ok(actions.has(name), `no plan had a ${name}: the generator has gone stale`)
})

test('a creation that ends between the survey and the question how it ended is not made twice', async () => {
  // Found by the test above: with this seed the end falls into the gap of a few milliseconds.
  const machines = drawMachines(seededRandom(345))
  const run = simulate({ seed: 345, estate: valid(filesFor(machines, true), replay(345)) })
  await happensAsPlanned(run, replay(345))
})

test('images that are not there yet: the plan shows also what waits for them', async () => {
  for (const seed of seeds(4, 500)) {
    const machines = drawMachines(seededRandom(seed))
    const run = simulate({ seed, estate: valid(filesFor(machines, true), replay(seed)) })
    run.datacentre.setStorageSize('local', 20_000 * GIB)
    await happensAsPlanned(run, replay(seed))
  }
})

test('a machine that a person made is taken over: the mark, the changes, nothing else', async () => {
  for (const seed of seeds(4, 500)) {
    const random = seededRandom(seed)
    const host = HOSTS[seed % HOSTS.length] ?? 'still-fawn'
    const drawn = drawMachines(random)[0]
    assert.ok(drawn)
    const { vmid: _, ...rest } = drawn
    const machine: Machine = { ...rest, host, external: 150, diskGb: 30 }
    const run = simulate({ seed, estate: valid(filesFor([machine], false), replay(seed)) })
    run.datacentre.addGuest(
      150,
      host,
      {
        name: 'by-hand',
        memory: '1024',
        cores: '1',
        agent: '1',
        tags: 'old',
        net0: 'virtio=BC:24:11:00:00:01,bridge=vmbr0',
        scsi0: `local-zfs:${seed % 2 === 0 ? 30 : 20}`,
      },
      seed % 3 > 0,
    )
    const plan = await happensAsPlanned(run, replay(seed))
    assert.deepEqual(
      plan.entries.map(({ action }) => action.do),
      ['adopt'],
      replay(seed),
    )
  }
})
