import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RE2JS } from '@bufbuild/re2'
import { at, isRecord, recordsOf } from '../../kubernetes/objects.ts'
import { KINDS } from '../registry.ts'
import { customResourceDefinitions } from './definitions.ts'
import { structural } from './structural.ts'

const definitions = customResourceDefinitions()
const schemaOf = (definition: unknown) =>
  at(recordsOf(at(definition, 'spec', 'versions'))[0], 'schema', 'openAPIV3Schema')

test("every kind of croft's group has a definition with columns, category and status", () => {
  const own = KINDS.filter(({ apiVersion }) => apiVersion === 'croft.dev/v1alpha1')
  assert.deepEqual(
    definitions.map((one) => at(one, 'metadata', 'name')),
    own.map(({ plural }) => `${plural}.croft.dev`),
  )
  for (const definition of definitions) {
    assert.deepEqual(at(definition, 'spec', 'names', 'categories'), ['croft'])
    const [version] = recordsOf(at(definition, 'spec', 'versions'))
    assert.deepEqual(version?.subresources, { status: {} })
    assert.ok(recordsOf(version?.additionalPrinterColumns).some(({ name }) => name === 'Ready'))
  }
})

test('every definition is structural, as the API server asks', () => {
  for (const definition of definitions) wrongIn(schemaOf(definition), String(at(definition, 'metadata', 'name')))
})

/** Fails for schemas that a real kube-apiserver refuses, as `npm run test:real` proves. */
function wrongIn(schema: unknown, path: string): void {
  assert.ok(isRecord(schema), path)
  const free = schema['x-kubernetes-preserve-unknown-fields'] === true || schema['x-kubernetes-int-or-string'] === true
  assert.ok(typeof schema.type === 'string' || free, `${path} has no type`)
  for (const word of [
    '$ref',
    'anyOf',
    'oneOf',
    'allOf',
    'not',
    'const',
    'propertyNames',
    'default',
    'exclusiveMinimum',
  ])
    assert.ok(!(word in schema), `${path} has ${word}`)
  assert.ok(!('properties' in schema && 'additionalProperties' in schema), path)
  if (typeof schema.pattern === 'string') {
    assert.doesNotMatch(schema.pattern, /\(\?[=!<]|\\u/, path)
    RE2JS.compile(schema.pattern)
  }
  if (isRecord(schema.properties))
    for (const [name, field] of Object.entries(schema.properties)) wrongIn(field, `${path}.${name}`)
  if (schema.additionalProperties !== undefined) wrongIn(schema.additionalProperties, `${path}.*`)
  if (schema.type === 'array') wrongIn(schema.items, `${path}[]`)
}

test('what holds across fields is a CEL rule', () => {
  const proxmox = definitions.find((one) => at(one, 'metadata', 'name') === 'proxmoxes.croft.dev')
  const rules = at(schemaOf(proxmox), 'properties', 'spec', 'properties', 'token', 'x-kubernetes-validations')
  assert.deepEqual(rules, [
    {
      rule: '[has(self.env), has(self.file), has(self.sops), has(self.vault), has(self.onePassword), has(self.secretRef)].exists_one(one, one)',
      message: 'one of env, file, sops, vault, onePassword and secretRef',
    },
  ])
})

test('a choice between types becomes what a definition can say', () => {
  const text = { type: 'string' }
  const cases: readonly (readonly [object, object])[] = [
    [{ anyOf: [{ type: 'string', maxLength: 3 }, { const: 'off' }] }, { type: 'string' }],
    [{ anyOf: [{ const: 'a' }, { enum: ['b', 'a'] }] }, { type: 'string', enum: ['a', 'b'] }],
    [{ anyOf: [text, { type: 'integer' }] }, { 'x-kubernetes-int-or-string': true }],
    [
      { anyOf: [text, { type: 'object' }], description: 'x' },
      { description: 'x', 'x-kubernetes-preserve-unknown-fields': true },
    ],
    [{ const: true }, { type: 'boolean', enum: [true] }],
    [{ type: 'string', pattern: '^(?!a)b$' }, { type: 'string' }],
    [
      { type: 'string', pattern: '[\\u0000-\\u001f]' },
      { type: 'string', pattern: '[\\x{0000}-\\x{001f}]' },
    ],
    [{ type: 'string', default: 'a' }, { type: 'string' }],
    [
      { type: 'object', additionalProperties: text, propertyNames: text },
      { type: 'object', additionalProperties: text },
    ],
  ]
  for (const [given, expected] of cases) assert.deepEqual(structural({ ...given }), expected)
})
