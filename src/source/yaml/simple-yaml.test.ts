import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { yamlLibrary } from '../../lib/yaml-library.ts'
import { readFullYaml } from './full-yaml.ts'
import { NOT_SIMPLE, readSimpleYaml } from './simple-yaml.ts'

function agree(text: string): boolean {
  const simple = readSimpleYaml(text)
  if (simple === NOT_SIMPLE) return false
  const full = readFullYaml(text)
  assert.deepEqual(full.findings, [], `the full reader objects to ${JSON.stringify(text)}`)
  assert.equal(JSON.stringify(simple), JSON.stringify(full.value), JSON.stringify(text))
  return true
}

const SAMPLES: readonly (readonly [string, unknown])[] = [
  ['a: 1\nb: two\n', { a: 1, b: 'two' }],
  ['a:\n  - 1\n  - x: y\n    z: true\n', { a: [1, { x: 'y', z: true }] }],
  ['a:\n- 1\n- 2\nb: c', { a: [1, 2], b: 'c' }],
  ['a: {b: c, d: [1, "x y", z]}', { a: { b: 'c', d: [1, 'x y', 'z'] } }],
  ['a: https://h:8006 # why\n# more\n\nb: ~x', NOT_SIMPLE],
  ['a: |\n  one\n    two\n\n  three\nb: |-\n  x\n', { a: 'one\n  two\n\nthree\n', b: 'x' }],
  ['a: 192.168.4.1\nb: 4Gi\nc: 1.2.3\n', { a: '192.168.4.1', b: '4Gi', c: '1.2.3' }],
  ['---\na:\n', { a: null }],
  ['a: "x"  # c\nb: \'y\'\n', { a: 'x', b: 'y' }],
]

test('the fast reader reads what manifests are written in', () => {
  for (const [text, value] of SAMPLES) {
    const read = readSimpleYaml(text)
    if (value === NOT_SIMPLE) assert.equal(read, NOT_SIMPLE)
    else assert.equal(JSON.stringify(read), JSON.stringify(value))
  }
})

test('[S-13] the fast reader leaves everything unusual to the full reader', () => {
  const unusual = [
    'a: 1.10',
    'a: 1e3',
    'a: 010',
    'a: 0x1f',
    'a: 0o17',
    'a: +1',
    'a: -0',
    'a: .5',
    'a: .inf',
    'a: 1_000',
    'a: 12:30',
    'a: &x 1',
    'a: *x',
    'a: !!str 1',
    'a: >\n  x',
    'a: |+\n  x\n',
    'a: |2\n  x',
    '? a\n: b',
    'a: b: c',
    'a: "x\\n"',
    'a: b\n  c',
    'a: 1\na: 2',
    '<<: {}',
    '__proto__: 1',
    'constructor: 1',
    'a:\tb',
    '\ta: 1',
    'a: [1,\n 2]',
    '- - 1',
    'a: @x',
    'a: `x`',
    'a: %x',
    'true: 1',
    'null: 1',
    '1: 2',
    'a: True',
    'a: NULL',
    'a: -x',
    'a: [a b]',
    'a: {b}',
    '{a: 1}',
    'a: "x" y',
    'a: {b:c}',
    'a: {b: c:}',
    '"a": 1',
    'a b: 1',
    '%YAML 1.2\n---\na: 1',
    'x',
    '',
    '# only\n',
    'a: {b: 1, b: 2}',
    'a: |\n\n  x',
    'a: |\n  x\n     \n  y\n',
    'a: - 1',
    'a: [1, 2,]',
    'a: [,]',
    'a: #x\n b',
    'a: x\n  # c\n  y',
    'a:\n  b: 1\n c: 2',
  ]
  const read = unusual.filter((text) => readSimpleYaml(text) !== NOT_SIMPLE && !agree(text))
  assert.deepEqual(read, [])
})

const word = fc.constantFrom(
  'a',
  'b',
  'key',
  'a.b/c-d',
  '1',
  '0',
  '-1',
  '1.10',
  '01',
  '1e3',
  '0x1',
  'true',
  'NO',
  'null',
  '~',
  '"q"',
  "'q'",
  "'it''s'",
  '""',
  'x y',
  'x: y',
  'x #y',
  '#',
  '- ',
  '-',
  ':',
  ': ',
  '{',
  '}',
  '[',
  ']',
  ', ',
  '|',
  '|-',
  '>',
  '&x',
  '*x',
  '!t',
  '?',
  '\t',
  ' ',
  '  ',
  '    ',
  '\n',
  '\n',
  '\n  ',
  '\n    ',
  '\n- ',
  '\n  - ',
  'k: ',
  'l:',
  '---\n',
  '...',
  '192.168.1.1',
  'é',
  '\u00a0',
  'http://a:1/b',
  '<<',
  '%',
  '@',
  '`',
  '\\',
)

test('whatever the fast reader reads, the full reader reads the same', () => {
  let simple = 0
  fc.assert(
    fc.property(fc.array(word, { maxLength: 14 }), (words) => {
      if (agree(words.join(''))) simple++
    }),
    { numRuns: 6000, seed: 11 },
  )
  assert.ok(simple > 100, `only ${simple} texts were in the subset`)
})

const lineKey = fc.constantFrom('a', 'b', 'c', 'd')
const scalar = fc.constantFrom(
  '1',
  'x',
  'true',
  '"q q"',
  "'s'",
  '4Gi',
  '10.0.0.1',
  '[1, x]',
  '{e: f}',
  'x # c',
  '1.5',
  '0.10',
  'a:b',
  '',
  'x y z',
  '{}',
  '[]',
)
const indent = fc.constantFrom('', '  ', '    ', '      ', ' ')
const yamlLine = fc
  .tuple(indent, fc.constantFrom('', '- '), lineKey, scalar)
  .map(([space, dash, key, value]) => `${space}${dash}${key}: ${value}`)
const bare = fc
  .tuple(indent, fc.constantFrom('- x', '- 1', '#c', '', 'a:', '- ', 'b: |', 'text'))
  .map((parts) => parts.join(''))

test('block structures read the same in both readers', () => {
  let simple = 0
  fc.assert(
    fc.property(fc.array(fc.oneof(yamlLine, bare), { minLength: 1, maxLength: 8 }), (lines) => {
      if (agree(lines.join('\n'))) simple++
    }),
    { numRuns: 6000, seed: 12 },
  )
  assert.ok(simple > 100, `only ${simple} texts were in the subset`)
})

test('values that are printed as YAML come back as they were', () => {
  const value = fc.dictionary(
    fc.stringMatching(/^[a-z][a-zA-Z]{0,6}$/).filter((key) => !/^(?:y|n|on|no|yes|off|true|false|null)$/.test(key)),
    fc.oneof(
      fc.integer({ min: 0, max: 99_999 }),
      fc.boolean(),
      fc.stringMatching(/^[a-z0-9:./ #-]{0,12}$/),
      fc.array(fc.stringMatching(/^[a-z]{1,5}$/)),
    ),
    { minKeys: 1 },
  )
  fc.assert(
    fc.property(value, (object) => {
      const text = yamlLibrary().stringify(object)
      const simple = readSimpleYaml(text)
      if (simple !== NOT_SIMPLE) assert.equal(JSON.stringify(simple), JSON.stringify(object), text)
    }),
    { numRuns: 500, seed: 13 },
  )
})
