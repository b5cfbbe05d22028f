import assert from 'node:assert/strict'
import { test } from 'node:test'
import { showOrigin } from '../model/declaration.ts'
import { readGrants } from './grants.ts'
import { secretPlace } from './secret-place.ts'

const wrong = (text: string): string => {
  const read = readGrants(text, 'grants.yaml', 'croft-system')
  assert.ok('problems' in read, 'it was accepted')
  return read.problems.map(({ origin, message, hint }) => `${showOrigin(origin)} ${message} (${hint ?? ''})`).join('\n')
}

test('a namespace has the grant of a source: what is not listed is not granted, names begin with its own', () => {
  const read = readGrants('namespaces:\n  team-a: {kinds: [Machine], hosts: [cow]}\n', 'grants.yaml', 'croft-system')
  assert.ok(!('problems' in read))
  const grant = read.get('team-a')
  assert.deepEqual(
    [grant?.namespace, grant?.names, grant?.hosts, grant?.storages],
    ['team-a', ['team-a-*'], ['cow'], []],
  )
  const none = readGrants('namespaces: {}\n', 'grants.yaml', 'croft-system')
  assert.ok(!('problems' in none) && none.size === 0)
})

test('wrong grants are refused at their place, before anything is read', () => {
  const of = (given: string) => `namespaces:\n  team-a: ${given}\n`
  const cases: readonly (readonly [string, RegExp])[] = [
    ['a: [', /^grants.yaml:/],
    ['namespaces: {}\n---\nnamespaces: {}\n', /one document/],
    ['other: {}\n', /grants.yaml:1:1 "other" is not a field/],
    [of('{kinds: [Host]}'), /^grants.yaml:2:20 .*Machine/],
    [of('{kinds: [Machine], storage: [a]}'), /^grants.yaml:2:30 "storage".*storages/],
    [of('{}'), /kinds/],
    ['namespaces:\n  Team: {kinds: [Machine]}\n', /namespace/],
    ['namespaces:\n  croft-system: {kinds: [Machine]}\n', /^grants.yaml:2:\d+ croft-system is the operator's own/],
  ]
  for (const [text, expected] of cases) assert.match(wrong(text), expected, text)
})

test('no name is that of two namespaces', () => {
  const two = (a: string, b: string, names = ['team-a', 'team-b']) =>
    `namespaces:\n  ${names[0]}: {kinds: [Machine]${a}}\n  ${names[1]}: {kinds: [Machine]${b}}\n`
  const overlapping: readonly (readonly [string, string, string[]?])[] = [
    ['', '', ['team', 'team-a']],
    [', names: ["*"]', ''],
    [', names: [web]', ', names: ["w*"]'],
    [', names: ["web*"]', ', names: [web-1]'],
    [', names: [web]', ', names: [web]'],
  ]
  for (const [a, b, names] of overlapping)
    assert.match(wrong(two(a, b, names)), /grants.yaml:3:\d+ names of .* overlap/)
  for (const [a, b] of [
    ['', ''],
    [', names: [web]', ', names: [web-1]'],
    [', names: ["web-*"]', ', names: [web]'],
  ] as const)
    assert.ok(!('problems' in readGrants(two(a, b), 'grants.yaml', 'croft-system')), a)
})

test('a Secret is one of the namespace that it was named in', () => {
  const at = (namespace?: string, source?: string) => {
    const place = secretPlace(
      {
        name: 's',
        key: 'k',
        ...(namespace === undefined ? {} : { namespace }),
        ...(source === undefined ? {} : { source }),
      },
      'croft-system',
    )
    return 'refused' in place ? 'refused' : place.namespace
  }
  assert.equal(at(), 'croft-system')
  assert.equal(at('crossplane-system'), 'crossplane-system')
  assert.equal(at(undefined, 'team-a'), 'team-a')
  assert.equal(at('team-a', 'team-a'), 'team-a')
  for (const other of ['team-b', 'croft-system', '']) assert.equal(at(other, 'team-a'), 'refused', other)
})
