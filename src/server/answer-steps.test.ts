import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { z } from 'zod'
import { atOnce } from '../lib/in-turns.ts'
import { checking, writing } from './answer-steps.ts'
import { shownJson } from './shown-json.ts'

const schema = z.object({
  total: z.number(),
  name: z.string().optional(),
  rows: z.array(z.object({ key: z.string(), more: z.array(z.number()).optional() })).readonly(),
  others: z.array(z.string()).readonly().optional(),
})
const answers = fc.record(
  {
    total: fc.integer(),
    name: fc.string({ unit: 'binary' }),
    rows: fc.array(
      fc.record({ key: fc.string({ unit: 'binary' }), more: fc.array(fc.integer()), secret: fc.string() }),
    ),
    others: fc.array(fc.string()),
    unknown: fc.array(fc.string()),
  },
  { requiredKeys: ['total', 'rows'] },
)

test('an answer in steps is the answer at once, and so is its text', () => {
  fc.assert(
    fc.property(answers, (answer) => {
      const whole = schema.parse(answer)
      const inSteps = atOnce(checking(schema, answer))
      assert.deepEqual(inSteps, whole)
      assert.equal(atOnce(writing(inSteps)), shownJson(whole))
    }),
  )
})

test('an answer that is not as promised is refused in steps as well', () => {
  for (const wrong of [
    { total: 1, rows: [{ key: 1 }] },
    { total: 'x', rows: [] },
    { rows: [] },
    null,
    'x',
    { total: 1, rows: {} },
  ])
    assert.throws(() => atOnce(checking(schema, wrong)), z.ZodError, JSON.stringify(wrong))
})

test('[S-41] each line of a list is a step of its own, when it is checked and when it is written', () => {
  const rows = Array.from({ length: 500 }, (_, at) => ({ key: String(at) }))
  const steps = (work: Iterable<unknown>) => [...work].length
  assert.ok(steps(checking(schema, { total: 1, rows })) >= rows.length)
  assert.ok(steps(writing({ total: 1, rows })) >= rows.length)
})
