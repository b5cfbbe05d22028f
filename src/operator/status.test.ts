import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findKind } from '../kinds/registry.ts'
import { at, type Foreign, recordsOf } from '../kubernetes/objects.ts'
import type { Condition, ResourceRecord } from '../model/record.ts'
import { declaredObject } from './objects.ts'
import { statusPatch } from './status.ts'

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

function told(conditions: readonly Condition[], status?: Foreign): Foreign | undefined {
  const record = { key: 'ProxmoxPool/web', conditions } as Partial<ResourceRecord> as ResourceRecord
  const declared = pool(status)
  const known = {
    judged: declared.object,
    records: [record],
    problems: [],
    paused: false,
    kept: undefined,
    passed: true,
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
