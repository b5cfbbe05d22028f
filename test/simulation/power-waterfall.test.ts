import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measurePower } from './power-waterfall.ts'

test('a whole cluster off and on takes the critical path plus at most 2 s', async () => {
  const { off, on } = await measurePower(31)
  for (const [state, { addedMs, criticalMs, totalMs, parts }] of Object.entries({ off, on })) {
    const hint = `${state}: ${totalMs} ms, of which the world took ${criticalMs}: ${JSON.stringify(parts)}`
    assert.ok(criticalMs > 5_000, hint)
    assert.ok(addedMs <= 2_000, hint)
  }
})
