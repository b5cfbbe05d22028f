import assert from 'node:assert/strict'
import { test } from 'node:test'
import { remediationsOver } from './remediation-over.ts'
import { NOW, type NodeTurn, observedCluster } from './testing/fixture.ts'

const BEGUN = new Map([['a1', { atMs: NOW }]])
const WORK = { purpose: 'remediate', target: 'remediate', sinceMs: NOW, cordoned: true } as const

const CASES: Readonly<Record<string, readonly [NodeTurn, boolean]>> = {
  'its machine is gone': [{ machine: { exists: 'no' }, kube: 'absent' }, true],
  'nobody can say whether its machine is gone': [{ machine: { exists: 'unknown' }, kube: 'absent' }, false],
  'the old machine is still there, out of the cluster': [{ kube: 'absent' }, false],
  'it is dead and marked': [{ kube: { ready: 'no', work: WORK } }, false],
  'it is back, and our mark is still on it': [{ kube: { ready: 'yes', work: WORK } }, false],
  'it is back and was given back': [{ kube: { ready: 'yes' } }, true],
  'the cluster cannot be asked': [{ kube: 'unknown' }, false],
}

for (const [what, [turn, over]] of Object.entries(CASES))
  test(`a replacement that was begun: ${what}: it is ${over ? '' : 'not '}over`, () => {
    const observed = observedCluster('s1 a1', { a1: turn })
    assert.deepEqual(remediationsOver(BEGUN, observed), over ? ['a1'] : [])
    assert.deepEqual(remediationsOver(new Map([['a1', { atMs: NOW, over: true }]]), observed), [])
    assert.deepEqual(remediationsOver(new Map(), observed), [])
  })
