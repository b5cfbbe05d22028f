import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import { untilListed } from './snapshot-now.ts'

const listed = (...names: readonly string[]): ObservedCluster['snapshots'] =>
  names.map((name) => ({ name, atMs: 0, tokenKept: 'yes' }))

async function looked(before: ObservedCluster['snapshots'], answers: readonly ObservedCluster['snapshots'][]) {
  let looks = 0
  const look = async () => ({ observed: { snapshots: answers[Math.min(looks++, answers.length - 1)] ?? 'unknown' } })
  const { observed } = await untilListed(before, look, async () => {})
  return { looks, snapshots: observed.snapshots }
}

test('a snapshot that is listed late is waited for', async () => {
  assert.equal((await looked(listed('a'), [listed('a'), 'unknown', listed('a', 'b')])).looks, 3)
  assert.equal((await looked(listed(), [listed('b')])).looks, 1)
  assert.equal((await looked('unknown', [listed('b')])).looks, 1)
})

test('one that never comes is given up, with what was seen last', async () => {
  assert.deepEqual(await looked(listed('a'), [listed('a')]), { looks: 90, snapshots: listed('a') })
})
