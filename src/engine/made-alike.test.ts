import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../lib/limits.ts'
import type { MissingFact } from '../model/plan.ts'
import type { ObservedResource } from '../model/resource.ts'
import type { Step } from '../model/step.ts'
import { guest, NOW } from '../plan/testing/fixture.ts'
import { samplesOf, showsNothingElse } from './made-alike.ts'

const STEP = { verb: 'create', lane: 'rest', host: 'alpha' } as unknown as Step
const made = (words = 'a') => ({ step: STEP, words, atMs: NOW })
const seen = (more: Partial<ObservedResource> = {}): ObservedResource => ({
  ...guest(100, { of: 'Machine/a', power: 'stopped', seenOnly: true }),
  ...more,
})

const CASES: readonly (readonly [string, ObservedResource, boolean])[] = [
  ['our mark and no lock', seen(), true],
  ['a power that the survey does not know yet', seen({ power: 'unknown' }), true],
  ['that somebody started it', seen({ power: 'running' }), false],
  ['a lock', seen({ lock: 'create' }), false],
  ['no mark', guest(100, { seenOnly: true, power: 'stopped' }), false],
  ['another host', seen({ host: 'beta' }), false],
  ['a template', seen({ template: true }), false],
]
for (const [what, observed, counts] of CASES)
  test(`a new guest of which the survey shows ${what} ${counts ? 'counts' : 'does not count'} as made`, () => {
    assert.equal(showsNothingElse(observed, made(), NOW), counts)
  })

test('what was made long ago is read', () => {
  assert.equal(showsNothingElse(seen(), made(), NOW + LIMITS.asMadeMs), false)
})

test('one of each is read, all of those of which one was read already, and whatever was made otherwise', () => {
  const config = (externalId: string): MissingFact => ({ look: 'config', externalId })
  const memory = {
    made: new Map([...'123'].map((id) => [id, made('a')] as const).concat([...'45'].map((id) => [id, made('b')]))),
    sampled: new Set<string>(),
  }
  const ids = () =>
    samplesOf([...'123456'].map(config), memory).flatMap((fact) => ('externalId' in fact ? fact.externalId : []))
  assert.deepEqual(ids(), ['1', '4', '6'])
  memory.sampled.add('a')
  assert.deepEqual(ids(), ['1', '2', '3', '4', '6'])
})
