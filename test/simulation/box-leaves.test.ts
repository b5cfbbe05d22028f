import assert from 'node:assert/strict'
import { test } from 'node:test'
import { installedVersion, unitRole } from '../../sim/k3s/disk.ts'
import type { PassReport } from '../../src/engine/engine.ts'
import { etcdOf } from './cluster-oracle.ts'
import { hostsEstate } from './hosts-run.ts'
import { metalCluster, metalManifests } from './power-metal.ts'
import { until } from './power-run.ts'

const NAMES = ['b1', 'b2', 'b3', 'b4'] as const
const BOXES = NAMES.map((name) => ({ name, by: 'packet' }) as const)
const node = (name: string) => `{name: ${name}, machine: Host/${name}}`
const nodes = (servers: readonly string[], agents: readonly string[]) =>
  `  servers: [${servers.map(node).join(', ')}]\n${agents.length === 0 ? '' : `  agents: [${agents.map(node).join(', ')}]\n`}`

async function formed(seed: number, servers: readonly string[], agents: readonly string[]) {
  const simulation = await metalCluster(seed, BOXES, nodes(servers, agents), '')
  const { world } = simulation.datacentre
  const box = (name: string) => {
    const found = world.metal.get(name)
    assert.ok(found)
    return found
  }
  return {
    simulation,
    box,
    /** Is K3s of any cluster set up on it? */
    has: (name: string) => unitRole(box(name).machine.files) !== undefined,
    declare: (inGit: readonly string[], nowServers: readonly string[], nowAgents: readonly string[]) => {
      const declared = BOXES.filter(({ name }) => inGit.includes(name))
      simulation.estate = hostsEstate(metalManifests(declared, nodes(nowServers, nowAgents), ''))
    },
  }
}

test('an agent on a box leaves: K3s is stopped and taken off, though Git names the box only as a Host', async () => {
  const { simulation, has, declare, box } = await formed(71, ['b1', 'b2', 'b3'], ['b4'])
  assert.ok(has('b4'))
  declare(NAMES, ['b1', 'b2', 'b3'], [])
  const report = await until(simulation, simulation.start(), ({ settled }) => settled && !has('b4'), 1_800_000)
  assert.ok(report, 'K3s is still on b4')
  assert.ok(installedVersion(box('b4').machine.files) !== undefined, 'the program itself stays')
  assert.equal(etcdOf(simulation, '')?.kubelets.size, 3)
})

test('a server on a box leaves and another takes its place: its vote goes, and so does its K3s', async () => {
  const { simulation, has, declare } = await formed(72, ['b1', 'b2', 'b3'], ['b4'])
  declare(NAMES, ['b1', 'b2', 'b3'], [])
  const process = simulation.start()
  assert.ok(await until(simulation, process, ({ settled }) => settled && !has('b4'), 1_800_000))
  declare(NAMES, ['b1', 'b2', 'b4'], [])
  const cluster = () => etcdOf(simulation, '')
  const done = await until(simulation, process, ({ settled }) => settled && !has('b3'), 3_600_000)
  assert.ok(done, 'K3s is still on b3')
  const members = [...(cluster()?.members.values() ?? [])].map(({ name }) => name.slice(0, 2)).sort()
  assert.deepEqual(members, ['b1', 'b2', 'b4'])
})

test('one that cannot be reached when it leaves is cleared when it is back', async () => {
  const { simulation, has, declare, box } = await formed(73, ['b1', 'b2', 'b3'], ['b4'])
  box('b4').trouble.noNetwork = true
  await simulation.clock.advanceTo(simulation.clock.now() + 120_000)
  declare(NAMES, ['b1', 'b2', 'b3'], [])
  const process = simulation.start()
  const left = ({ clusters = [] }: PassReport) =>
    clusters.every(({ decision }) => decision.phase === 'Ready' && decision.steps.length === 0) &&
    etcdOf(simulation, '')?.store.tables.get('/nodes')?.size === 3
  assert.ok(await until(simulation, process, left, 1_800_000), 'a box that is away holds everything')
  assert.ok(has('b4'))
  box('b4').trouble.noNetwork = false
  assert.ok(await until(simulation, process, ({ settled }) => settled && !has('b4'), 1_800_000), 'K3s is still on b4')
})
