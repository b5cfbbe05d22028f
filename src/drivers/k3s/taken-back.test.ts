// Git reverts an upgrade while the new program is being downloaded.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { switchOff, switchOn } from '../../../sim/metal/box.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import { allReady, driverLab, LAB_VERSION } from './testing/lab.ts'

const NAMES = 's1 s2 s3'
const NEXT = 'v1.35.0+k3s1'
const well = (observed: ObservedCluster) =>
  allReady(NAMES)(observed) &&
  observed.members !== 'unknown' &&
  observed.members.length === 3 &&
  observed.members.every(({ learner, up }) => !learner && up === 'yes')
const upgrade: ClusterSpec['upgrade'] = {
  method: 'inPlace',
  drain: { timeoutMs: 60_000, onTimeout: 'wait' },
  soakMs: 1000,
  nodeTimeoutMs: 600_000,
  healthChecks: [],
  windows: [],
  agentsSurge: 1,
}

const versions = ({ nodes }: ObservedCluster) =>
  nodes.map(({ kube, k3s }) => [typeof kube === 'object' ? kube.version : kube, k3s === 'unknown' ? k3s : k3s.version])

test('an upgrade that is taken back while its program is fetched does not happen at the next power cut', async () => {
  const lab = driverLab(NAMES, { upgrade })
  await lab.until(well, 900)
  await lab.clock.advanceTo(lab.clock.now() + 120_000)
  const before = lab.spec
  lab.spec = { ...before, version: NEXT }
  lab.restart()
  const fetching = () => lab.done.find(({ step, outcome }) => step.version === NEXT && outcome.result === 'started')
  await lab.until(() => fetching() !== undefined, 900)
  const node = fetching()?.step.node ?? ''
  lab.spec = before
  lab.restart()
  await lab.clock.advanceTo(lab.clock.now() + 180_000)
  await lab.until(well, 300)
  assert.equal(
    JSON.parse((await lab.clock.runUntil(askFacts(node))).stdout).fetched,
    NEXT,
    'it lies beside the one that runs',
  )
  switchOff(lab.world, lab.box(node))
  await lab.clock.advanceTo(lab.clock.now() + 30_000)
  switchOn(lab.world, lab.box(node))
  await lab.clock.advanceTo(lab.clock.now() + 180_000)
  lab.restart()
  assert.deepEqual(versions(await lab.until(well, 600)), Array(3).fill([LAB_VERSION, LAB_VERSION]))
  lab.spec = { ...before, version: NEXT }
  lab.restart()
  const upgraded = await lab.until((seen) => well(seen) && versions(seen).every(([one]) => one === NEXT), 3000)
  assert.deepEqual(versions(upgraded), Array(3).fill([NEXT, NEXT]))

  function askFacts(name: string) {
    const shell = lab.surroundings().nodes.get(name)?.shell
    assert.ok(shell)
    return shell.run(['/usr/local/lib/croft/node', 'facts'])
  }
})

test('a program that lies on a disk and that nobody wants is exchanged for the one that runs', async () => {
  const lab = driverLab('s1', { upgrade })
  await lab.until(allReady('s1'))
  await lab.clock.advanceTo(lab.clock.now() + 120_000)
  const { files } = lab.box('s1').machine
  files.write('/usr/local/bin/k3s', (files.text('/usr/local/bin/k3s') ?? '').replace(LAB_VERSION, NEXT))
  lab.restart()
  const seen = await lab.until((observed) => versions(observed)[0]?.[1] === LAB_VERSION, 300)
  assert.deepEqual(versions(seen), [[LAB_VERSION, LAB_VERSION]])
  const step = lab.done.find((one) => one.step.verb === 'prepare-k3s' && one.step.target !== undefined)?.step
  assert.match(step?.summary ?? '', /put K3s .* back on s1/)
})
