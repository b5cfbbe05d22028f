import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change, Resource } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import type { Step } from '../../model/step.ts'
import { estateOf, FAKE_RULES, guest, ledgerWith, machine, step, worldWith } from '../../plan/testing/fixture.ts'
import type { Identified } from '../../plan/things/identify-all.ts'
import { hostReadiness } from './host-readiness.ts'

const curl: Resource = {
  ...machine('box'),
  key: 'HostConfig/box/package/curl',
  desired: { type: 'item', item: { host: 'box', item: { type: 'package', name: 'curl' } } } as Resource['desired'],
}
const OURS: Identified = { identity: { is: 'ours', observed: guest(100) } } as Identified

function readiness(
  identified: Identified | undefined,
  changes: readonly Partial<Change>[] | 'no rules',
  disruption: Step['disruption'] = 'none',
) {
  const rules: Rules = {
    ...FAKE_RULES,
    diff: () => (changes === 'no rules' ? [] : changes) as readonly Change[],
    updateSteps: () => [step('configure', '100', { disruption })],
  }
  return hostReadiness(
    {
      estate: estateOf([curl]),
      worlds: new Map([['default', worldWith([])]]),
      rules: new Map(changes === 'no rules' ? [] : [['fake', rules]]),
      ledger: ledgerWith(),
    },
    new Map(identified === undefined ? [] : [[curl.key, identified]]),
  ).get('box')
}

test('a box is prepared when every item is known to be in place, and waits for its restart where one is needed', () => {
  const missing = { unprepared: 'package:curl of its HostConfig in place' }
  const blocked = { blocked: { message: 'it would be erased', allow: 'a person' } }
  assert.deepEqual(readiness(OURS, []), {})
  // If no rules compare an item, or it does not exist, its state is unknown.
  assert.deepEqual(readiness(OURS, 'no rules'), missing)
  assert.deepEqual(readiness(undefined, []), missing)
  assert.deepEqual(readiness({ identity: { is: 'absent' } } as Identified, []), missing)
  assert.deepEqual(readiness(OURS, [{ effect: 'live' }]), missing)
  assert.deepEqual(readiness(OURS, [{ effect: 'live' }], 'restart'), { ...missing, wantsRestart: 'package:curl' })
  // A change that waits for a person does not delay readiness, but an unpermitted restart does.
  assert.deepEqual(readiness(OURS, [{ effect: 'live', ...blocked }], 'restart'), {})
  assert.deepEqual(readiness(OURS, [{ effect: 'restart', ...blocked }], 'restart'), missing)
})

test('of a box whose connection was not surveyed nothing is known', () => {
  const unseen = { estate: estateOf([curl]), worlds: new Map(), rules: new Map(), ledger: ledgerWith() }
  const found = hostReadiness(unseen, new Map()).get('box')
  assert.deepEqual(found, { unprepared: 'to see what it has of its HostConfig' })
})
