// The first server's configuration for its join, once others vote.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { moveFolder } from '../../../sim/k3s/disk.ts'
import { startService, stopService } from '../../../sim/k3s/service.ts'
import { allReady, type DriverLab, driverLab } from './testing/lab.ts'

const CONFIG = '/etc/rancher/k3s/config.yaml'
const configOf = (lab: DriverLab, name = 's1') => lab.box(name).machine.files.text(CONFIG) ?? ''

async function formed(names: string): Promise<DriverLab> {
  const lab = driverLab(names)
  await lab.until(allReady(names), 1800)
  await lab.clock.advanceTo(lab.clock.now() + 600_000)
  lab.restart()
  await settled(lab)
  return lab
}

async function settled(lab: DriverLab): Promise<void> {
  let quiet = 0
  for (let round = 0; round < 100 && quiet < 3; round++) {
    await lab.until(() => false, 1).catch(() => undefined)
    quiet = (await lab.look()).decision.steps.length === 0 ? quiet + 1 : 0
  }
}

test('cluster-init becomes server: once a second server votes, without a restart, also where it was kept until now', async () => {
  const lab = await formed('s1 s2 s3')
  assert.match(configOf(lab), /^"server": "https:\/\/10\.67\.0\.[23]:6443"$/m)
  assert.doesNotMatch(configOf(lab), /cluster-init/)
  const began = lab.box('s1').machine.k3s?.process
  const old = configOf(lab).replace(/^"server": .*$/m, '"cluster-init": true')
  lab.box('s1').machine.files.write(CONFIG, Buffer.from(old))
  lab.restart()
  lab.done.length = 0
  await settled(lab)
  assert.doesNotMatch(configOf(lab), /cluster-init/)
  assert.deepEqual(
    lab.done.map(({ step: { verb, node } }) => `${verb} ${node}`),
    ['put-files s1'],
  )
  assert.equal(lab.box('s1').machine.k3s?.process, began, 'K3s was not restarted')
})

test('a first server whose disk is not mounted at its next start begins no second cluster', async () => {
  const lab = await formed('s1 s2 s3')
  const { computer, machine } = lab.box('s1')
  stopService(computer)
  await lab.clock.advanceTo(lab.clock.now() + 10_000)
  moveFolder(machine.files, '/var/lib/rancher/k3s', '/unmounted')
  startService(computer)
  await lab.clock.advanceTo(lab.clock.now() + 120_000)
  assert.equal(lab.world.k3s.clusters.size, 1)
})

test('a single server keeps it', async () => {
  const lab = await formed('s1 a1')
  assert.match(configOf(lab), /^"cluster-init": true$/m)
})
