import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Estate } from '../../model/estate.ts'
import type { ClusterPlan } from '../../model/observed-cluster.ts'
import { firstAct, secondAct } from './rehearse-clusters.ts'

const machine = { key: 'Machine/s1', desired: { type: 'vm' } }
const other = { key: 'Machine/other', desired: { type: 'vm' } }

function estateOf(resources: readonly object[]): Estate {
  const cluster = {
    key: 'Cluster/home',
    name: 'home',
    spec: { version: 'v1.35.2+k3s1', servers: [{ machine: { key: 'Machine/s1' } }], agents: [] },
    checksums: { a: 'b' },
  }
  return { resources, clusters: [cluster] } as unknown as Estate
}

const looks = [
  {
    declaration: { key: 'Cluster/home' },
    observed: { api: 'yes', nodes: [{ kube: { version: 'v1.34.3+k3s1' } }] },
  },
] as unknown as readonly ClusterPlan[]

const versionIn = (estate: Estate | undefined) => estate?.clusters?.map(({ spec }) => spec.version)

test('the first act of a rehearsal stays the first act where machines keep the addresses that they have', () => {
  const again = estateOf([machine, other])
  const { estate, keys } = firstAct({ ...estateOf([machine, other]), keeping: () => again }, looks)
  assert.deepEqual([...keys], ['Cluster/home', 'Machine/s1'])
  for (const one of [estate, estate?.keeping?.(new Map())]) {
    assert.deepEqual(versionIn(one), ['v1.34.3+k3s1'])
    assert.deepEqual([one?.resources.map(({ key }) => key), one?.incomplete], [['Machine/s1'], true])
  }
})

test('the second act asks for no checksum of a real program where machines keep the addresses that they have', () => {
  const again = estateOf([machine])
  const estate = secondAct({ ...again, keeping: () => again })
  for (const one of [estate, estate.keeping?.(new Map())]) {
    assert.deepEqual(versionIn(one), ['v1.35.2+k3s1'])
    assert.equal(JSON.stringify(one?.clusters).includes('"a":"b"'), false)
  }
})
