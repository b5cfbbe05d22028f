import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { moveFolder } from '../../../sim/k3s/disk.ts'
import { startService, stopService } from '../../../sim/k3s/service.ts'
import { CONFIG_FILE } from '../../k3s/config.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import { allReady, type DriverLab, driverLab } from './testing/lab.ts'

const DATA = '/var/lib/rancher/k3s'

const votes = (count: number) => (observed: ObservedCluster) =>
  observed.members !== 'unknown' &&
  observed.members.length === count &&
  observed.members.every(({ learner, up }) => !learner && up === 'yes')

async function formed(names: string): Promise<DriverLab> {
  const lab = driverLab(names)
  const count = names.split(' ').length
  await lab.until((observed) => allReady(names)(observed) && votes(count)(observed), 1800)
  await lab.clock.advanceTo(lab.clock.now() + 600_000)
  lab.done.length = 0
  return lab
}

/** A server's disk is not mounted at its next start. */
async function startEmpty(lab: DriverLab, name: string): Promise<void> {
  const { computer, machine } = lab.box(name)
  stopService(computer)
  await lab.clock.advanceTo(lab.clock.now() + 10_000)
  moveFolder(machine.files, DATA, '/unmounted')
  // As before croft gave a first server the way to the others.
  const config = machine.files.text(CONFIG_FILE) ?? ''
  machine.files.write(CONFIG_FILE, Buffer.from(config.replace(/^"server": .*$/m, '"cluster-init": true')))
  startService(computer)
  await lab.clock.advanceTo(lab.clock.now() + 60_000)
}

async function mountAgain(lab: DriverLab, name: string): Promise<void> {
  const { computer, machine } = lab.box(name)
  stopService(computer)
  await lab.clock.advanceTo(lab.clock.now() + 10_000)
  machine.files.remove(DATA)
  moveFolder(machine.files, '/unmounted', DATA)
}

describe('a first server that starts on an empty disk begins a cluster of its own', () => {
  for (const names of ['s1 s2 s3', 's1 s2 s3 s4 s5']) {
    test(`beside ${names.split(' ').length - 1} healthy servers: they are left alone, it is named, and it is back with its disk`, async () => {
      const lab = await formed(names)
      const others = names.split(' ').slice(1)
      const before = others.map((name) => lab.box(name).machine.k3s?.process)
      await startEmpty(lab, 's1')
      assert.equal(lab.world.k3s.clusters.size, 2)
      const [own, second] = [...lab.world.k3s.clusters.values()]
      assert.ok(
        [...(second?.members.keys() ?? [])].every((id) => own?.members.has(id)),
        'its member has the same id',
      )
      for (const restarted of [false, true]) {
        if (restarted) lab.restart()
        for (let round = 0; round < 20; round++) {
          const { observed, decision } = await lab.look()
          assert.deepEqual(
            decision.steps.filter(({ verb }) => verb !== 'cordon').map(({ verb, node }) => `${verb} ${node}`),
            [],
          )
          assert.deepEqual(
            observed.strangers?.map(({ node }) => node),
            ['s1'],
          )
          assert.match(
            decision.refusals.find(({ node }) => node === 's1')?.reason ?? '',
            /s1 runs a cluster of its own/,
          )
          await lab.clock.advanceTo(lab.clock.now() + 60_000)
        }
      }
      assert.deepEqual(
        others.map((name) => lab.box(name).machine.k3s?.process === before[others.indexOf(name)]),
        others.map(() => true),
        'no other server was started anew',
      )
      await mountAgain(lab, 's1')
      await lab.until((observed) => allReady(names)(observed) && votes(names.split(' ').length)(observed), 600)
      assert.deepEqual([...new Set(lab.done.map(({ step }) => `${step.verb} ${step.node}`))], ['restart-k3s s1'])
    })
  }
})
