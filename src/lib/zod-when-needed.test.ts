import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z as real } from 'zod'
import { z as later } from './zod-when-needed.ts'

type Z = typeof real

/** Written twice, once with zod and once with what stands in for it: each must say the same. */
const SCHEMAS: Readonly<Record<string, (z: Z) => { safeParse(value: unknown): unknown }>> = {
  'a text with bounds': (z) => z.string().min(2).max(3).regex(/^a/, { error: 'begins with a' }),
  'a block of fields': (z) => z.strictObject({ a: z.int().min(1).default(7), b: z.boolean().optional() }),
  'a block in a list in a block': (z) => z.strictObject({ rows: z.array(z.looseObject({ id: z.number() })).max(2) }),
  'one of several': (z) => z.union([z.literal('x'), z.strictObject({ y: z.enum(['p', 'q']) })], { error: 'x or y' }),
  'names and values': (z) => z.record(z.string().max(3), z.union([z.number(), z.array(z.string())])),
  'a rule across fields': (z) =>
    z.object({ a: z.number(), b: z.number() }).refine(({ a, b }) => a < b, { error: 'a before b', path: ['a'] }),
  'something turned into something else': (z) =>
    z.preprocess((value) => (value === true ? 'on' : value), z.enum(['on', 'off'])).transform((text) => [text]),
  'a block that is widened': (z) => z.strictObject({ a: z.string() }).extend({ b: z.string().optional() }),
  'a block with a part of another': (z) => z.strictObject({ a: z.strictObject({ b: z.int() }).shape.b }),
  'a block that holds itself': (z) => {
    const node: { safeParse(value: unknown): unknown } = z.strictObject({
      get a() {
        return (node as ReturnType<Z['strictObject']>).optional()
      },
    })
    return node
  },
  'a group of makers': (z) => z.strictObject({ a: z.coerce.number(), b: z.iso.date().optional() }),
  'a default that is made when it is needed': (z) => {
    const inner = z.strictObject({ x: z.int().default(1) })
    return z.strictObject({ a: inner.default(() => inner.parse({})) })
  },
}

const VALUES: readonly unknown[] = [
  'ab', 'a', 'abcd', 'x', 'on', true, 7, null, {}, { a: 1 }, { a: 0 }, { a: '3', b: '2026-01-01' }, { a: { a: {} } },
  { a: { x: 2 } }, { a: 1, b: 2 }, { a: 2, b: 1 }, { a: 1, b: true }, { y: 'p' }, { y: 'z' }, { rows: [{ id: 1, n: 2 }] },
  { rows: [{ id: 'x' }, {}, {}] }, { abc: 1 }, { abcd: 1 }, { abc: ['x'] }, { a: 'x', b: 'y', c: 1 },
] // biome-ignore format: a table

describe('schemas that are made when they are needed say what zod says', () => {
  for (const [name, write] of Object.entries(SCHEMAS)) {
    test(name, () => {
      const wanted = write(real)
      const got = write(later)
      for (const value of VALUES) {
        const plain = (result: unknown) => {
          const { success, data, error } = result as { success: boolean; data?: unknown; error?: { issues: unknown } }
          return { success, data, issues: error?.issues }
        }
        assert.deepEqual(plain(got.safeParse(value)), plain(wanted.safeParse(value)), JSON.stringify(value))
      }
    })
  }
})

test('it is an instance of what zod would have made, and has the same JSON schema', () => {
  const write = (z: Z) => z.strictObject({ a: z.array(z.string().max(3)).default([]) })
  const schema = write(later)
  assert.ok(schema instanceof later.ZodObject && schema instanceof real.ZodObject)
  assert.ok(!(schema instanceof later.ZodArray))
  assert.deepEqual(later.toJSONSchema(schema), real.toJSONSchema(write(real)))
})

test('what is entered in a registry before it is made is found there', () => {
  const free = later.registry<{ free: true }>()
  const text = later.string()
  text.register(free, { free: true })
  const block = later.strictObject({ text, other: later.string() })
  assert.ok(free.has(block.shape.text))
  assert.ok(!free.has(block.shape.other))
})

test('nothing is made before it is needed', () => {
  let made = 0
  const schema = later.strictObject({
    get a() {
      made++
      return later.string()
    },
  })
  const wider = schema.extend({ b: later.int() }).optional()
  assert.equal(made, 0)
  assert.ok(wider.safeParse({ a: 'x', b: 1 }).success)
  assert.ok(made > 0)
})
