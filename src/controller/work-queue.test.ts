import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SIX } from '../../test/simulation/manifests.ts'
import { startHarness } from './testing/harness.ts'
import { createWorkQueue } from './work-queue.ts'

test('work is done in the order in which it came; who asked hears of what went wrong; at the end nobody waits', async () => {
  let woken = 0
  const between = createWorkQueue(() => woken++)
  const did: string[] = []
  const first = between.do(async () => did.push('first'))
  const second = between.do(async () => {
    throw new Error('it cannot be')
  })
  const third = between.do(async () => did.push('third'))
  assert.deepEqual([woken, did], [3, []])
  const refused = assert.rejects(second, /it cannot be/)
  await between.turn()
  await Promise.all([first, third, refused])
  assert.deepEqual(did, ['first', 'third'])
  const late = between.do(async () => did.push('late'))
  between.end()
  await assert.rejects(late, /is stopping/)
})

test('what is asked of a running controller is never done while a pass is under way', async () => {
  const harness = await startHarness({ machines: SIX.slice(0, 2) })
  let passing = false
  let beside = 0
  let done = 0
  const { engine } = harness
  const { pass } = engine
  engine.pass = async (...args) => {
    passing = true
    try {
      return await pass(...args)
    } finally {
      passing = false
    }
  }
  for (let n = 0; n < 40; n++) {
    void harness.controller.betweenPasses(async () => {
      if (passing) beside++
      await harness.clock.sleep(70)
      if (passing) beside++
      done++
    })
    await harness.pass(137)
  }
  await harness.until(() => done === 40)
  assert.equal(beside, 0)
  await harness.stop()
  await assert.rejects(
    harness.controller.betweenPasses(async () => {}),
    /is stopping/,
  )
})
