import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateOf, SIX } from './manifests.ts'
import { simulate } from './run.ts'

test('a pass that is told to touch only one thing touches only that, and still sees the whole', async () => {
  const run = simulate({ seed: 1, estate: estateOf(SIX) })
  await run.untilSettled(run.start())
  const before = run.datacentre.writes.length
  const left = SIX.filter((machine) => machine.name !== 'agent-3').map((machine) => ({ ...machine, memory: 4096 }))
  const settled = await run.clock.runUntil(
    run.start().engine.settle(estateOf(left), {
      signal: new AbortController().signal,
      only: new Set(['EnvironmentVM/agent-3']),
    }),
  )
  assert.equal(settled.outcome, 'settled')
  const writes = run.datacentre.writes.slice(before)
  assert.deepEqual(
    writes.map((write) => write.method),
    ['POST', 'DELETE'],
    'one shutdown and one delete, nothing twice',
  )
  assert.ok(
    writes.every((write) => write.path.includes('/qemu/302')),
    JSON.stringify(writes),
  )
})
