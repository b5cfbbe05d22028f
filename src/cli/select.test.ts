import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kind } from '../kinds/kind.ts'
import type { ResourceRow } from './render/resources.ts'
import { findKind, matches, parseKey, parseSelection } from './select.ts'

const kind = (name: string, plural: string, shortNames: readonly string[]): Kind =>
  ({ kind: name, plural, shortNames }) as unknown as Kind
const KINDS = [kind('Machine', 'machines', ['m']), kind('EnvironmentVM', 'environmentvms', ['evm'])]
const row = (labels: Record<string, string>): ResourceRow => ({
  key: 'Machine/a',
  kind: 'Machine',
  name: 'a',
  labels,
  passive: false,
})

test('kinds are found by any of their names in any case', () => {
  for (const asked of ['Machine', 'machine', 'MACHINES', 'm']) assert.equal(findKind(KINDS, asked), 'Machine')
  assert.equal(findKind(KINDS, 'evm'), 'EnvironmentVM')
})

test('an unknown kind is answered with a guess, or with a short list', () => {
  assert.throws(() => findKind(KINDS, 'mach'), /There is no kind mach\. Did you mean Machine\?$/)
  assert.throws(
    () => findKind(KINDS, 'frob'),
    /There is no kind frob\. Kinds: Machine\. Run croft explain to see all 2\.$/,
  )
})

test('one resource is named as KIND/NAME or KIND NAME, with or without a namespace', () => {
  assert.equal(parseKey(KINDS, 'm', 'web-1'), 'Machine/web-1')
  assert.equal(parseKey(KINDS, 'm/web-1', undefined), 'Machine/web-1')
  assert.equal(parseKey(KINDS, 'evm/prod/web-1', undefined), 'EnvironmentVM/prod/web-1')
  assert.throws(() => parseKey(KINDS, 'm', undefined), /names no single resource/)
  assert.throws(() => parseKey(KINDS, 'm/a', 'b'), /not both/)
})

test('label selectors select as kubectl does', () => {
  const cases: readonly [string, Record<string, string>, boolean][] = [
    ['app=web', { app: 'web' }, true],
    ['app==web', { app: 'db' }, false],
    ['app!=web', {}, true],
    ['gpu', { gpu: '' }, true],
    ['!gpu', { gpu: '' }, false],
    ['app=web,!gpu', { app: 'web' }, true],
    ['croft.dev/role=server', { 'croft.dev/role': 'server' }, true],
  ]
  for (const [selector, labels, expected] of cases) {
    assert.equal(matches(row(labels), parseSelection(KINDS, undefined, undefined, selector)), expected, selector)
  }
  assert.throws(() => parseSelection(KINDS, undefined, undefined, 'a b'), /is not a label selector/)
  assert.equal(matches(row({}), parseSelection(KINDS, undefined, undefined, 'constructor')), false)
})
