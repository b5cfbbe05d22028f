import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonSchema } from './json-schema.ts'
import { KINDS } from './registry.ts'

type Node = Record<string, unknown> & {
  properties?: Record<string, Node>
  anyOf?: Node[]
  oneOf?: Node[]
  enum?: string[]
}

test('the schema of each kind is strict, closed and knows the apiVersions', () => {
  for (const kind of KINDS) {
    const schema = jsonSchema(kind) as Node
    assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema')
    assert.equal(schema.additionalProperties, false)
    assert.deepEqual(schema.properties?.kind, { const: kind.kind })
    assert.ok(schema.properties?.apiVersion?.enum?.includes(kind.apiVersion))
    assert.equal(schema.properties?.spec?.additionalProperties, false)
    assert.ok(Object.keys(schema.properties?.spec?.properties ?? {}).length > 0)
    // References between schemas would not survive being put under oneOf.
    assert.doesNotMatch(JSON.stringify(schema), /"\$ref"/)
  }
})

test('the schema of all kinds tells them apart by apiVersion and kind', () => {
  const all = (jsonSchema() as Node).oneOf ?? []
  assert.deepEqual(
    all.map((schema) => schema.properties?.kind?.const),
    KINDS.map(({ kind }) => kind),
  )
})

test('blocks may be written both ways in an editor too', () => {
  const kind = KINDS.find((one) => one.kind === 'EnvironmentVM')
  const fields = (jsonSchema(kind) as Node).properties?.spec?.properties?.forProvider?.properties ?? {}
  assert.deepEqual(
    fields.cpu?.anyOf?.map(({ type }) => type),
    ['object', 'array'],
  )
  assert.deepEqual(
    fields.disk?.anyOf?.map(({ type }) => type),
    ['array', 'object'],
  )
  assert.equal(fields.started?.type, 'boolean')
})
