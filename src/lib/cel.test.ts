import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { celProblem, evaluate, holds } from './cel.ts'

const timed = (work: () => unknown): number => {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

const nested = (levels: number, inner = 'true') =>
  Array.from({ length: levels }).reduce<string>((all, _, at) => `[1,2,3,4,5,6].all(x${at}, ${all})`, inner)

test('[S-32] loops in loops end by their cost, however they are written and whatever hides it', () => {
  const list = Array.from({ length: 2_000 }, (_, at) => `item ${at}`)
  for (const [expression, object] of [
    [nested(9), {}],
    [`${nested(12)} || true`, {}],
    [`object.list.all(a, object.list.exists(b, b == 'none' || a == b))`, { list }],
    [`object.list.map(a, object.list.map(b, a + b)).size() > 0`, { list }],
    [`object.list.filter(a, object.list.filter(b, a == b).size() == 1).size() > 0`, { list }],
    [`lists.range(1000000000).size() > 0`, {}],
    [`object.list.all(a, object.text.contains(a + 'x') == false)`, { list, text: 'ab'.repeat(500_000) }],
  ] as const) {
    let answer: unknown
    const ms = timed(() => {
      answer = holds(expression, object)
    })
    assert.match(String(answer), /costs too much/, expression.slice(0, 80))
    assert.ok(ms < 1_000, `${expression.slice(0, 80)} took ${ms} ms`)
  }
})

test('[S-32] brackets inside each other are counted before anybody parses them', () => {
  assert.equal(holds(`${'('.repeat(50)}true${')'.repeat(50)}`, {}), true)
  for (const many of ['('.repeat(51), '(['.repeat(900), `${'{1:'.repeat(51)}1${'}'.repeat(51)} == 1`])
    assert.match(celProblem(many) ?? '', /more than 50 brackets inside each other/)
})

test('[S-32] a pattern in an expression runs in linear time, and nobody can call what pays', () => {
  let answer: unknown
  const ms = timed(() => {
    answer = holds(`object.name.matches('(a+)+b')`, { name: 'a'.repeat(200) })
  })
  assert.equal(answer, false)
  assert.ok(ms < 1_000, `${ms} ms`)
  assert.equal(holds(`object.name.matches('^a+$')`, { name: 'aaa' }), true)
  assert.match(String(holds(`object.name.matches('(?!a)b')`, { name: 'b' })), /not a pattern of RE2/)
  assert.match(String(holds('spend()', {})), /unbound function/)
  assert.match(celProblem('@spend()') ?? '', /./)
  assert.match(celProblem(`'${'x'.repeat(3_000)}' == ''`) ?? '', /at most 2000 characters/)
})

test('lists.range counts from zero, for loops over places', () => {
  assert.deepEqual(evaluate('lists.range(size(a)).map(i, a[i] + string(i))', { a: ['x', 'y'] }), {
    value: ['x0', 'y1'],
  })
  assert.deepEqual(evaluate('lists.range(-1)', {}), { value: [] })
})

test('what people write for readiness is far from the bound', () => {
  const conditions = Array.from({ length: 200 }, (_, at) => ({ type: `T${at}`, status: 'True' }))
  const object = { status: { conditions }, text: 'x'.repeat(100_000) }
  assert.equal(holds(`object.status.conditions.exists(c, c.type == 'T199' && c.status == 'True')`, object), true)
  assert.equal(
    holds(
      `object.status.conditions.all(c, c.status == 'True') && ['T1', 'T2'].all(t, object.status.conditions.exists(c, c.type == t))`,
      object,
    ),
    true,
  )
})

test('the library is loaded for the first expression and not before: few commands have one', () => {
  const script = `import { registerHooks } from 'node:module'
const asked = new Set()
registerHooks({ resolve: (name, context, next) => (asked.add(name), next(name, context)) })
const { celProblem } = await import(${JSON.stringify(new URL('./cel.ts', import.meta.url).href)})
const before = asked.has('@bufbuild/cel')
celProblem('true')
process.stdout.write([before, asked.has('@bufbuild/cel')].join())`
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  assert.equal(ran.stdout, 'false,true', ran.stderr)
})

for (const [expression, answer] of [
  [`base64.encode(b'croft')`, 'Y3JvZnQ='],
  [`string(base64.decode('Y3JvZnQ='))`, 'croft'],
  [`base64.encode(hash.sha256(''))`, '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='],
  [`base64.encode(hash.md5(''))`, '1B2M2Y8AsgTpgAmY7PhCfg=='],
  [`base64.encode(hash.fnv64a('a'))`, 'r2PcTIYB7Iw='],
  [`json.marshal({'a': [1, true]})`, '{"a":[1,true]}'],
  [`json.unmarshal('{"a": [1, 2]}').a[1]`, 2],
  [`'a.b.c'.split('.').slice(0, 2).join('.')`, 'a.b'],
  ['[100, 200, 300].sum()', 600],
  ['[3, 1, 2].min() + [3, 1, 2].max()', 4],
  // Drawn from sha256 of the seed, four bytes for each letter.
  [`random.seededString(9, '')`, 'ew0w84jle'],
  [`random.seededInt(10, 12, '')`, 10],
  [`quantity('500Mi').isLessThan(quantity('1Gi')) ? 'small' : 'large'`, 'small'],
  [`quantity('1Gi') == quantity('1024Mi') && quantity('1') == quantity('1000m')`, true],
  [`quantity('1G').isGreaterThan(quantity('1Gi'))`, false],
  [`quantity('0.5').compareTo(quantity('500m')) + quantity('-1').sign()`, -1],
  [`quantity('1k').add(quantity('24')).asInteger() + quantity('2').sub(1).asInteger()`, 1025],
  [`quantity('1.5').isInteger() || isQuantity('many') || isQuantity('')`, false],
  [`quantity('1e3').asApproximateFloat() + quantity('250m').asApproximateFloat()`, 1000.25],
  [`isQuantity('10n') && quantity('0.1n').asApproximateFloat() > 0.0`, true],
] as const)
  test(`kro's ${expression}`, () => assert.deepEqual(evaluate(expression, {}), { value: answer }))

test('what these functions cannot answer is a problem', () => {
  for (const [expression, why] of [
    ['[1].slice(0, 2)', /slice\(0, 2\) of 1 entries/],
    ['[].sum() == 0', /the list is empty/],
    [`['a'].max() == 'a'`, /not every entry/],
    [`json.unmarshal('{') == 1`, /./],
    [`random.seededString(0, 'a')`, /the length is 0/],
    [`quantity('many') == quantity('1')`, /many is no quantity/],
    [`quantity('0.5').asInteger() == 0`, /no whole number/],
    [`{'a': 'b'}.sign() == 0`, /it is no quantity/],
  ] as const)
    assert.match(String(Object.values(evaluate(expression, {}))[0]), why, expression)
})

test('optional values: fields and entries that may be missing', () => {
  const names = { a: { b: { c: 'x' }, list: [1, 2], nothing: null, text: 'text' }, optional_: 1 }
  for (const [expression, value] of [
    ['a.?b.c', 'x'],
    ['a.?z.c', undefined],
    ['a.?z.c.orValue("d")', 'd'],
    ['a.?b.?c.orValue("d")', 'x'],
    ['a . ? b . c', 'x'],
    ['a.list[?0].orValue(7)', 1],
    ['a.list[?5].orValue(7)', 7],
    ['a.list[?-1].orValue(7)', 7],
    ['a.?list[0].orValue(9)', 1],
    ['a.?list[?4].orValue(9)', 9],
    ['a[?"b"].c.orValue("q")', 'x'],
    ['a.?z.hasValue()', false],
    ['has(a.?b.c)', true],
    ['has(a.?b.z)', false],
    ['a.?b.c.optMap(v, v + "!").orValue("-")', 'x!'],
    ['a.?z.optMap(v, v + "!").orValue("-")', '-'],
    ['a.?b.optFlatMap(v, v.?c).value()', 'x'],
    ['optional.none().or(optional.of(3)).value()', 3],
    ['optional.of({"k": 1}).k.value()', 1],
    ['optional.ofNonZeroValue("").orValue("zero")', 'zero'],
    ['a.?nothing.x.orValue("none")', 'none'],
    ['a.?text.?x.orValue("none")', 'none'],
    [`"a.?b" + '[?0]' + r"\\?"`, 'a.?b[?0]\\?'],
    ['a.b.?c.orValue("d") == "x" ? [1][?0].orValue(2) : 0', 1],
    ['a.list.map(one, a.?b.c.orValue("") + string(one))', ['x1', 'x2']],
  ] as const)
    assert.deepEqual(evaluate(expression, names), { value }, expression)
  for (const [expression, said] of [
    ['a.?z.value()', /not there/],
    ['a.b.orValue(1)', /no optional value/],
    ['[?a]', /are not supported/],
    ['{?"k": a}', /are not supported/],
    ['a.?', /./],
  ] as const)
    assert.match(JSON.stringify(evaluate(expression, names)), said, expression)
  assert.equal(holds('object.?b.c.orValue("") == "x"', names.a), true)
  assert.match(String(holds('object.?z', names.a)), /neither true nor false/)
})

test('[S-32] optional values in optional values are each evaluated once', () => {
  const deep = Array.from({ length: 20 }).reduce<string>((all) => `${all}.optMap(v, v + 1)`, 'optional.of(0)')
  assert.deepEqual(evaluate(`${deep}.value()`, {}), { value: 20 })
})
