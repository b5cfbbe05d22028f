import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, CDPSession } from 'playwright-core'
import { withResource } from '../../src/server/testing/fake-controller.ts'
import { largeEstate } from '../../src/server/testing/fake-estate.ts'
import { FAWN, withDrift, withFawn } from './happenings.ts'
import { openBrowser, stage, whyNoBrowser } from './stage.ts'

const VIEWS = ['', 'estate', 'graph', 'clusters', 'cluster/homelab', 'plan', 'drift', 'timeline', 'health', 'power']
/** So often every view is opened and left; in all more than two hundred times. */
const ROUNDS = 10
const WARM_ROUNDS = 2

describe('a page that is left open', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
  })

  test('keeps nothing of the views that were left, nor of the events that came: nodes, listeners, memory', async (t) => {
    await using it = await stage(browser, withDrift(withFawn(largeEstate())))
    const { page, controller } = it
    await it.go()
    const session = await page.context().newCDPSession(page)
    let [told, opened] = [0, 0]
    const round = async () => {
      for (const _ of VIEWS) {
        told += 1
        const status = `State${told}`
        const happened = { key: FAWN, type: 'Normal' as const, reason: status, message: 'x'.repeat(200) }
        controller.set((now) => withResource(now, FAWN, (one) => ({ ...one, status })), [happened])
      }
      opened += (await page.evaluate(OPEN_ALL)) as number
      await page.locator('.activity-newest').getByText(`State${told}`).waitFor()
    }
    for (let rounds = 0; rounds < WARM_ROUNDS; rounds += 1) await round()
    const before = await kept(session)
    for (let rounds = 0; rounds < ROUNDS; rounds += 1) await round()
    const afterwards = await kept(session)
    t.diagnostic(
      `${opened} views opened, ${told} events heard: ${JSON.stringify(before)} to ${JSON.stringify(afterwards)}`,
    )
    assert.ok(afterwards.nodes < before.nodes + 300, `${before.nodes} nodes, then ${afterwards.nodes}`)
    assert.ok(
      afterwards.listeners < before.listeners + 60,
      `${before.listeners} listeners, then ${afterwards.listeners}`,
    )
    assert.ok(afterwards.bytes < before.bytes + 3_000_000, `${before.bytes} bytes, then ${afterwards.bytes}`)
  })
})

/** Opens each view there and back, and waits until it is drawn; in the page itself, as asking it each time takes longer. */
const OPEN_ALL = `(async () => {
  const views = ${JSON.stringify([...VIEWS, ...VIEWS.toReversed()])}
  for (const view of views) {
    location.hash = '#/' + view
    do await new Promise((next) => setTimeout(next, 4))
    while (document.querySelector('main h1') === null || document.querySelector('main .loading') !== null)
  }
  return views.length
})()`

/** Returns what is left after a garbage collection. */
async function kept(session: CDPSession) {
  for (let times = 0; times < 3; times += 1) await session.send('HeapProfiler.collectGarbage')
  const { nodes, jsEventListeners: listeners } = await session.send('Memory.getDOMCounters')
  const { usedSize: bytes } = await session.send('Runtime.getHeapUsage')
  return { nodes, listeners, bytes }
}
