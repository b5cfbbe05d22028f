import assert from 'node:assert/strict'
import { test } from 'node:test'
import { switchOff, wake } from '../../sim/metal/box.ts'
import { etcdOf, nodesOf } from './cluster-oracle.ts'
import { applied, BOXES, farm, simulateHosts } from './hosts-run.ts'
import { quietFor } from './oracle.ts'
import { replay, seeds } from './volume.ts'

const FILE = 'hosts.test.ts'

test('[A15] words for the kernel, prerequisites and K3s come to three boxes in this order, with one command', async () => {
  for (const seed of seeds(1, 50)) {
    const hint = replay(FILE, seed)
    const run = simulateHosts({ seed, estate: farm() })
    await applied(run, hint)
    const cluster = etcdOf(run, hint)
    assert.ok(cluster, hint)
    assert.deepEqual(
      nodesOf(cluster)
        .map(({ metadata }) => metadata.name)
        .sort(),
      [...BOXES].sort(),
      hint,
    )
    assert.match(run.textOf('cow', '/etc/rancher/k3s/config.yaml'), /fd12:3456:789a:14::2/, 'both families')
    for (const name of ['cow', 'sheep'])
      assert.equal(run.deedsOf(name).filter((deed) => deed === 'boot').length, 1, `${name} restarted once; ${hint}`)
    assert.equal(run.deedsOf('duck').filter((deed) => deed === 'boot').length, 0, 'duck needs no restart')
    assert.equal(run.deedsOf('cow').filter((deed) => deed.startsWith('mkfs.btrfs')).length, 1, hint)
    await quietFor(run, 5, hint)
    const { surveys = [] } = (await run.passes(run.start(), 1)).at(-1) ?? {}
    const cow = surveys.flatMap(({ hosts }) => hosts).find(({ name }) => name === 'cow')
    assert.deepEqual([cow?.temperatureC, cow?.load], [47, 0.1], 'what its sensors show comes with the look')
  }
})

test('duck sleeps until it is needed: that is healthy, and what Git wants of it meanwhile waits for it', async () => {
  const hint = replay(FILE, 1)
  const run = simulateHosts({ seed: 1, estate: farm() })
  await applied(run, hint)
  switchOff(run.datacentre.world, run.box('duck'), true)
  await run.clock.advanceTo(run.clock.now() + 120_000)
  const process = run.start()
  const reports = await run.passes(process, 12)
  const last = reports.at(-1)
  assert.equal(last?.effects, 0)
  const rows = last?.clusters?.[0]?.decision.nodes ?? []
  assert.equal(rows.find(({ name }) => name === 'duck')?.phase, 'PoweredOff')
  assert.deepEqual(
    last?.plan.entries
      .filter(({ key, action }) => action.do !== 'nothing' && !key.includes('@duck/'))
      .map(({ key }) => key),
    [],
    'the others are not disturbed',
  )
  wake(run.datacentre.world, '6C:4B:90:00:00:04')
  // No pass waits for an unreachable host: it is up before the next look.
  await run.clock.advanceTo(run.clock.now() + 300_000)
  await applied(run, hint)
  await quietFor(run, 3, hint)
})
