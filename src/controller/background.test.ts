import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesOf, SIX } from '../../test/simulation/manifests.ts'
import { createChecks } from './checks/checks.ts'
import { startHarness } from './testing/harness.ts'

const TWO = SIX.slice(0, 2)
const CHECK =
  'apiVersion: croft.dev/v1alpha1\nkind: HealthCheck\nmetadata: {name: slow}\nspec: {every: 60s, timeout: 10m, tcp: {host: h, port: 1}}\n'

test('a check that takes its time holds up no push, and its answer is shown when it comes', async () => {
  let asked = 0
  const harness = await startHarness({
    files: { ...filesOf(TWO), 'check.yaml': CHECK },
    options: (clock) => ({
      checks: createChecks(clock, async () => {
        asked++
        await clock.sleep(300_000)
        return { passed: 'yes', output: 'at last' }
      }),
    }),
  })
  const settled = () => {
    const { resources } = harness.controller.view()
    return resources.length > 0 && resources.every(({ action }) => action.do === 'nothing')
  }
  await harness.until(() => asked > 0 && settled())
  const writes = harness.writes.length
  harness.push({ ...filesOf(TWO.map((one) => ({ ...one, memory: 4096 }))), 'check.yaml': CHECK })
  harness.controller.poke('main')
  const toldMs = harness.clock.now()
  await harness.until(() => harness.writes.length > writes)
  assert.ok(harness.clock.now() - toldMs < 5_000, 'the push waited for the check')
  assert.deepEqual(harness.controller.view().checks, [])
  await harness.until(() => harness.controller.view().checks.length > 0)
  assert.equal(harness.controller.view().checks[0]?.output, 'at last')
  assert.ok(harness.controller.counters().passes < 200, 'the loop does not spin')
  await harness.stop()
})
