import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { renderDescription } from './describe.ts'
import { type ResourceRow, renderResources, resourceJson } from './resources.ts'
import { COLOURED, PLAIN } from './text.ts'

const NOW = 1_800_000_000_000
const record: ResourceRecord = {
  key: 'EnvironmentVM/k3s-vm-fun-bedbug',
  uid: 'abc',
  connection: 'default',
  type: 'vm',
  generation: 'g1',
  externalId: '114',
  host: 'fun-bedbug',
  policy: { ...DEFAULT_POLICY, deletion: 'Orphan' },
  conditions: [
    { type: 'Synced', status: 'True', reason: 'AsDeclared', message: '', sinceMs: NOW - 120_000 },
    {
      type: 'Ready',
      status: 'False',
      reason: 'Booting',
      message: 'the agent does not answer yet',
      sinceMs: NOW - 60_000,
    },
  ],
  createdMs: NOW - (5 * 24 + 18) * 3_600_000,
  status: 'Booting',
  details: { ip: '192.168.4.203' },
}
const row: ResourceRow = {
  key: record.key,
  kind: 'EnvironmentVM',
  name: 'k3s-vm-fun-bedbug',
  labels: { role: 'server' },
  origin: { file: 'vm.yaml', line: 1, column: 1, commit: 'a1b2c3d4e5' },
  record,
  passive: false,
}
const unapplied: ResourceRow = {
  key: 'Machine/a',
  kind: 'Machine',
  name: 'a',
  labels: {},
  origin: { file: 'a.yaml', line: 2, column: 1 },
  passive: false,
}
const view = { wide: false, headers: true, qualified: false, nowMs: NOW }

test('the table has the columns that users of kubectl know', () => {
  assert.equal(
    renderResources([row, unapplied], PLAIN, view),
    `NAME                SYNCED    READY     STATUS          AGE
k3s-vm-fun-bedbug   True      False     Booting         5d18h
a                   Unknown   Unknown   NotYetApplied   <none>
`,
  )
})

test('wide adds host, id, address, revision and the message', () => {
  assert.equal(
    renderResources([row], PLAIN, { ...view, wide: true, headers: false, qualified: true }),
    'EnvironmentVM/k3s-vm-fun-bedbug   True   False   Booting   5d18h   fun-bedbug   114   192.168.4.203   a1b2c3d   the agent does not answer yet\n',
  )
})

test('colour only repeats what the words say', () => {
  const coloured = renderResources([row], COLOURED, view)
  assert.equal(coloured.replace(/\x1b\[\d+m/g, ''), renderResources([row], PLAIN, view))
  assert.match(coloured, /\x1b\[32mTrue\x1b\[39m/)
})

test('[S-16] a wide or lying name keeps the columns in line', () => {
  const lying: ResourceRow = { ...unapplied, name: '名前\x1b[31m' }
  assert.equal(
    renderResources([lying], PLAIN, view),
    `NAME   SYNCED    READY     STATUS          AGE
名前   Unknown   Unknown   NotYetApplied   <none>
`,
  )
})

test('as JSON a resource looks like a Kubernetes object with a status', () => {
  const json = resourceJson(row) as {
    kind: string
    metadata: { name: string; uid: string }
    status: { conditions: unknown[] }
  }
  assert.equal(json.kind, 'EnvironmentVM')
  assert.equal(json.metadata.uid, 'abc')
  assert.equal(json.status.conditions.length, 2)
})

test('describe shows conditions, the run of failures and the events', () => {
  const failing: ResourceRow = {
    ...row,
    record: {
      ...record,
      failure: {
        kind: 'failing',
        reason: 'Locked',
        message: 'VM 114 is locked (backup)',
        count: 3,
        firstMs: NOW - 90_000,
        lastMs: NOW - 10_000,
        nextAttemptMs: NOW + 20_000,
      },
    },
  }
  const event = {
    seq: 1,
    atMs: NOW - 30_000,
    type: 'Normal',
    reason: 'Created',
    message: 'VM 114',
    commit: 'a1b2c3d4e5',
  } as const
  assert.equal(
    renderDescription(failing, { needs: ['Image/noble'], events: [{ ...event, key: row.key }], nowMs: NOW }, PLAIN),
    `Name:         k3s-vm-fun-bedbug
Kind:         EnvironmentVM
Labels:       role=server
Declared:     vm.yaml:1:1@a1b2c3d
Status:       Booting
Connection:   default
External id:  114 on fun-bedbug
UID:          abc
Policy:       deletion Orphan
Needs:        Image/noble
ip:           192.168.4.203

Conditions:
  TYPE     STATUS   REASON       SINCE   MESSAGE
  Synced   True     AsDeclared   2m
  Ready    False    Booting      60s     the agent does not answer yet

Failure:
  Locked: VM 114 is locked (backup)
  3 times, first 90s ago, last 10s ago
  next attempt in 20s

Events:
  LAST SEEN   TYPE     REASON    MESSAGE
  30s         Normal   Created   VM 114 (a1b2c3d)
`,
  )
})
