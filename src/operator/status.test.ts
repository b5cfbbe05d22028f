import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findKind } from '../kinds/registry.ts'
import { at, type Foreign, recordsOf } from '../kubernetes/objects.ts'
import type { Condition, ResourceRecord } from '../model/record.ts'
import { declaredObject } from './objects.ts'
import { definitionStatus, instanceStatus } from './own-apis/shown-status.ts'
import { type KnownOfObject, statusPatch } from './status.ts'

const API = 'croft.dev/v1alpha1'

function pool(status: Foreign = {}) {
  const kind = findKind(API, 'ProxmoxPool')
  assert.ok(kind)
  const served = { kind, apiVersion: API, plural: 'proxmoxpools', namespaced: true }
  const metadata = { name: 'web', namespace: 'croft-system', generation: 3 }
  const declared = declaredObject(served, { metadata, status }, 'croft-system')
  assert.ok(declared)
  return declared
}

const condition = (type: Condition['type'], status: Condition['status'], reason: string, message = ''): Condition => ({
  type,
  status,
  reason,
  message,
  sinceMs: 0,
})

function told(
  conditions: readonly Condition[],
  status?: Foreign,
  { details, ...more }: Partial<KnownOfObject> & Pick<ResourceRecord, 'details'> = {},
): Foreign | undefined {
  const record = { key: 'ProxmoxPool/web', conditions, details } as Partial<ResourceRecord> as ResourceRecord
  const declared = pool(status)
  const known = {
    judged: declared.object,
    records: [record],
    problems: [],
    paused: false,
    kept: undefined,
    passed: true,
    ...more,
  }
  return statusPatch(declared, known, 0)
}

const shown = (patch: Foreign | undefined) =>
  recordsOf(at(patch, 'conditions')).map((one) => `${String(one.type)} ${String(one.status)} ${String(one.reason)}`)

const GOOD = [condition('Synced', 'True', 'InSync'), condition('Ready', 'True', 'Running')]
const STUCK = [
  condition('Synced', 'False', 'OutOfSync'),
  condition('Ready', 'False', 'Absent'),
  condition('Stalled', 'True', 'Refused', 'the storage is full'),
]

test('what a person must mend is Stalled, for kstatus and Argo CD, and not for longer than it is', () => {
  assert.deepEqual(shown(told(GOOD)), ['Synced True InSync', 'Ready True Running'], 'not said where it never was')
  const stuck = told(STUCK)
  assert.deepEqual(shown(stuck), ['Synced False OutOfSync', 'Ready False Absent', 'Stalled True Refused'])
  assert.equal(stuck?.observedGeneration, 3)
  assert.deepEqual(shown(told(GOOD, stuck)), ['Synced True InSync', 'Ready True Running', 'Stalled False NotStalled'])
  assert.equal(told(STUCK, stuck), undefined, 'said once')
})

const SAID = 'join: K10abcdef0123::server:hunter2'
const PROBLEM = {
  code: 'x',
  severity: 'error',
  message: SAID,
  origin: { file: 'a', line: 1, column: 1 },
} as const
const BAD = { status: 'False', reason: 'Refused', message: SAID } as const
const VERDICT = { problems: [SAID], unserved: SAID, holding: [], order: [] }

const TOLD: Readonly<Record<string, () => Foreign | undefined>> = {
  'what a system said': () => told([condition('Synced', 'False', 'Failed', SAID)]),
  'what a person must mend': () => told([...GOOD, condition('Stalled', 'True', 'Refused', SAID)]),
  'what is wrong with the declaration': () => told([], {}, { problems: [PROBLEM] }),
  'why a deletion is held': () => told(GOOD, {}, { kept: SAID }),
  'a fact': () => told(GOOD, {}, { details: { said: SAID, os: 'Debian' } }),
  'an instance of a graph': () => instanceStatus({}, 'kro', { synced: BAD, ready: BAD }, {}, 0),
  'an instance of a composition': () => instanceStatus({}, 'crossplane', { synced: BAD, ready: BAD }, {}, 0),
  'a definition': () => definitionStatus({}, 'kro', VERDICT, 0),
}

for (const [name, tell] of Object.entries(TOLD))
  test(`a status shows no secret: ${name}`, () => {
    const text = JSON.stringify(tell())
    assert.match(text, /\*\*\*/)
    assert.ok(!text.includes('hunter2'), text)
  })

test('what is masked is written once', () => {
  const said = [condition('Synced', 'False', 'Failed', SAID)]
  const facts = { details: { said: SAID, os: 'Debian' } }
  const first = told(said, {}, facts)
  assert.deepEqual(at(first, 'facts'), { said: 'join: ***', os: 'Debian' })
  assert.equal(told(said, first, facts), undefined)
})
