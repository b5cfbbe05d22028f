import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateOf, SIX } from './manifests.ts'
import { simulate } from './run.ts'

for (const hours of [0, -24, 24 * 365])
  test(`a connection answers 503 once, and the clock moves by ${hours} h: it is looked at again within a minute`, async () => {
    const run = simulate({ seed: 1, estate: estateOf(SIX.slice(0, 1)) })
    let off = 0
    const process = run.start({ wallOffMs: () => off })
    assert.equal(await run.untilSettled(process), 'settled')
    const datacentre = run.datacentre as { handle: typeof run.datacentre.handle }
    const { handle } = datacentre
    datacentre.handle = () =>
      Promise.resolve({ status: 503, reason: 'Service Unavailable', headers: {}, body: '' }) as never
    const [during] = await run.passes(process, 1)
    assert.equal(during?.plan.notes.length, 1)
    datacentre.handle = handle
    off = hours * 3_600_000
    const since = run.clock.now()
    for (;;) {
      const [report] = await run.passes(process, 1)
      if (report?.plan.notes.length === 0) break
      assert.ok(run.clock.now() - since < 60_000, JSON.stringify(report?.plan.notes))
    }
  })
