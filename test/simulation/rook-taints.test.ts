import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tree } from '../../sim/kubernetes/object.ts'
import { all } from '../../sim/kubernetes/store.ts'
import { addonManifest } from './addon-manifests.ts'
import { etcdOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'

test('Rook on a cluster whose servers carry a taint puts its daemons on the agents, and its CephCluster becomes Ready', async () => {
  const manifests = clusterManifest({ agents: ['a1'] }).replaceAll(
    /\{name: (s\d), host: ([a-z-]+)\}/g,
    '{name: $1, host: $2, taints: ["node-role.kubernetes.io/control-plane=true:NoSchedule"]}',
  )
  const rook = addonManifest('rook-ceph', '  preset: rook-ceph\n  with: {devices: ^sdb, monitors: 1, replicas: 1}')
  const simulation = simulateCluster({ seed: 31, estate: clusterEstate(manifests + rook) })
  assert.equal(await simulation.untilSettled(simulation.start(), { mostMs: 7_200_000 }), 'settled')
  const cluster = etcdOf(simulation, 'seed 31')
  assert.ok(cluster)
  const phases = (place: string) => all(cluster.store, place).map(({ status }) => tree(status).phase)
  assert.deepEqual(phases('ceph.rook.io/cephclusters'), ['Ready'])
  assert.deepEqual(phases('ceph.rook.io/cephblockpools'), ['Ready'])
})
