import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PassReport } from '../../engine/engine.ts'
import { atOnce } from '../../lib/in-turns.ts'
import type { Connection } from '../../model/estate.ts'
import type { SshTarget } from '../../model/secret.ts'
import { coordinate } from '../../plan/clusters/coordinate.ts'
import { NOW as CLUSTER_NOW, clusterSpec, observedCluster } from '../../plan/clusters/testing/fixture.ts'
import { viewOf } from './view.ts'

const origin = { file: 'hosts.yaml', line: 1, column: 1 }
const connection = (name: string, more: Partial<Connection>): Connection => ({
  name,
  driver: 'ssh',
  endpoint: '',
  estate: 'default',
  ids: { from: 0, to: 0 },
  limits: { perHost: 1, perStorage: 1, reads: 1 },
  origin,
  ...more,
})
const target = (address: string, more: Partial<SshTarget> = {}): SshTarget => ({
  name: 'cow',
  address,
  port: 22,
  user: 'root',
  hostKeys: [],
  sudo: 'none',
  ...more,
})

test('a connection says which computers its hosts are, so that a box is counted once', () => {
  const connections = [
    connection('default', { driver: 'proxmox', hosts: { pve3: target('10.0.0.3', { port: 2222 }) } }),
    connection('host/cow', { ssh: target('fd00::3') }),
    connection('host/calf', { ssh: target('10.0.0.4', { jump: target('10.0.0.1') }) }),
    connection('host/here', { ssh: target('localhost', { local: true }) }),
    connection('plain', { driver: 'proxmox' }),
  ]
  const estate = {
    revision: 'r',
    connections,
    resources: [],
    approvals: [],
    unreadable: [],
    incomplete: false,
    problems: [],
  }
  assert.deepEqual(
    atOnce(viewOf({ sources: [], estate, drifts: [], checks: [] })).connections.map(({ computers }) => computers),
    [
      { pve3: '10.0.0.3:2222' },
      { '': '[fd00::3]:22' },
      { '': '10.0.0.4:22 by 10.0.0.1:22' },
      { '': 'local' },
      undefined,
    ],
  )
})

test('a cluster that was formed and does not answer says since when; one that forms does not', () => {
  const seen = (api: 'yes' | 'no', formed: boolean, status: 'True' | 'Unknown') => {
    const observed = observedCluster('s1 s2 s3', {}, { api })
    const { identity } = observed
    assert.ok(identity !== undefined)
    const look = {
      declaration: { key: 'Cluster/home', name: 'home', spec: clusterSpec('s1 s2 s3') },
      observed: { ...observed, identity: { ...identity, formed } },
      decision: coordinate(clusterSpec('s1 s2 s3'), { ...observed, identity: { ...identity, formed } }, CLUSTER_NOW),
    }
    const condition = { type: 'Ready', status, reason: '', message: '', sinceMs: 5 }
    const report = {
      plan: { entries: [], notes: [], problems: [], clusters: [look] },
      records: [{ key: 'Cluster/home', conditions: [condition] }],
    } as unknown as PassReport
    const [cluster] = atOnce(viewOf({ sources: [], drifts: [], checks: [], report })).clusters
    return cluster?.unseenSinceMs
  }
  assert.equal(seen('no', true, 'Unknown'), 5)
  assert.equal(seen('no', false, 'Unknown'), undefined)
  assert.equal(seen('yes', true, 'True'), undefined)
})

test('what the plan alone knows, such as what an instance became late, has the place that the plan gives it', () => {
  const estate = { revision: 'r', connections: [], resources: [], approvals: [], unreadable: [], incomplete: false }
  const entry = { key: 'Machine/late', uid: 'u', connection: 'default', type: 'vm', action: { do: 'none' }, origin }
  const report = { plan: { entries: [entry], notes: [], problems: [] }, records: [] } as unknown as PassReport
  const view = atOnce(viewOf({ sources: [], estate: { ...estate, problems: [] }, drifts: [], checks: [], report }))
  assert.deepEqual(view.resources[0]?.origin, { file: 'hosts.yaml', line: 1 })
})
