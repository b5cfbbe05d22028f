import assert from 'node:assert/strict'
import { test } from 'node:test'
import { all, put, remove } from '../../sim/kubernetes/store.ts'
import { switchOff } from '../../sim/metal/box.ts'
import { etcdOf } from './cluster-oracle.ts'
import { metalCluster } from './power-metal.ts'
import { order, orderOf, until, untilPhase } from './power-run.ts'

test('[A46] duck, a box of its own: off is healthy, a pod that selects it has a packet sent, idleness puts it to sleep', async () => {
  const simulation = await metalCluster(
    61,
    [
      { name: 's1', by: 'bmc' },
      { name: 'duck', by: 'packet' },
    ],
    '  allow: {degraded: true}\n  servers: [{name: s1, machine: Host/s1}]\n' +
      '  agents: [{name: duck, machine: Host/duck, power: onDemand, labels: {gpu: "yes"}}]\n',
    '  idle: 60s\n',
  )
  const { packets, datacentre } = simulation
  const duck = datacentre.world.metal.get('duck')
  const cluster = etcdOf(simulation, '')
  assert.ok(duck && cluster)
  const process = simulation.start()
  assert.ok(await until(simulation, process, () => duck.power === 'off', 1_800_000), 'duck never went to sleep')
  assert.deepEqual(packets, [])
  const asleep = await until(simulation, process, ({ settled }) => settled, 120_000)
  const decision = asleep?.powers?.[0]?.decision
  assert.deepEqual([decision?.phase, decision?.asleep], ['On', ['duck']])
  const power = asleep?.records.find(({ key }) => key === 'Power/homelab')
  assert.equal(power?.conditions.find(({ type }) => type === 'Ready')?.status, 'True')
  await until(simulation, process, () => false, 300_000)
  assert.deepEqual([duck.power, packets], ['off', []], 'it was healed back on')

  put(cluster.store, '/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'train', namespace: 'default', uid: 'train' },
    spec: { nodeSelector: { gpu: 'yes' }, containers: [{ name: 'main', image: 'example/train:1' }] },
    status: { phase: 'Pending' },
  })
  const runs = () =>
    all(cluster.store, '/pods').some(
      ({ metadata, status }) =>
        metadata.name === 'train' && (status as { phase?: string } | undefined)?.phase === 'Running',
    )
  assert.ok(await until(simulation, process, runs, 900_000), 'the pod never ran')
  assert.deepEqual(new Set(packets), new Set([duck.mac]))
  // While it has something to run it stays.
  await until(simulation, process, () => false, 180_000)
  assert.equal(duck.power, 'on')
  remove(cluster.store, '/pods', 'default', 'train')
  assert.ok(await until(simulation, process, () => duck.power === 'off', 1_800_000), 'it never slept again')
  assert.deepEqual([...cluster.members.values()].length, 1, 'duck has a vote')
})

test('[F-30] boxes by Redfish: replies are lost and the power fails in the middle; no box is ever cycled', async () => {
  const names = ['s1', 's2', 's3'] as const
  const simulation = await metalCluster(
    62,
    names.map((name) => ({ name, by: 'bmc' })),
    `  servers: [${names.map((name) => `{name: ${name}, machine: Host/${name}}`).join(', ')}]\n`,
    '',
  )
  const { world } = simulation.datacentre
  const boxes = names.flatMap((name) => world.metal.get(name) ?? [])
  const lives = () => boxes.map(({ life }) => life)
  const process = simulation.start()
  for (const box of boxes) box.bmcRepliesLost = 1
  await order(simulation, orderOf(simulation, 'off'))
  assert.equal(await untilPhase(simulation, process, 'Off', { mostMs: 1_800_000 }), 'reached')
  for (const box of boxes) assert.equal(box.power, 'off')

  const before = lives()
  for (const box of boxes) {
    box.resets.length = 0
    box.bmcRepliesLost = 1
  }
  await order(simulation, orderOf(simulation, 'on'))
  // The second server loses its power while it boots, and comes back when it is asked again: it alone.
  let lost = false
  const onPass = () => {
    const [, box] = boxes
    if (lost || box?.power !== 'on' || box.booted) return
    lost = true
    switchOff(world, box)
  }
  assert.equal(await untilPhase(simulation, process, 'On', { mostMs: 3_600_000, onPass }), 'reached')
  assert.ok(lost)
  for (const box of boxes) {
    assert.deepEqual([...new Set(box.resets)], ['On'], `${box.name}: ${box.resets.join()}`)
    assert.equal(box.booted, true)
  }
  // A life more for each start, and one for the loss: only the one that lost its power was started twice.
  assert.deepEqual(
    lives().map((life, at) => life - (before[at] ?? 0)),
    [1, 3, 1],
  )
})
