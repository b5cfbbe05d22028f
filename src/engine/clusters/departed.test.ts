import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_POLICY, type ResourceKey } from '../../model/declaration.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { departedClusters } from './departed.ts'

function record(
  key: ResourceKey,
  type: ResourceRecord['type'],
  details?: Readonly<Record<string, string>>,
): ResourceRecord {
  return {
    key,
    uid: '0123456789abcdef',
    connection: '',
    type,
    generation: '1',
    policy: DEFAULT_POLICY,
    conditions: [],
    createdMs: 0,
    status: 'Ready',
    ...(details === undefined ? {} : { details }),
  }
}

const cluster = record('Cluster/lab', 'cluster', { servers: 'Machine/a Machine/b' })
const keys = (records: readonly ResourceRecord[]) => records.map(({ key, status }) => `${key} ${status}`)

for (const [what, left, leaving, over] of [
  ['all its servers are still there', ['Machine/a', 'Machine/b'], ['Cluster/lab Leaving'], []],
  ['one of them is', ['Machine/b'], ['Cluster/lab Leaving'], []],
  ['none is, and others are', ['Machine/c'], [], ['Cluster/lab Ready']],
] as const)
  test(`a cluster that Git declares no more, and ${what}`, () => {
    const records = new Map(left.map((key) => [key, record(key, 'vm')] as const))
    const departed = departedClusters([cluster, record('Machine/x', 'vm')], records)
    assert.deepEqual([keys(departed.leaving), keys(departed.over)], [leaving, over])
  })

test('of a cluster on boxes that were there before, nobody says that it is over', () => {
  assert.deepEqual(departedClusters([record('Cluster/metal', 'cluster', { nodes: '3/3' })], new Map()), {
    leaving: [],
    over: [],
  })
})
