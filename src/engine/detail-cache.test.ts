import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../lib/limits.ts'
import type { ObservedResource } from '../model/resource.ts'
import type { Step } from '../model/step.ts'
import { forgetForSweep, isGoodFor, remember } from './detail-cache.ts'

const NOW = 1_760_000_000_000
const close = { config: {}, atMs: NOW - LIMITS.surveyLagMs, power: 'running' } as const
const before: ObservedResource = {
  connection: 'default',
  externalId: '105',
  type: 'vm',
  host: 'pve1',
  name: 'web',
  power: 'running',
  uptimeSeconds: 100,
  mark: { uid: 'aa', estate: 'default' },
  close,
}

const survey = (more: Partial<ObservedResource> = {}): ObservedResource => {
  const { close: _, ...seen } = before
  return { ...seen, ...more }
}

test('what was read closely counts until a survey shows a change', () => {
  const table: readonly (readonly [
    what: string,
    now: ObservedResource,
    kept: boolean,
    was?: Partial<ObservedResource>,
  ])[] = [
    ['nothing', survey(), true],
    ['another name', survey({ name: 'other' }), false],
    ['the name that the survey had then', survey({ name: 'old' }), true, { close: { ...close, surveyedName: 'old' } }],
    [
      'the first status of a new one',
      survey({ name: 'VM 105' }),
      true,
      { power: 'unknown', close: { ...close, atMs: NOW } },
    ],
    ['a status that is not late', survey({ name: 'VM 105' }), false, { power: 'unknown' }],
    ['another host', survey({ host: 'pve2' }), false],
    ['a lock', survey({ lock: 'backup' }), false],
    ['a template', survey({ template: true }), false],
    ['another mark', survey({ mark: { uid: 'bb' } }), false],
    ['a restart', survey({ uptimeSeconds: 99 }), false],
    ['the same uptime', survey({ uptimeSeconds: 100 }), true],
    ['another power than then', survey({ power: 'stopped' }), false],
    // The guest reported running while the survey still showed it stopped.
    ['a survey that lags', survey({ power: 'stopped' }), true, { power: 'stopped', close: { ...close, atMs: NOW } }],
    ['a survey that lags no longer', survey({ power: 'stopped' }), false, { power: 'stopped' }],
    ['a survey that knows nothing yet', survey({ power: 'unknown' }), true, { power: 'unknown' }],
    ['a survey that knows nothing any more', survey({ power: 'unknown' }), false],
    ['neither of both', survey({ power: 'paused' }), false, { power: 'stopped', close: { ...close, atMs: NOW } }],
  ]
  for (const [what, now, kept, was = {}] of table) {
    const looks = new Map([['105', { ...before, ...was }]])
    const merged = remember(looks, [now], NOW)
    assert.equal(merged.get('105')?.close !== undefined, kept, what)
    assert.equal(looks.has('105'), kept, what)
  }
})

test('a step is done only on what was read in this pass, or with the version that was read', () => {
  const step = (more: Partial<Step>): Step =>
    ({ verb: 'configure', lane: 'rest', call: { method: 'PUT', path: '/', params: {} }, ...more }) as Step
  const old = (ageMs: number): ObservedResource => ({ ...before, close: { ...close, atMs: NOW - ageMs } })
  const withDigest = { call: { method: 'PUT', path: '/', params: { digest: 'x' } } } as Partial<Step>
  const table: readonly (readonly [what: string, step: Step, observed: ObservedResource | undefined, good: boolean])[] =
    [
      ['nothing was there to read', step({}), undefined, true],
      ['never read closely', step({}), survey(), true],
      ['read in this pass', step({}), old(0), true],
      ['read before it', step({}), old(1), false],
      ['read before it, with the version', step(withDigest), old(1), true],
      ['a deletion, read a moment ago', step({ verb: 'delete' }), old(LIMITS.deleteLookMs - 1), true],
      ['a deletion, read long ago', step({ verb: 'delete' }), old(LIMITS.deleteLookMs), false],
      ['a deletion as root', step({ verb: 'delete', lane: 'commands' }), old(1), false],
    ]
  for (const [what, one, observed, good] of table) assert.equal(isGoodFor(one, observed, NOW), good, what)
})

test('the oldest looks are read anew first', () => {
  const at = (atMs: number): ObservedResource => ({ ...before, close: { ...close, atMs } })
  const facts = () => ({
    looks: new Map([
      ['a', at(2)],
      ['b', at(1)],
      ['c', at(3)],
    ]),
    close: new Map([['b', at(1)]]),
  })
  const one = facts()
  forgetForSweep(one, 1)
  assert.deepEqual([[...one.looks.keys()], [...one.close.keys()]], [['a', 'c'], []])
  const none = facts()
  forgetForSweep(none, 0)
  assert.equal(none.looks.size, 3)
})
