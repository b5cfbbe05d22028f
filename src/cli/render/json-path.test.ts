import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonPath } from '../output.ts'

const data = {
  kind: 'List',
  items: [
    { name: 'a', labels: { 'x.y/z': '1' } },
    { name: 'b', size: 3 },
  ],
}

test('templates give what kubectl would give', () => {
  for (const [template, expected] of [
    ['{.kind}', 'List'],
    ['{.items[*].name}', 'a b'],
    ['{.items[1].size}', '3'],
    ["{.items[0].labels['x.y/z']}", '1'],
    ['{.items[*].size}', '3'],
    ['{.missing}', ''],
    ['{.items[0].name}{"\\n"}{.kind}!', 'a\nList!'],
    ['.kind', 'List'],
    ['{.items[0].labels}', '{"x.y/z":"1"}'],
  ] as const)
    assert.equal(jsonPath(template, data), expected, template)
})

test('what is not understood is refused', () => {
  for (const template of ['{.items[?(@.name=="a")]}', '{}', '{range .items[*]}'])
    assert.throws(() => jsonPath(template, data), /not a JSONPath/)
})
