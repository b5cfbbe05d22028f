import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addBoot } from '../../sim/metal/host-state.ts'
import { etcdOf, nodesOf } from './cluster-oracle.ts'
import { applied, BOXES, example, farm, hostsEstate, simulateHosts } from './hosts-run.ts'
import { replay } from './volume.ts'

const FILE = 'hosts-alike.test.ts'

test('[A15] three Raspberry Pis: each is restarted for its words before K3s comes to it, with one command', async () => {
  const hint = replay(FILE, 1)
  const hosts = example('host-config/hosts.yaml').replaceAll(/board: \w+[\w-]*/g, 'board: raspberry-pi')
  const estate = hostsEstate([hosts, example('host-config/k3s-ready.yaml'), example('k3s-metal/cluster.yaml')])
  const run = simulateHosts({ seed: 1, estate })
  addBoot(run.box('duck'), 'raspberry-pi')
  await applied(run, hint)
  for (const name of BOXES) {
    assert.equal(run.deedsOf(name).filter((deed) => deed === 'boot').length, 1, `${name} restarted once; ${hint}`)
    assert.match(run.textOf(name, '/proc/cmdline'), /cgroup_memory=1 cgroup_enable=memory$/m, hint)
  }
  const cluster = etcdOf(run, hint)
  assert.ok(cluster, hint)
  assert.equal(nodesOf(cluster).length, 3, hint)
})

test('[A17] two boxes whose cards were copied: the pair is named, and neither counts as Ready', async () => {
  const run = simulateHosts({ seed: 1, estate: farm() })
  for (const name of ['cow', 'sheep']) {
    run.box(name).machine.system.machineId = 'd'.repeat(32)
    run.box(name).machine.files.write('/etc/machine-id', `${'d'.repeat(32)}\n`)
  }
  const reports = await run.passes(run.start(), 150)
  const decision = reports.at(-1)?.clusters?.[0]?.decision
  const twins = decision?.nodes.filter(({ name }) => name !== 'duck') ?? []
  assert.equal(twins.length, 2)
  assert.ok(
    twins.every(({ phase }) => phase !== 'Ready'),
    JSON.stringify(twins),
  )
  assert.match(JSON.stringify(decision), /cow and sheep|sheep and cow/, 'both are named')
})
