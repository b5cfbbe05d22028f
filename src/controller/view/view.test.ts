import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atOnce } from '../../lib/in-turns.ts'
import type { Connection } from '../../model/estate.ts'
import type { SshTarget } from '../../model/secret.ts'
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
