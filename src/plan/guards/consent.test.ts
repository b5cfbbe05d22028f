import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Consent } from '../../model/consent.ts'
import { destroying, removed } from '../../model/destruction.ts'
import type { Action, Doing } from '../../model/plan.ts'
import type { Change } from '../../model/resource.ts'
import { guest, step } from '../testing/fixture.ts'
import { consentTo, shownList } from './consent.ts'

const ENTRY = { connection: 'home', type: 'vm' } as const
const memory: Change = { path: 'memory', from: 1, to: 2, effect: 'live' }
const cores: Change = { path: 'cores', from: 3, to: 2, effect: 'restart' }
const pending: Change = { path: 'restart', from: 'pending', to: 'done', effect: 'restart' }
const password: Change = { path: 'password', from: 'hunter2', to: 'hunter3', effect: 'live', secret: true }
const update = (...changes: readonly Change[]): Action & Doing => ({
  do: 'update',
  externalId: '100',
  changes,
  steps: [step('configure', '100')],
  reason: 'differs',
})
const create = (externalId: string): Action & Doing => ({
  do: 'create',
  externalId,
  host: 'alpha',
  steps: [step('create', externalId)],
  reason: 'gone',
})
const remove = (externalId: string, disks: readonly string[] = []): Action & Doing => ({
  do: 'delete',
  externalId,
  host: 'alpha',
  steps: [step('delete', externalId, destroying(removed(guest(Number(externalId)), disks)))],
  reason: 'no longer declared',
})
const scraped: Action & Doing = {
  ...create('100'),
  steps: [
    { ...step('delete', '100'), summary: 'delete what was left of 100', disruption: 'data-loss' },
    step('create', '100'),
  ],
} as never

type Shown = readonly [Action & Doing]
const CASES: readonly [string, Shown | undefined, Shown, boolean][] = [
  ['a change as a person saw it', [update(memory)], [update(memory)], true],
  ['what is left of it', [update(memory, cores)], [update(memory)], true],
  ['the restart that makes it take effect', [update(memory)], [update(memory, pending)], true],
  ['another value than the person saw', [update({ ...memory, from: 7 })], [update(memory)], false],
  ['another aim than the person saw', [update({ ...memory, to: 7 })], [update(memory)], false],
  ['another field', [update(cores)], [update(memory)], false],
  [
    'the same change that destroys the thing by now',
    [update(memory)],
    [update({ ...memory, effect: 'replace' })],
    false,
  ],
  ['something gone, seen gone, under another id', [create('100')], [create('101')], true],
  ['something gone, seen changed', [update(memory)], [create('100')], false],
  ['something changed, seen gone', [create('100')], [update(memory)], false],
  ['a creation that deletes what is left of an earlier one by now', [create('100')], [scraped], false],
  ['a deletion after a change', [update(memory)], [remove('100', ['scsi1'])], false],
  ['a deletion with the disks that were shown', [remove('100', ['scsi1', 'scsi2'])], [remove('100', ['scsi2'])], true],
  ['a deletion with one disk more', [remove('100', ['scsi1'])], [remove('100', ['scsi1', 'scsi2'])], false],
  ['a deletion of another thing', [remove('100')], [remove('101')], false],
  ['ignored drift, whatever the fields are', undefined, [update(memory, cores)], true],
  ['ignored drift, and the thing is gone by now', undefined, [create('100')], false],
  ['ignored drift, and the thing is to be deleted by now', undefined, [remove('100')], false],
]

for (const [name, seen, [action], covered] of CASES)
  test(`[D-07] a consent ${covered ? 'covers' : 'does not cover'}: ${name}`, () => {
    const shown = seen === undefined ? undefined : shownList(ENTRY, ...seen)
    const consent: Consent = { by: 'page:anna', key: 'Machine/a', guard: 'drift', shown }
    const list = shownList(ENTRY, action)
    assert.equal(consentTo([consent], 'Machine/a', 'drift', action, list), covered ? consent : undefined)
    assert.equal(consentTo([consent], 'Machine/a', 'data-disks', action, list), undefined, 'another guard')
    assert.equal(consentTo([consent], 'Machine/b', 'drift', action, list), undefined, 'another resource')
  })

test('the list names the thing, the data, and each field from → to, without a secret', () => {
  assert.deepEqual(shownList(ENTRY, update(memory, password)), [
    'update vm 100 on home',
    'memory: 1 → 2',
    'password: *** → ***',
  ])
  assert.deepEqual(shownList(ENTRY, remove('100', ['scsi1'])), ['delete vm 100 on home', 'with the data on scsi1'])
})
