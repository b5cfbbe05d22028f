import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedResource } from '../../model/resource.ts'
import { leaveGuestSteps } from './guest-steps.ts'

const UID = '0123456789abcdef'
const LINE = `croft: owner=Machine/web estate=home id=101 uid=${UID}`
const guest = (config: Readonly<Record<string, string>>): ObservedResource => ({
  connection: 'lab',
  type: 'vm',
  externalId: '101',
  host: 'still-fawn',
  close: { config, digest: 'd1', atMs: 0 },
})

const CASES: readonly (readonly [what: string, config: Record<string, string>, params: object | undefined])[] = [
  ['nothing else there', { tags: `croft;croft-${UID}`, description: LINE }, { delete: 'tags,description' }],
  [
    'a person’s tags and words',
    { tags: `Precious;croft;croft-${UID}`, description: `of the attic\n${LINE}` },
    { tags: 'Precious', description: 'of the attic' },
  ],
  ['tags taken away by a person', { description: `of the attic\n${LINE}` }, { description: 'of the attic' }],
  ['only tags left', { tags: `croft,croft-${UID}` }, { delete: 'tags' }],
  ['tags that only look like it', { tags: 'croft-keepers', description: 'see croft: the docs' }, undefined],
  ['no mark', { tags: 'a;b', description: 'c' }, undefined],
]

for (const [what, config, params] of CASES)
  test(`leaving a guest touches tags and description alone: ${what}`, () => {
    const steps = leaveGuestSteps(guest({ ...config, memory: '2048' }))
    if (params === undefined) return assert.deepEqual(steps, [])
    const [step, ...more] = steps
    assert.ok(step?.lane === 'rest' && more.length === 0)
    assert.deepEqual(step.call, {
      method: 'PUT',
      path: '/nodes/still-fawn/qemu/101/config',
      params: { ...params, digest: 'd1' },
    })
  })
