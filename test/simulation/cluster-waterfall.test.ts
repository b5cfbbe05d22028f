import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measureFormation } from './cluster-waterfall.ts'
import { seeds } from './volume.ts'

test('from the push to three Ready servers: the critical path and at most two seconds of simulated time', async (t) => {
  for (const seed of seeds(3, 100)) {
    const { totalMs, criticalMs, addedMs, parts } = await measureFormation(seed)
    t.diagnostic(`seed ${seed}: ${totalMs} ms, of which the world took ${criticalMs} and croft ${addedMs}`)
    const told = parts.map(({ label, whose, fromMs, toMs }) => `${label} (${whose}): ${toMs - fromMs}`).join('\n')
    assert.ok(addedMs <= 2_000, `croft added ${addedMs} ms\n${told}`)
    assert.ok(criticalMs > 20_000, 'the world took no time: nothing would be proved')
  }
})
