import assert from 'node:assert/strict'
import { test } from 'node:test'
import { all } from '../../sim/kubernetes/store.ts'
import type { PassReport } from '../../src/engine/engine.ts'
import type { Step } from '../../src/model/step.ts'
import { addonManifest } from './addon-manifests.ts'
import { etcdOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'
import { nothingLeft, order, orderOf, powerManifest, replicasOf, running, untilPhase } from './power-run.ts'
import { attachStorage } from './power-storage.ts'

/* A site whose storage and object store are in the cluster itself, as presets install them from the real charts. */

const ADDONS = [
  addonManifest('coredns', '  preset: coredns'),
  addonManifest('rook-ceph', '  preset: rook-ceph\n  needs: [coredns]\n  with: {devices: ^sdb, monitors: 3}'),
  addonManifest(
    'garage',
    '  preset: garage\n  needs: [rook-ceph]\n  with: {nodes: 3, capacity: 10Gi, storageClass: ceph-block}\n  secrets: [{name: garage, data: {rpc: {env: KEY}, admin: {env: KEY}}}]',
  ),
  addonManifest('argocd', '  preset: argocd\n  needs: [coredns]'),
  addonManifest(
    'cert-manager',
    '  preset: cert-manager\n  needs: [coredns]\n  with: {issuers: [{name: inner, selfSigned: true}]}',
  ),
  addonManifest('metallb', '  preset: metallb\n  with: {pools: [{name: lan, ranges: [192.168.4.200-192.168.4.219]}]}'),
].join('')

test('[A41] [A44] [A45] a site with Rook and Garage goes off and comes on: volumes are off before their attacher goes, and names answer before anything runs', async () => {
  const hint = 'seed 23'
  const manifests = clusterManifest({ agents: ['a1'], spec: '  disable: [coredns, servicelb, traefik]\n' })
  const simulation = simulateCluster({ seed: 23, estate: clusterEstate(manifests + ADDONS + powerManifest()) })
  const process = simulation.start()
  let attached = false
  const settled = await simulation.untilSettled(process, {
    mostMs: 7_200_000,
    onPass: () => {
      const etcd = etcdOf(simulation, hint)
      if (attached || etcd === undefined) return
      attached = true
      storage = attachStorage(simulation, etcd)
    },
  })
  assert.equal(settled, 'settled', hint)
  const cluster = etcdOf(simulation, hint)
  assert.ok(cluster && storage)
  const { store } = cluster
  const attachments = () => all(store, 'storage.k8s.io/volumeattachments').map(({ metadata }) => metadata.name)
  assert.deepEqual(
    all(store, 'apps/deployments')
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.endsWith('ctrlplugin')),
    ['rook-ceph.rbd.csi.ceph.com-ctrlplugin', 'rook-ceph.cephfs.csi.ceph.com-ctrlplugin'],
  )
  assert.equal(attachments().length, 3, 'a volume of Garage on three nodes')
  const replicas = replicasOf(cluster)

  const seen: Step<'power'>[] = []
  const wrong: string[] = []
  const onPass = (report: PassReport) => {
    const steps = report.powers?.[0]?.decision.steps ?? []
    seen.push(...steps)
    for (const { tier, workload } of steps)
      if (tier === 'storage-clients' && workload?.name.endsWith('ctrlplugin') && attachments().length > 0)
        wrong.push(`${workload.name} goes with ${attachments().join(', ')} attached`)
  }
  await order(simulation, orderOf(simulation, 'off'))
  assert.equal(await untilPhase(simulation, process, 'Off', { onPass }), 'reached', hint)
  assert.deepEqual([wrong, storage.torn, running(simulation.datacentre)], [[], [], []], hint)
  const paused = seen.filter(({ verb }) => verb === 'pause').map(({ tier, workload }) => `${tier} ${workload?.name}`)
  for (const one of [
    'gitops argocd-application-controller',
    'operators rook-ceph-operator',
    'operators ceph-csi-controller-manager',
    'databases garage',
    'storage-clients rook-ceph.rbd.csi.ceph.com-ctrlplugin',
  ])
    assert.ok(paused.includes(one), `${one}; ${[...new Set(paused)].join(', ')}`)
  for (const stays of ['coredns', 'metallb-controller', 'cert-manager-webhook', 'rook-ceph-osd-0', 'rook-ceph-mon-a'])
    assert.ok(!paused.some((one) => one.endsWith(` ${stays}`)), `${stays} stops with its node`)

  seen.length = 0
  await order(simulation, orderOf(simulation, 'on'))
  assert.equal(await untilPhase(simulation, process, 'On', { onPass }), 'reached', hint)
  const freed = seen.findIndex(({ verb }) => verb === 'unmark-node')
  assert.ok(freed >= 0)
  nothingLeft(simulation, replicas, hint)
  assert.equal(await simulation.untilSettled(process, { mostMs: 3_600_000 }), 'settled', hint)
  assert.equal(attachments().length, 3, hint)
  assert.deepEqual(storage.lost(), [], hint)
})

let storage: ReturnType<typeof attachStorage> | undefined
