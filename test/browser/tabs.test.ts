import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { withResource } from '../../src/server/testing/fake-controller.ts'
import { smallEstate } from '../../src/server/testing/fake-estate.ts'
import { KEY } from '../../src/server/testing/questions.ts'
import { openBrowser, stage, whyNoBrowser } from './stage.ts'

const TABS = 9

describe('many tabs of one browser', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
  })

  test('each is live by the stream of one, also after that one is closed', async () => {
    await using it = await stage(browser, smallEstate(), { expected: /./ })
    await it.go('#/estate')
    const tabs = [it.page]
    while (tabs.length < TABS) {
      const tab = await it.page.context().newPage()
      tabs.push(tab)
      await tab.goto(`${it.url}/#/estate`, { waitUntil: 'commit' })
      await tab.locator(`[data-key="${KEY}"]`).waitFor({ timeout: 15_000 })
    }
    const tell = async (status: string, open: typeof tabs) => {
      it.controller.set(
        (view) => withResource(view, KEY, (one) => ({ ...one, status })),
        [{ key: KEY, type: 'Normal', reason: 'Power', message: status }],
      )
      for (const tab of open) await tab.locator(`[data-key="${KEY}"]`, { hasText: status }).waitFor({ timeout: 10_000 })
    }
    await tell('Down', tabs)
    assert.equal(await tabs.at(-1)?.evaluate(async () => (await fetch('/api/me')).status), 200)
    const [first, ...others] = tabs
    await first?.close()
    await tell('Running', others)
  })
})
