import assert from 'node:assert/strict'
import { test } from 'node:test'
import { destroyed, follow, formed, guestOf } from './cluster-lab.ts'
import { clusterAsDeclared, etcdOf } from './cluster-oracle.ts'
import { LONG, replay, seeds } from './volume.ts'

const FILE = 'cluster-replaced.test.ts'

test('[F-28] killed at each moment of the replacement of a lost server, it ends as one that was never killed', async () => {
  for (const seed of seeds(1, 10)) {
    const hint = replay(FILE, seed)
    let points = 0
    for (let crashAt = 1; ; crashAt += 1 + ((seed * 7 + crashAt) % 5)) {
      const run = await formed(seed, hint)
      const before = etcdOf(run, hint)?.id
      await destroyed(run, 's2')
      const { end } = await follow(run, hint, { crashAt })
      if (end !== 'killed') break
      points++
      const after = await follow(run, `crashAt ${crashAt}; ${hint}`)
      assert.equal(after.end, 'settled', `crashAt ${crashAt}: ${after.verbs.join(', ')}; ${hint}`)
      assert.equal(etcdOf(run, hint)?.id, before, `crashAt ${crashAt}; ${hint}`)
      assert.ok(guestOf(run, 's2'))
      clusterAsDeclared(run, `crashAt ${crashAt}; ${hint}`)
      if (points >= 4 && !LONG) break
    }
    assert.ok(points > 2, `only ${points} moments were tried; ${hint}`)
  }
})
