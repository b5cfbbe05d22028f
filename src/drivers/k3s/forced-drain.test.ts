import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterSpec } from '../../model/cluster.ts'
import { allReady, driverLab } from './testing/lab.ts'

const upgrade: ClusterSpec['upgrade'] = {
  method: 'inPlace',
  drain: { timeoutMs: 20_000, onTimeout: 'force' },
  soakMs: 1000,
  nodeTimeoutMs: 600_000,
  healthChecks: [],
  windows: [],
  agentsSurge: 1,
}

test('a pod that hangs in Terminating is deleted for as long again, then named, and the node goes on when it is gone', async () => {
  const lab = driverLab('s1 a1', { upgrade })
  await lab.until(allReady('s1 a1'), 900)
  await lab.clock.advanceTo(lab.clock.now() + 60_000)
  const metadata = { name: 'hangs', finalizers: ['example.com/never'] }
  const spec = { nodeName: 'a1', containers: [{ name: 'c', image: 'x' }] }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec, status: { phase: 'Running' } }
  assert.equal((await lab.call('POST', '/api/v1/namespaces/default/pods', pod)).status, 201)
  lab.spec = {
    ...lab.spec,
    agents: lab.spec.agents.map((agent) => ({ ...agent, flags: { 'kubelet-arg': ['max-pods=50'] } })),
  }
  lab.restart()
  await assert.rejects(lab.until(() => false, 120))
  const before = lab.done.length
  const { decision } = await lab.look()
  const hold = decision.holds.find(({ guard }) => guard === 'drain')
  assert.match(hold?.reason ?? '', /1 pod left on a1, .*default\/hangs hangs in Terminating.*example\.com\/never/)
  await assert.rejects(lab.until(() => false, 30))
  assert.equal(lab.done.length, before, 'nothing is repeated')
  await lab.call('PATCH', '/api/v1/namespaces/default/pods/hangs', { metadata: { finalizers: null } })
  await lab.until(() => lab.done.slice(before).some(({ step }) => step.verb === 'configure-k3s'), 60)
})
