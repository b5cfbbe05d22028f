import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { jsonSchema } from '../json-schema.ts'
import { KINDS } from '../registry.ts'
import { described, under } from './describe.ts'
import { descriptionsOf } from './registry.ts'

type Node = Readonly<Record<string, unknown>>

const MOST = 200

for (const kind of KINDS) {
  const table = descriptionsOf(kind) ?? {}
  test(`every field of ${kind.kind} has a description, and every description a field`, () => {
    const spec = (jsonSchema(kind).properties as Record<string, Node>).spec ?? {}
    const fields = fieldsOf(spec)
    const found = [...fields].map(([path, description]) => [path, description ?? 'no description'])
    assert.deepEqual(Object.fromEntries(found), { ...table })
  })

  test(`descriptions of ${kind.kind} are short plain sentences`, () => {
    for (const [path, text] of Object.entries(table)) {
      assert.ok(text.length <= MOST, `${path}: ${text.length} characters`)
      assert.match(text, /^\S.*[.?]$/u, `${path}: ends without a full stop`)
      assert.doesNotMatch(text, /`|\*\*|\]\(|\n/u, `${path}: is no plain text`)
    }
  })
}

test('a description reaches a field in a list, a map, an alternative and a definition that two fields share', () => {
  const size = { type: 'object', properties: { unit: { type: 'string' } } }
  const schema = {
    $defs: { size },
    type: 'object',
    properties: {
      list: { type: 'array', items: { anyOf: [{ type: 'string' }, size] } },
      map: { type: 'object', additionalProperties: { allOf: [size] } },
      one: { oneOf: [{ const: 'none' }, { $ref: '#/$defs/size' }] },
      other: { $ref: '#/$defs/size' },
      plain: { $ref: '#/$defs/size' },
    },
  }
  const texts = {
    ...under('list', { unit: 'Of the list.' }),
    ...under('map.*', { unit: 'Of the map.' }),
    ...under('one', { unit: 'Of the alternative.' }),
    other: 'The other.',
    'other.unit': 'Of the other.',
    plain: 'Only itself.',
  }
  const result = described(schema, texts)
  const found = fieldsOf(result)
  for (const [path, text] of Object.entries(texts)) assert.equal(found.get(path), text, path)
  assert.deepEqual((result.properties as Node).plain, { $ref: '#/$defs/size', description: 'Only itself.' })
  assert.deepEqual(schema.$defs.size, { type: 'object', properties: { unit: { type: 'string' } } })
})

test('only a run that asks for the schema loads the descriptions', () => {
  const src = join(import.meta.dirname, '../..')
  const importers = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(?<!\.test)\.tsx?$/.test(path) && !path.startsWith(join('kinds', 'descriptions')))
    .filter((path) =>
      /\bfrom '[^']*(?:\/descriptions\/|\/json-schema\.ts')/.test(readFileSync(join(src, path), 'utf8')),
    )
  // The definitions for Kubernetes are made from that schema, and loaded for `croft schema --crds` alone.
  assert.deepEqual(importers.sort(), [join('kinds', 'crd', 'definitions.ts'), join('kinds', 'json-schema.ts')])
})

/** Every field path of a schema, with its description. */
function fieldsOf(schema: Node): ReadonlyMap<string, string | undefined> {
  const fields = new Map<string, string | undefined>()
  const visit = (node: Node, path: string): void => {
    for (const name of ['anyOf', 'oneOf', 'allOf'])
      for (const one of (node[name] as readonly Node[] | undefined) ?? []) visit(one, path)
    for (const [name, step] of [
      ['items', ''],
      ['additionalProperties', '*.'],
    ] as const)
      if (typeof node[name] === 'object') visit(node[name] as Node, `${path}${step}`)
    for (const [name, field] of Object.entries((node.properties ?? {}) as Readonly<Record<string, Node>>)) {
      // A field of two alternatives is described in both.
      const known = fields.has(`${path}${name}`) && fields.get(`${path}${name}`) === undefined
      if (!known) fields.set(`${path}${name}`, field.description as string | undefined)
      visit(field, `${path}${name}.`)
    }
  }
  visit(schema, '')
  return fields
}
