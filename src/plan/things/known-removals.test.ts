import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { isKnownToLeave } from './known-removals.ts'

const SEEN = { connection: 'default', externalId: '100', mark: { uid: 'u1' } }
const RECORD = {
  key: 'Machine/web',
  uid: 'u1',
  type: 'vm',
  connection: 'default',
  externalId: '100',
  generation: 'g',
  declaredBy: 'git',
  policy: { ...DEFAULT_POLICY, deletion: 'Delete' },
} as unknown as ResourceRecord

test('only the record of this very guest says that it leaves before it is read', () => {
  const cases: readonly (readonly [string, boolean, Partial<ResourceRecord> | undefined])[] = [
    ['its record', true, {}],
    ['a container', true, { type: 'container' }],
    ['none', false, undefined],
    ['of another uid', false, { uid: 'u2' }],
    ['of another id: this one is a copy of it', false, { externalId: '101' }],
    ['of another connection', false, { connection: 'other' }],
    ['that keeps it', false, { policy: { ...DEFAULT_POLICY, deletion: 'Orphan' } }],
    ['of a server of a cluster', false, { policy: { ...RECORD.policy, serverOf: 'Cluster/a' } }],
    ['of a node of a cluster', false, { details: { cluster: 'a' } }],
    ['of another source', false, { declaredBy: 'elsewhere' }],
    ['of something else', false, { type: 'file' }],
  ]
  for (const [name, expected, more] of cases) {
    const record = more === undefined ? undefined : { ...RECORD, ...more }
    assert.equal(isKnownToLeave(SEEN, record, { sources: ['git'] }, []), expected, name)
  }
  const { declaredBy: _, ...seen } = RECORD
  assert.equal(isKnownToLeave(SEEN, { ...seen, generation: '' }, { sources: ['git'] }, []), false, 'only ever seen')
})
