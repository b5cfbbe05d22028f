import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainValue, withIntegers } from './go-values.ts'
import { formatted, TransformMistake, transformOf } from './transforms.ts'

// Results of function-patch-and-transform. `NO`: it refuses, or prints a Go error into the text.
const NO = Symbol('refused')

const string = (settings: object) => ({ type: 'string', string: settings })
const convert = (toType: string, format?: string) => ({
  type: 'convert',
  convert: { toType, ...(format === undefined ? {} : { format }) },
})
const as = (how: string) => string({ type: 'Convert', convert: how })
const math = (settings: object) => ({ type: 'math', math: settings })
const match = (settings: object) => ({ type: 'match', match: settings })
const regexp = (pattern: string, group?: number) =>
  string({ type: 'Regexp', regexp: { match: pattern, ...(group === undefined ? {} : { group }) } })
const join = (separator: string) => string({ type: 'Join', join: { separator } })

const TABLE: readonly (readonly [transform: unknown, from: unknown, to: unknown])[] = [
  [{ type: 'map', map: { a: { b: 1 } } }, 'a', { b: 1 }],
  [{ type: 'map', map: { '1': 'one' } }, 1, NO],
  [string({ type: 'Format', fmt: '%999999999s' }), 'a', NO],
  [string({ type: 'Format', fmt: '%-1001s' }), 'a', NO],
  [string({ type: 'Format', fmt: '%.999999999f' }), 1.5, NO],
  [string({ type: 'Format', fmt: '%099999999d' }), 1, NO],
  [string({ type: 'Format', fmt: '%3s' }), 'a', '  a'],
  [{ type: 'map', map: {} }, 'a', NO],
  [{ type: 'map', map: { a: null } }, 'a', NO],
  [match({ patterns: [{ type: 'literal', literal: '1', result: 'x' }] }), 1, NO],
  [match({ patterns: [{ type: 'literal', literal: 'a', result: 'x' }] }), 'b', null],
  [match({ patterns: [{ type: 'regexp', regexp: 'a(b|c)+$', result: [1] }], fallbackValue: 2 }), 'xabcb', [1]],
  [match({ patterns: [{ type: 'regexp', regexp: '(?=a)', result: 1 }] }), 'a', NO],
  [match({ patterns: [{ type: 'glob', literal: 'a', result: 1 }] }), 'a', NO],
  [match({ patterns: [{ type: 'literal', literal: 'a', result: 1 }], fallbackTo: 'Input' }), 'b', 'b'],
  [match({ patterns: [{ type: 'literal', literal: 'a', result: 1 }], fallbackTo: 'Input', fallbackValue: 3 }), 'b', NO],
  [match({}), 'b', NO],
  [math({ type: 'Multiply', multiply: 1024 }), 4, 4096],
  [math({ type: 'Multiply', multiply: 2 }), 1.5, 3],
  [math({ type: 'Multiply', multiply: 1.5 }), 2, NO],
  [math({ type: 'Multiply', multiply: 2 }), '2', NO],
  [math({ type: 'ClampMax', clampMax: 2 }), 2.5, 2.5],
  [math({ type: 'ClampMax', clampMax: 2 }), 3.5, 2],
  [math({ type: 'ClampMin', clampMin: -1 }), -3, -1],
  [math({ type: 'Divide', multiply: 2 }), 3, NO],
  [string({ type: 'Format', fmt: '%s-vm' }), 'web', 'web-vm'],
  [string({ type: 'Format', fmt: '%s' }), 5, NO],
  [string({ type: 'Format', fmt: '%v' }), 5, '5'],
  [string({ type: 'Format', fmt: '%v' }), true, 'true'],
  [string({ type: 'Format', fmt: '%v' }), [1, 'a', { b: null }], '[1 a map[b:<nil>]]'],
  [string({ type: 'Format', fmt: '%v' }), { b: 1, a: 'x' }, 'map[a:x b:1]'],
  [string({ type: 'Format', fmt: '%v' }), 0.00001, '1e-05'],
  [string({ type: 'Format', fmt: '%v' }), 123_456_789.5, '1.234567895e+08'],
  [string({ type: 'Format', fmt: '%s' }), ['a', 'b'], '[a b]'],
  [string({ type: 'Format', fmt: '%s' }), { a: 'b' }, 'map[a:b]'],
  [string({ type: 'Format', fmt: '%d' }), [1, 2], '[1 2]'],
  [string({ type: 'Format', fmt: '%d' }), 1.5, NO],
  [string({ type: 'Format', fmt: '%6.2f|' }), 1.23456, '  1.23|'],
  [string({ type: 'Format', fmt: '%08.3f' }), -3.5, '-003.500'],
  [string({ type: 'Format', fmt: '%q' }), 'a"b', '"a\\"b"'],
  [string({ type: 'Format', fmt: '%05d|' }), 42, '00042|'],
  [string({ type: 'Format', fmt: '%-5d|' }), 42, '42   |'],
  [string({ type: 'Format', fmt: '%+d' }), 42, '+42'],
  [string({ type: 'Format', fmt: '%5s|' }), 'ab', '   ab|'],
  [string({ type: 'Format', fmt: '%.2s' }), 'abc', 'ab'],
  [string({ type: 'Format', fmt: '%.2f' }), 1.239, '1.24'],
  [string({ type: 'Format', fmt: '%x' }), 255, 'ff'],
  [string({ type: 'Format', fmt: '%X' }), 'az', '617A'],
  [string({ type: 'Format', fmt: '%t' }), true, 'true'],
  [string({ type: 'Format', fmt: '%t' }), 'true', NO],
  [string({ type: 'Format', fmt: '%d' }), 'x', NO],
  [string({ type: 'Format', fmt: 'fixed' }), 'x', NO],
  [string({ type: 'Format', fmt: '%[1]s-%[1]s' }), 'x', 'x-x'],
  [string({ type: 'Format', fmt: '100%% %s' }), 'x', '100% x'],
  [string({ type: 'Format' }), 'x', NO],
  [as('ToUpper'), 'straße', 'STRAßE'],
  [as('ToLower'), 'AbC', 'abc'],
  [as('ToUpper'), true, 'TRUE'],
  [as('ToJson'), { b: '<&>', a: [1, null] }, '{"a":[1,null],"b":"\\u003c\\u0026\\u003e"}'],
  [as('ToJson'), 'x', '"x"'],
  [as('ToSha1'), 'x', '11f6ad8ec52a2984abaafd7c3b516503785c2072'],
  [as('ToSha256'), { a: 1 }, '015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862'],
  [as('ToAdler32'), [1], '30605546'],
  [as('FromBase64'), 'aGk=', 'hi'],
  [as('FromBase64'), 'aGk', NO],
  [as('ToBinary'), 'x', NO],
  [string({ type: 'TrimPrefix', trim: '4' }), 42, '2'],
  [string({ type: 'TrimSuffix', trim: 'b' }), 'abb', 'ab'],
  [string({ type: 'TrimSuffix' }), 'abb', NO],
  [regexp('v(\\d+)\\.(\\d+)'), 'x v1.34 y', 'v1.34'],
  [regexp('v(\\d+)\\.(\\d+)', 2), 'x v1.34 y', '34'],
  [regexp('(a)|(b)', 1), 'b', ''],
  [regexp('v(\\d+)', 2), 'v1', NO],
  [regexp('z'), 'v1', NO],
  [regexp('\\d'), 742, '7'],
  [regexp('(a'), 'a', NO],
  [regexp(''), 'a', NO],
  [join(','), ['a', 1, true], 'a,1,true'],
  [join(''), ['a', 'b'], 'ab'],
  [join(', '), ['a', 'b'], 'a, b,'],
  [join(','), [], ''],
  [join(','), 'a', NO],
  [string({ type: 'Replace', replace: { search: 'a', replace: '' } }), 'banana', 'bnn'],
  [string({ type: 'Replace', replace: { search: '$&', replace: '$1' } }), 'x$&', 'x$1'],
  [string({ type: 'Replace', replace: { search: '', replace: 'x' } }), 'a', NO],
  [convert('string'), 'x', 'x'],
  [convert('string'), 1.5, '1.5'],
  [convert('string'), false, 'false'],
  [convert('string'), ['a'], NO],
  [convert('int64'), '42', 42],
  [convert('int'), '4.2', NO],
  [convert('int'), 4.7, 4],
  [convert('int'), true, 1],
  [convert('int'), '', NO],
  [convert('int'), '0x10', NO],
  [convert('int'), '9223372036854775808', NO],
  [convert('int'), -4.7, -4],
  [convert('object', 'json'), 'null', null],
  [convert('bool'), 't', true],
  [convert('bool'), 'yes', NO],
  [convert('bool'), 1, true],
  [convert('bool'), 2, false],
  [convert('float64'), '1e3', 1000],
  [convert('float64'), '2Gi', NO],
  [convert('float64', 'quantity'), '2Gi', 2_147_483_648],
  [convert('float64', 'quantity'), '500m', 0.5],
  [convert('float64', 'quantity'), '1e3', 1000],
  [convert('int64', 'quantity'), '2Gi', NO],
  [convert('object', 'json'), '{"a":[1]}', { a: [1] }],
  [convert('array', 'json'), '[1,"a"]', [1, 'a']],
  [convert('array', 'json'), '{}', NO],
  [convert('object'), '{}', NO],
  [convert('float64', 'roman'), 'XII', NO],
  [convert('date'), '1', NO],
]

