import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PassReport } from '../../src/engine/engine.ts'
import type { Step } from '../../src/model/step.ts'
import { formed, nothingLeft, order, orderOf, running, untilPhase } from './power-run.ts'

test('[A41] [A43] [A45] [R28] a whole cluster goes off in the order of its tiers, stays off, and comes back as it was', async () => {
  const { simulation, process, storage, hint, replicas } = await formed(11)
  const seen: Step<'power'>[] = []
  const told = new Map<string, number>()
  const onPass = (report: PassReport) => {
    seen.push(...(report.powers?.[0]?.decision.steps ?? []))
    for (const { key, reason, atMs } of report.events)
      if (reason === 'Started' && key !== undefined) told.set(key, atMs)
  }
  await order(simulation, orderOf(simulation, 'off'))
  assert.equal(await untilPhase(simulation, process, 'Off', { onPass }), 'reached', hint)
  assert.deepEqual(running(simulation.datacentre), [], hint)
  // Nodes are marked before they are drained, and drained before storage clients stop where only that frees a volume.
  const early = ['mark-node', 'drain-node']
  const tiers = [...new Set(seen.filter(({ verb }) => !early.includes(verb)).map(({ tier }) => tier))]
  assert.deepEqual(tiers, ['gitops', 'operators', 'apps', 'databases', 'storage-clients', 'workers', 'servers'], hint)
  assert.deepEqual(storage.torn, [], hint)
  // Machines of one tier do not wait for each other, even where only one at a time may be restarted.
  for (const tier of [
    ['a1', 'a2'],
    ['s1', 's2', 's3'],
  ]) {
    const times = tier.map((name) => told.get(`Machine/${name}`) ?? Number.NaN)
    assert.ok(
      Math.max(...times) - Math.min(...times) < 2_000,
      `${tier.join()} were told to go at ${times.join()}; ${hint}`,
    )
  }

  // Another controller, and an hour: nothing is turned back on, and the state counts as healthy.
  process.kill()
  const next = simulation.start()
  let report: PassReport | undefined
  for (let pass = 0; pass < 12; pass++) {
    const signal = new AbortController().signal
    report = await simulation.clock.runUntil(next.engine.pass(simulation.estate, signal), { maxMs: 600_000 })
    await simulation.clock.advanceTo(simulation.clock.now() + 300_000)
  }
  assert.deepEqual(running(simulation.datacentre), [], hint)
  assert.equal(report?.powers?.[0]?.decision.phase, 'Off')
  assert.equal(report?.records.find(({ key }) => key === 'Cluster/homelab')?.status, 'Off')
  for (const record of report?.records.filter(({ type }) => type === 'vm' || type === 'cluster') ?? []) {
    assert.equal(record.conditions.find(({ type }) => type === 'Ready')?.status, 'True', `${record.key}; ${hint}`)
  }

  seen.length = 0
  await order(simulation, orderOf(simulation, 'on'))
  assert.equal(await untilPhase(simulation, next, 'On', { onPass }), 'reached', hint)
  const back = [...new Set(seen.map(({ verb, tier }) => (verb === 'restore' ? tier : verb)))]
  assert.deepEqual(
    back.filter((one) => !one.startsWith('start-')),
    ['unmark-node', 'storage-clients', 'databases', 'apps', 'operators', 'gitops'],
    hint,
  )
  nothingLeft(simulation, replicas, hint)
})
