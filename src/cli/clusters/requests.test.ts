import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../lib/limits.ts'
import { type ClusterRequests, NO_REQUESTS, type OperationAt } from '../../model/observed-cluster.ts'
import { withProgress } from './requests.ts'

const HELD: ClusterRequests = { ...NO_REQUESTS, hold: { reason: 'is being restored', allow: 'wait' } }
const at = (sinceMs: number, name = 'restore of edge'): OperationAt => ({
  name,
  verb: 'stop-k3s',
  node: 'edge-1',
  summary: `at ${sinceMs}`,
  sinceMs,
})
const told = (...steps: readonly OperationAt[]) => {
  const { operation } = steps.reduce(withProgress, HELD).hold ?? {}
  return [...(operation?.before ?? []), ...(operation === undefined ? [] : [operation])].map(({ sinceMs }) => sinceMs)
}

test('an operation keeps the steps that it has behind it, once each', () => {
  assert.deepEqual(told(at(1), at(2), at(3)), [1, 2, 3])
})

test('another operation, and one that is run again long after it was interrupted, begin anew', () => {
  assert.deepEqual(told(at(1), at(2, 'rotation of edge')), [2])
  const later = 2 + LIMITS.operationStepMs
  assert.deepEqual(told(at(1), at(later), at(later + 1)), [later, later + 1])
})

test('no more steps are kept than anybody draws, and none where nobody holds', () => {
  const many = Array.from({ length: LIMITS.operationTrail + 10 }, (_, index) => at(index))
  assert.equal(told(...many).length, LIMITS.operationTrail + 1)
  assert.equal(withProgress(NO_REQUESTS, at(1)), NO_REQUESTS)
})
