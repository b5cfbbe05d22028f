import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coordinate } from './coordinate.ts'
import { walk } from './testing/walk.ts'

const LONG = process.env.CROFT_LONG === '1'
const replayed = process.env.CROFT_SEED
const COUNT = LONG ? 50_000 : 300

test('[O5] random walks: croft never takes etcd below its majority, and everything settles in a kind world', () => {
  const seeds = replayed === undefined ? Array.from({ length: COUNT }, (_, index) => index + 1) : [Number(replayed)]
  let steps = 0
  for (const seed of seeds) {
    const { breaches, unsettled, log, steps: taken } = walk(coordinate, seed)
    steps += taken
    const how = `to replay: CROFT_SEED=${seed} node bin/run scripts/test.ts src/plan/clusters/walk.test.ts`
    const story = log.slice(replayed === undefined ? -25 : 0).join('\n')
    assert.deepEqual(breaches, [], `${story}\n${how}`)
    assert.equal(unsettled, undefined, `${story}\n${how}`)
  }
  assert.ok(steps > seeds.length * 20, `${seeds.length} walks took only ${steps} steps`)
})
