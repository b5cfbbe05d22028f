import assert from 'node:assert/strict'
import { test } from 'node:test'
import { all, put } from '../../sim/kubernetes/store.ts'
import { etcdOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'
import { powerManifest, running, until as runUntil } from './power-run.ts'

test('[A46] duck sleeps when it is idle, is healthy so, and a pod that selects it wakes it', async () => {
  const spec = '  agents:\n    - {name: duck, host: fun-bedbug, power: onDemand, labels: {gpu: "yes"}}\n'
  const simulation = simulateCluster({
    seed: 41,
    estate: clusterEstate(
      clusterManifest({ servers: ['s1'], spec: `${spec}  allow: {degraded: true}\n` }) + powerManifest('  idle: 60s\n'),
    ),
  })
  const process = simulation.start()
  const duck = () => [...simulation.datacentre.world.guests.values()].find((one) => one.config.get('name') === 'duck')
  const until = (want: () => boolean, mostMs: number) => runUntil(simulation, process, want, mostMs)
  const nodes = () => {
    const cluster = etcdOf(simulation, '')
    return cluster === undefined ? [] : all(cluster.store, '/nodes').map(({ metadata }) => metadata.name)
  }
  assert.ok(await until(() => nodes().includes('duck'), 1_800_000), 'duck never joined')
  assert.ok(await until(() => duck()?.run.status === 'stopped', 1_800_000), 'duck never went to sleep')
  const cluster = etcdOf(simulation, '')
  assert.ok(cluster)

  const asleep = await until(() => simulation.clock.now() > 0, 60_000)
  const power = asleep?.powers?.[0]?.decision
  assert.equal(power?.phase, 'On')
  assert.deepEqual(power?.asleep, ['duck'])
  const before = running(simulation.datacentre).length
  await until(() => false, 300_000)
  assert.equal(running(simulation.datacentre).length, before, 'it was healed back on')

  put(cluster.store, '/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'train', namespace: 'default', uid: 'train' },
    spec: { nodeSelector: { gpu: 'yes' }, containers: [{ name: 'main', image: 'example/train:1' }] },
    status: { phase: 'Pending' },
  })
  const runs = () => {
    const pod = all(cluster.store, '/pods').find(({ metadata }) => metadata.name === 'train')
    return (pod?.status as { phase?: string } | undefined)?.phase === 'Running'
  }
  assert.ok(await until(runs, 900_000), 'the pod never ran')
  assert.equal(duck()?.run.status, 'running')
})