for (const [transform, from, to] of TABLE)
  test(`${JSON.stringify(transform)} makes of ${JSON.stringify(from)} ${to === NO ? 'nothing' : JSON.stringify(to)}`, () => {
    const apply = () => plainValue(transformOf(transform).apply(withIntegers(from)))
    if (to === NO) assert.throws(apply, TransformMistake)
    else assert.deepEqual(apply(), to)
  })

test('several values are combined by one format', () => {
  assert.equal(formatted('%s-%d-%v', ['a', 7n, true]), 'a-7-true')
  assert.equal(formatted('%[2]s/%[1]s', ['a', 'b']), 'b/a')
  assert.throws(() => formatted('%s', ['a', 'b']), /has no place for "b"/)
  assert.throws(() => formatted('%s-%s', ['a']), /has no value/)
})

// A function of a pipeline gets every number of a composite with a fraction, be it zero.
const IN_A_PIPELINE: readonly (readonly [transforms: readonly unknown[], from: unknown, to: unknown])[] = [
  [[string({ type: 'Format', fmt: '%v' })], 5, '5'],
  [[string({ type: 'Format', fmt: '%v' })], 999_999, '999999'],
  [[string({ type: 'Format', fmt: '%v' })], 1_234_567, '1.234567e+06'],
  [[string({ type: 'Format', fmt: '%v' })], [1_000_000], '[1e+06]'],
  [[string({ type: 'Format', fmt: '%.1f' })], 5, '5.0'],
  [[string({ type: 'Format', fmt: '%d' })], 5, NO],
  [[string({ type: 'Format', fmt: '%x' })], 255, NO],
  [[convert('int64'), string({ type: 'Format', fmt: '%d' })], 1_234_567, '1234567'],
  [[convert('int64'), string({ type: 'Format', fmt: '%#x' })], 255, '0xff'],
  [[convert('string')], 1_234_567, '1234567'],
  [[math({ type: 'Multiply', multiply: 2 }), string({ type: 'Format', fmt: '%v' })], 600_000, '1.2e+06'],
  [[math({ type: 'ClampMin', clampMin: 2_000_000 }), string({ type: 'Format', fmt: '%v' })], 5, '2000000'],
  [[as('ToJson')], { n: 1_234_567 }, '{"n":1234567}'],
]

for (const [transforms, from, to] of IN_A_PIPELINE)
  test(`in a pipeline ${JSON.stringify(transforms)} makes of ${JSON.stringify(from)} ${to === NO ? 'nothing' : JSON.stringify(to)}`, () => {
    const apply = () => transforms.reduce((value, one) => transformOf(one).apply(value), from)
    if (to === NO) assert.throws(apply, TransformMistake)
    else assert.deepEqual(apply(), to)
  })
