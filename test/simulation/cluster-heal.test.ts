import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutOff, follow, formed, guestOf, keepFor, type Run } from './cluster-lab.ts'
import { clusterAsDeclared } from './cluster-oracle.ts'
import { replay } from './volume.ts'

const FILE = 'cluster-heal.test.ts'
const MINUTE = 60_000

/** Which machine stands under each name: another one after a replacement. */
function lives(run: Run): readonly (string | undefined)[] {
  return ['s1', 's2', 's3', 'a1', 'a2'].map((name) => guestOf(run, name)[1].config.get('vmgenid'))
}

test('[F-34] two of five nodes silent at once: nothing is replaced, and they are welcome when they are back', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint, { agents: ['a1', 'a2'] })
  const before = lives(run)
  for (const name of ['a1', 'a2']) cutOff(run, name, true)
  const told = await keepFor(run, 20 * MINUTE)
  assert.deepEqual(lives(run), before, hint)
  assert.ok(
    told.some(({ message }) => /2 of 5/.test(message)),
    `nobody was told: ${told.map(({ message }) => message).join('; ')}; ${hint}`,
  )
  for (const name of ['a1', 'a2']) cutOff(run, name, false)
  await keepFor(run, 2 * MINUTE)
  assert.equal((await follow(run, hint)).end, 'settled', hint)
  assert.deepEqual(lives(run), before, hint)
  clusterAsDeclared(run, hint)
})

test('[F-35] a node that comes and goes every 30 s for an hour is never replaced; one that stays away is, once', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint, { agents: ['a1', 'a2'], spec: '  remediation: {dataMayGo: true}\n' })
  const before = lives(run)
  const untilMs = run.clock.now() + 60 * MINUTE
  let away = false
  const turn = () => {
    if (run.clock.now() >= untilMs) return
    away = !away
    cutOff(run, 'a1', away)
    run.clock.schedule(run.clock.now() + 30_000, turn)
  }
  turn()
  await keepFor(run, 61 * MINUTE)
  assert.deepEqual(lives(run), before, hint)
  cutOff(run, 'a1', false)
  await keepFor(run, 2 * MINUTE)
  cutOff(run, 'a2', true)
  const seen = new Set<string>()
  const each = () => {
    for (const { config } of run.datacentre.world.guests.values())
      if (config.get('name') === 'a2') seen.add(config.get('vmgenid') ?? '')
  }
  await keepFor(run, 30 * MINUTE, { each })
  assert.equal(seen.size, 2, `it was made ${seen.size - 1} times; ${hint}`)
  assert.equal((await follow(run, hint)).end, 'settled', hint)
  clusterAsDeclared(run, hint)
})
