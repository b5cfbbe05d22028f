import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reinstall } from '../../sim/metal/box.ts'
import { addBoot } from '../../sim/metal/host-state.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { etcdOf, nodesOf } from './cluster-oracle.ts'
import { applied, BOXES, farm, type HostsRun, simulateHosts } from './hosts-run.ts'
import { replay, seeds } from './volume.ts'

const FILE = 'hosts-again.test.ts'

/** Everything that makes a cluster this one. */
function identityOf(run: HostsRun, hint: string): object {
  const cluster = etcdOf(run, hint)
  assert.ok(cluster, hint)
  return {
    nodes: nodesOf(cluster)
      .map(({ metadata, status }) => `${metadata.name} ${status?.nodeInfo?.kubeletVersion}`)
      .sort(),
    config: BOXES.map((name) => run.textOf(name, '/etc/rancher/k3s/config.yaml')),
    files: BOXES.map((name) =>
      ['/etc/rancher/k3s/kubelet.yaml', '/etc/ssh/sshd_config.d/00-croft.conf'].map((path) => run.textOf(name, path)),
    ),
  }
}

test('three boxes destroyed and applied again give an identical cluster, with a new store', async () => {
  for (const seed of seeds(1, 20)) {
    const hint = replay(FILE, seed)
    const run = simulateHosts({ seed, estate: farm() })
    await applied(run, hint)
    const before = identityOf(run, hint)
    for (const name of BOXES) {
      reinstall(run.datacentre.world, run.box(name), { instanceId: `${name}-2`, userData: '#cloud-config\n{}\n' })
      addBoot(run.box(name), name === 'duck' ? 'grub' : 'raspberry-pi')
    }
    run.datacentre.world.k3s.clusters.clear()
    // The cluster is gone with its boxes; a new cluster does not keep the old one's secrets.
    run.vault.kept.clear()
    run.disk = createMemoryStore().disk
    await run.clock.advanceTo(run.clock.now() + 600_000)
    assert.equal(run.box('cow').machine.k3s?.process, undefined, 'nothing of K3s is left: else nothing is proved')
    await applied(run, hint)
    assert.deepEqual(identityOf(run, hint), before, hint)
  }
})
