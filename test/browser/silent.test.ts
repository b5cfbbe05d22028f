import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { systemClock } from '../../src/lib/clock.ts'
import { startServer } from '../../src/server/start.ts'
import { fakeController } from '../../src/server/testing/fake-controller.ts'
import { smallEstate } from '../../src/server/testing/fake-estate.ts'
import { KEY } from '../../src/server/testing/questions.ts'
import { startRelay } from './relay.ts'
import { openBrowser, whyNoBrowser } from './stage.ts'

describe('a line that is silent', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
  })

  test('is lost after two heartbeats that did not come, and comes back', async () => {
    const controller = fakeController(smallEstate(), [])
    const options = { controller, clock: systemClock, version: '9.9.9', port: 0, names: ['127.0.0.1'] }
    const server = await startServer(options)
    const relay = await startRelay(server.port)
    const context = await browser.newContext()
    const page = await context.newPage()
    const banner = page.getByText('The connection to croft is lost')
    try {
      await page.goto(`${relay.url}/#/estate`)
      await page.locator(`[data-key="${KEY}"]`).waitFor()
      await page.waitForTimeout(12_000)
      assert.equal(await banner.count(), 0, 'the heartbeat is heard')
      relay.swallow()
      await banner.waitFor({ timeout: 30_000 })
      relay.cut()
      relay.mend()
      await banner.waitFor({ state: 'detached', timeout: 45_000 })
    } finally {
      await context.close()
      await relay.close()
      await server.close()
    }
  })
})
