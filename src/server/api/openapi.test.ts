import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { openApi } from './openapi.ts'
import { ROUTES } from './routes.ts'

type Json = Record<string, unknown>
const document = JSON.parse(JSON.stringify(openApi(ROUTES, '9.9.9'))) as {
  openapi: string
  paths: Record<string, Record<string, Json>>
  components: { schemas: Json; securitySchemes: Json }
}

// The parts of the OpenAPI 3.1 specification that a generated document can get wrong, as a schema of our own.
const schema: z.ZodType = z.lazy(() => z.record(z.string(), z.unknown()))
const content = z.record(z.string().regex(/^[\w.+-]+\/[\w.+-]+$/), z.strictObject({ schema }))
const operation = z.strictObject({
  operationId: z.string().regex(/^[a-z]\w+$/i),
  summary: z.string().min(3),
  'x-scope': z.string().optional(),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  parameters: z
    .array(
      z.strictObject({
        name: z.string(),
        in: z.enum(['query', 'path', 'header', 'cookie']),
        required: z.boolean(),
        schema,
      }),
    )
    .optional(),
  requestBody: z.strictObject({ required: z.boolean(), content }).optional(),
  responses: z.record(
    z.string().regex(/^[1-5]\d\d$/),
    z.strictObject({ description: z.string().min(1), content: content.optional() }),
  ),
})
const whole = z.strictObject({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.strictObject({
    title: z.string(),
    version: z.string(),
    description: z.string(),
    license: z.strictObject({ name: z.string(), identifier: z.string() }),
  }),
  jsonSchemaDialect: z.url(),
  servers: z.array(z.strictObject({ url: z.string() })),
  paths: z.record(z.string().startsWith('/'), z.record(z.enum(['get', 'post']), operation.optional())),
  components: z.strictObject({
    schemas: z.record(z.string(), schema),
    securitySchemes: z.record(z.string(), z.looseObject({ type: z.enum(['http', 'apiKey']) })),
  }),
})

describe('the document of the API', () => {
  test('is well formed OpenAPI 3.1', () => {
    whole.parse(document)
  })

  test('names every operation once, and every reference leads somewhere', () => {
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    )
    assert.equal(new Set(ids).size, ids.length)
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, reference]) => reference ?? '',
    )
    assert.ok(references.length > 0)
    for (const reference of references) {
      const found = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((at, part) => (at as Json)?.[part], document)
      assert.ok(found !== undefined, reference)
    }
  })

  test('has every path parameter of its paths, and schemas that are JSON Schema of the named dialect', () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      for (const { parameters } of Object.values(operations)) {
        const given = ((parameters ?? []) as { in: string; name: string }[]).filter((one) => one.in === 'path')
        assert.deepEqual(
          given.map(({ name }) => name),
          wanted,
        )
      }
    }
    assert.ok(!JSON.stringify(document).includes('"nullable"'), 'that was OpenAPI 3.0')
  })

  test('says of each route what it needs, and of each answer that nothing else is in it', () => {
    for (const { method, path, scope, signedIn } of ROUTES) {
      const one = document.paths[path]?.[method.toLowerCase()]
      assert.ok(one !== undefined, path)
      assert.equal(one['x-scope'], scope === 'read' && signedIn !== true ? undefined : scope)
    }
  })

  test('has everything that the page asks for', () => {
    const asked = new Set<string>()
    for (const file of ['web/api.ts', 'web/live.ts']) {
      const text = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')
      for (const [, path] of text.matchAll(/['"`](\/api\/[a-z/-]+)/g)) asked.add(path ?? '')
    }
    assert.ok(asked.size >= 8, [...asked].join(' '))
    for (const path of asked) {
      if (path === '/api/wishes/') continue
      assert.ok(path in document.paths, path)
    }
  })
})
