import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesOf, SIX } from '../../test/simulation/manifests.ts'
import { createMemoryStore } from '../store/memory.ts'
import type { Store } from '../store/port.ts'
import { startHarness } from './testing/harness.ts'

const TWO = SIX.slice(0, 2)

test('[F-10] a token that expires in the middle stops effects at once, is asked at most once a minute, and work resumes after renewal', async () => {
  const harness = await startHarness({ machines: TWO })
  await harness.until(() => harness.writes.length >= 2)
  const [id = '', secret = ''] = harness.datacentre.token.split('=')
  harness.datacentre.setToken(id, { secret: 'another' })
  await harness.pass(1_000)
  const writes = harness.writes.length
  harness.calls()
  await harness.pass(600_000)
  assert.ok(harness.writes.length - writes <= 1, `${harness.writes.length - writes} writes with a dead token`)
  const calls = harness.calls()
  assert.ok(calls <= 11 * 2, `${calls} calls in ten minutes`)
  assert.equal(harness.controller.view().connections[0]?.state, 'refused')
  harness.datacentre.setToken(id, { secret })
  await harness.pass(61_000)
  assert.equal(harness.controller.view().connections[0]?.state, 'ok')
  await harness.until(
    () =>
      harness.controller.view().resources.length === 4 &&
      harness.controller
        .view()
        .resources.every((one) => one.conditions.some((c) => c.type === 'Ready' && c.status === 'True')),
  )
  await harness.stop()
})

/** A store whose n-th write fails, as a full disk makes it fail; `intended` counts what it has promised to keep. */
function failing(n: number) {
  let count = 0
  let intended = 0
  const writes = new Set([
    'intend',
    'noteTask',
    'settle',
    'putRecords',
    'dropRecord',
    'markComplete',
    'appendEvents',
    'putValue',
    'keepValue',
    'appendAudit',
  ])
  const wrap = (store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const method = Reflect.get(target, name) as unknown
        if (typeof method !== 'function') return method
        return (...args: unknown[]) => {
          if (writes.has(String(name)) && ++count === n)
            return Promise.reject(new Error('the database cannot be written: the disk is full'))
          if (name === 'intend') intended++
          return Reflect.apply(method, target, args) as unknown
        }
      },
    })
  return { wrap, intended: () => intended, happened: () => count >= n }
}

test('[F-24] whichever write of the store fails, the controller stops, nothing is done without a durable intention, and a restart ends well', async () => {
  let failed = 0
  for (let n = 1; ; n++) {
    const disk = createMemoryStore().disk
    const { wrap, intended, happened } = failing(n)
    const harness = await startHarness({ machines: TWO, disk, wrap })
    await harness.pass(120_000)
    if (!happened()) {
      await harness.stop()
      break
    }
    failed++
    assert.equal(harness.alive(), false, `write ${n} failed, and the controller went on`)
    // Every writing call has an intention, which is on disk first.
    assert.ok(
      harness.writes.length <= intended(),
      `write ${n}: ${harness.writes.length} calls, ${intended()} intentions`,
    )
    const again = await startHarness({ files: filesOf(TWO), disk, on: harness })
    await again.until(
      () =>
        again.controller.view().resources.length === 4 &&
        again.controller
          .view()
          .resources.every((one) => one.conditions.some((c) => c.type === 'Ready' && c.status === 'True')),
    )
    assert.deepEqual(
      [...again.datacentre.world.guests.keys()].filter((id) => id >= 200).sort((a, b) => a - b),
      [201, 202],
      `write ${n}`,
    )
    await again.stop()
  }
  assert.ok(failed > 20, `only ${failed} writes could fail`)
})
