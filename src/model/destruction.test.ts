import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LosingNode, losingData, losingMachine } from './destruction.ts'
import type { LocalK3s } from './observed-cluster.ts'
import { toldStep } from './shown-step.ts'

const disk = (facts: Partial<LocalK3s>): LosingNode => ({
  name: 's2',
  k3s: { service: 'stopped', sinceMs: 0, data: '3f2a9c0d', ...facts },
})

test('a step of a cluster says what K3s holds on the node that it empties, as this pass has seen it', () => {
  const table: readonly [string, LosingNode, readonly string[]][] = [
    ['a voter', disk({ datastore: 'etcd' }), ['its copy of the data of etcd']],
    ['the only server', disk({ datastore: 'sqlite' }), ['the SQLite database, which is the only copy']],
    ['an agent', disk({ role: 'agent' }), []],
    ['a clean disk', disk({ data: 'none', datastore: 'etcd' }), []],
    ['nobody has looked', { name: 's2', k3s: 'unknown' }, ['whatever is on its disk, which nobody has read']],
  ]
  for (const [what, node, takes] of table) {
    assert.deepEqual(losingData(node, 'ordered').destroys.takes, takes, what)
    assert.deepEqual(losingMachine(node, 'ordered').destroys.takes, [...takes, 'its disks'], what)
  }
})

test('plan, page and notices print it behind what the step does', () => {
  const told = toldStep({ summary: 'wipe K3s from s2', ...losingData(disk({ datastore: 'etcd' }), 'ordered') })
  assert.equal(told, 'wipe K3s from s2 (takes its copy of the data of etcd)')
})
