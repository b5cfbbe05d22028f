import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LabelSet, NodeLabels } from '../model/observed-cluster.ts'
import { changeText, labelChange } from './node-labels.ts'

const NONE: LabelSet = { labels: {}, taints: [] }
const set = (labels: Readonly<Record<string, string>>, ...taints: string[]): LabelSet => ({ labels, taints })
const seen = (more: Partial<NodeLabels>): NodeLabels => ({ ...NONE, started: NONE, ...more })

const ROWS: readonly [string, LabelSet, NodeLabels, string | undefined][] = [
  ['nothing is declared, and others labelled it', NONE, seen(set({ zone: 'a' }, 'x:NoSchedule')), undefined],
  ['as declared and noted', set({ a: '1' }), seen({ labels: { a: '1' }, noted: set({ a: '1' }) }), undefined],
  [
    'as declared, and not noted yet',
    set({ a: '1' }),
    seen({ labels: { a: '1' } }),
    "a note of which labels and taints are croft's",
  ],
  ['a person changed it', set({ a: '1' }), seen({ labels: { a: '2' }, noted: set({ a: '1' }) }), 'label a=1'],
  ['removed in Git, noted', NONE, seen({ labels: { a: '1', b: '1' }, noted: set({ a: '1' }) }), 'without label a'],
  [
    'removed in Git, set by K3s from our flags',
    NONE,
    seen({ labels: { a: '1' }, started: set({ a: '1' }) }),
    'without label a',
  ],
  [
    'another set it to what the node joined with, after it was removed in Git',
    NONE,
    seen({ labels: { a: '1' }, taints: ['x:NoSchedule'], started: set({ a: '1' }, 'x:NoSchedule'), noted: NONE }),
    undefined,
  ],
  [
    'removed in Git, and another value by another',
    NONE,
    seen({ labels: { a: '2' }, started: set({ a: '1' }) }),
    undefined,
  ],
  [
    'gone already, still noted',
    NONE,
    seen({ noted: set({ a: '1' }) }),
    "a note of which labels and taints are croft's",
  ],
  [
    'another value of a taint',
    set({}, 'gpu=db:NoSchedule'),
    seen({
      taints: ['gpu=ml:NoSchedule', 'node.kubernetes.io/unreachable:NoExecute'],
      started: set({}, 'gpu=ml:NoSchedule'),
    }),
    'taint gpu=db:NoSchedule, without taint gpu=ml:NoSchedule',
  ],
  [
    'another effect of a key, set by another',
    set({}, 'gpu:NoSchedule'),
    seen({ taints: ['gpu:NoExecute'] }),
    'taint gpu:NoSchedule',
  ],
  [
    'a taint without a value is one',
    set({}, 'gpu=:NoSchedule'),
    seen({ taints: ['gpu:NoSchedule'], noted: set({}, 'gpu:NoSchedule') }),
    undefined,
  ],
  [
    'a taint that left Git',
    NONE,
    seen({ taints: ['gpu:NoSchedule', 'x:NoSchedule'], noted: set({}, 'gpu:NoSchedule') }),
    'without taint gpu:NoSchedule',
  ],
  ['a label called as a field of every object', set({ constructor: 'x' }), seen({}), 'label constructor=x'],
]

for (const [what, declared, node, text] of ROWS)
  test(`labels and taints: ${what}`, () => {
    const change = labelChange(declared, node)
    assert.equal(change === undefined ? undefined : changeText(change), text)
  })
