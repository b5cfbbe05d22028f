import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { systemClock } from '../../src/lib/clock.ts'
import { startServer } from '../../src/server/start.ts'
import { fakeController, withResource } from '../../src/server/testing/fake-controller.ts'
import { smallEstate } from '../../src/server/testing/fake-estate.ts'
import { KEY } from '../../src/server/testing/questions.ts'
import { startRelay } from './relay.ts'
import { openBrowser, whyNoBrowser } from './stage.ts'

describe('a line that is cut', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
  })

  test('is taken up where it broke: nothing is lost, nothing told twice, and the estate is not fetched again', async () => {
    const controller = fakeController(smallEstate(), [])
    const server = await startServer({
      controller,
      clock: systemClock,
      version: '9.9.9',
      port: 0,
      // The browser comes through another port.
      names: ['127.0.0.1'],
    })
    const relay = await startRelay(server.port)
    const context = await browser.newContext()
    context.setDefaultTimeout(40_000)
    const page = await context.newPage()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const happens = (name: string) =>
      controller.set(
        (view) => withResource(view, KEY, (one) => ({ ...one, status: name })),
        [{ key: KEY, type: 'Normal', reason: name, message: `it is ${name}` }],
      )
    try {
      await page.goto(`${relay.url}/#/estate`)
      await page.locator(`[data-key="${KEY}"]`).waitFor()
      await page.locator('.activity-head').click()
      happens('One')
      await page.locator('.activity-list').getByText('it is One').waitFor()
      relay.cut()
      await page.getByText('The connection to croft is lost').waitFor()
      for (const name of ['Two', 'Three', 'Four']) happens(name)
      relay.mend()
      await page.locator('.activity-list').getByText('it is Four').waitFor()
      await page.getByText('The connection to croft is lost').waitFor({ state: 'detached' })
      happens('Five')
      await page.locator('.activity-list').getByText('it is Five').waitFor()
      const told = await page.locator('.activity-list li b').allTextContents()
      assert.deepEqual(told, ['Five', 'Four', 'Three', 'Two', 'One'])
      await page.locator(`[data-key="${KEY}"]`).getByText('Five').waitFor()
      assert.equal(asked.filter((path) => path === '/api/view').length, 1, 'it began anew')
    } finally {
      await context.close()
      await relay.close()
      await server.close()
    }
  })
})
