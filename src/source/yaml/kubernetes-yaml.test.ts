import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectsIn } from '../objects-at.ts'
import { plainScalar } from './kubernetes-yaml.ts'

/** The text; kubectl v1.32's value; kubectl's value after kustomize v5.5. Recorded from both. */
const TABLE: readonly (readonly [string, unknown, unknown])[] = [
  ['0400', 256, 256],
  ['0o400', 256, 256],
  ['0x1F', 31, 31],
  ['0b101', 5, 5],
  ['08', 8, 8],
  ['0800', 800, 800],
  ['-0400', -256, -256],
  ['+12', 12, 12],
  ['1_000', 1000, 1000],
  ['1e3', 1000, 1000],
  ['1E3', 1000, 1000],
  ['1.10', 1.1, 1.1],
  ['1.', 1, 1],
  ['.5', 0.5, 0.5],
  ['5e', '5e', '5e'],
  ['.inf', undefined, undefined],
  ['-.Inf', undefined, undefined],
  ['.nan', undefined, undefined],
  ['yes', true, 'yes'],
  ['Yes', true, 'Yes'],
  ['YES', true, 'YES'],
  ['no', false, 'no'],
  ['on', true, 'on'],
  ['off', false, 'off'],
  ['On', true, 'On'],
  ['OFF', false, 'OFF'],
  ['y', true, 'y'],
  ['Y', true, 'Y'],
  ['n', false, 'n'],
  ['N', false, 'N'],
  ['true', true, true],
  ['True', true, true],
  ['TRUE', true, true],
  ['tRue', 'tRue', 'tRue'],
  ['false', false, false],
  ['null', null, null],
  ['Null', null, null],
  ['NULL', null, null],
  ['~', null, null],
  ['190:20:30', '190:20:30', '190:20:30'],
  ['12:30', '12:30', '12:30'],
  ['2001-01-01', '2001-01-01', '2001-01-01T00:00:00Z'],
  ['2001-01-01T00:00:00Z', '2001-01-01T00:00:00Z', '2001-01-01T00:00:00Z'],
  ['0.0.1', '0.0.1', '0.0.1'],
  ['1.2.3', '1.2.3', '1.2.3'],
  ['0', 0, 0],
  ['-0', 0, 0],
  ['00', 0, 0],
  ['007', 7, 7],
  ['1e', '1e', '1e'],
  ['e3', 'e3', 'e3'],
  ['0x', '0x', '0x'],
  ['0xg', '0xg', '0xg'],
  ['_1', '_1', '_1'],
  ['1__0', 10, 10],
  ['0_7', 7, 7],
  ['=', '=', '='],
  ['<<x', '<<x', '<<x'],
  ['xx', 'xx', 'xx'],
  ['012e1', 120, 120],
  ['1e+2', 100, 100],
  ['1.5e-3', 0.0015, 0.0015],
  ['+.5', 0.5, 0.5],
  ['-.5', -0.5, -0.5],
  ['0o8', '0o8', '0o8'],
  ['0b2', '0b2', '0b2'],
  ['--1', '--1', '--1'],
  ['Infinity', 'Infinity', 'Infinity'],
  ['NaN', 'NaN', 'NaN'],
  ['1,000', '1,000', '1,000'],
]

test('plain values are read as kubectl and kustomize read them, row by row', () => {
  for (const [source, kubectl, kustomize] of TABLE) {
    assert.equal(plainScalar(source, 'kubectl'), kubectl, `kubectl ${source}`)
    assert.equal(plainScalar(source, 'kustomize'), kustomize, `kustomize ${source}`)
  }
})

const HEAD = 'apiVersion: example.dev/v1\nkind: Thing\nmetadata: {name: a}\n'
const found = (text: string) => objectsIn('a.yaml', `${HEAD}${text}`)
const read = (text: string) => {
  const { objects } = found(text) as { readonly objects: readonly unknown[] }
  return JSON.parse(JSON.stringify(objects[0])) as Record<string, unknown>
}
const problemOf = (text: string) => (found(text) as { readonly problem: string }).problem

test('objects of add-ons have their octal modes, old booleans, merged maps and keys as kubectl has them', () => {
  assert.deepEqual(read('spec: {defaultMode: 0400, quoted: "0400", on: yes}\n'), {
    apiVersion: 'example.dev/v1',
    kind: 'Thing',
    metadata: { name: 'a' },
    spec: { defaultMode: 256, quoted: '0400', true: true },
  })
  const merged = read('base: &b {x: 1, z: 2}\nspec:\n  <<: *b\n  z: 3\n  1: 3\n  1.5: 4\n  0400: 5\n')
  assert.deepEqual(merged.spec, { 1: 3, '1.5': 4, 256: 5, x: 1, z: 3 })
})

test('a number that no reader can keep is refused', () => {
  assert.match(problemOf('spec: {a: 12345678901234567890}\n'), /a.yaml:4: 12345678901234567890 cannot be kept exactly/)
  assert.match(problemOf('spec: {a: .inf}\n'), /cannot be kept/)
})

test('a block at the end of a text without a line break has none either, as sigs.k8s.io/yaml reads it', () => {
  for (const [text, expected] of [
    ['spec: |\n  b', 'b'],
    ['spec: |\n  b\n', 'b\n'],
    ['spec: |+\n  b', 'b'],
    ['spec: >\n  b\n  c', 'b c'],
    ['spec: >\n  b\n   c\n  d\n', 'b\n c\nd\n'],
  ] as const)
    assert.equal(read(text).spec, expected, text)
})
