import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { withResource } from '../../src/server/testing/fake-controller.ts'
import { largeEstate, smallEstate } from '../../src/server/testing/fake-estate.ts'
import { FAWN, withFawn } from './happenings.ts'
import { openBrowser, stage, whyNoBrowser } from './stage.ts'

describe('the page in a real browser', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
  })

  test('the keyboard goes everywhere: views, filter, lines, palette, help, colours', async () => {
    await using it = await stage(browser, withFawn(largeEstate()))
    await it.go()
    const { keyboard } = it.page
    const at = () => it.page.evaluate('location.hash') as Promise<string>
    await keyboard.press('g')
    await keyboard.press('e')
    await it.page.locator('h1', { hasText: 'Estate' }).waitFor()
    await keyboard.press('/')
    await keyboard.type('still-fawn')
    await it.page.locator(`[data-key="${FAWN}"]`).waitFor()
    await keyboard.press('Escape')
    await it.page.locator(`[data-key="${FAWN}"]`).waitFor({ state: 'detached' })
    await keyboard.press('j')
    await keyboard.press('j')
    await keyboard.press('k')
    assert.equal(await it.page.evaluate('document.activeElement.matches("[data-row]")'), true)
    await keyboard.press('Control+k')
    await keyboard.type('fawn machine')
    await keyboard.press('Enter')
    await it.page.locator('h1', { hasText: 'k3s-vm-still-fawn' }).waitFor()
    assert.match(await at(), /resource/)
    await keyboard.press('?')
    await it.page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await keyboard.press('Escape')
    await it.page.locator('dialog').waitFor({ state: 'detached' })
    await keyboard.press('t')
    await keyboard.press('t')
    assert.equal(await it.page.evaluate('document.documentElement.dataset.theme'), 'dark')
    await it.page.reload()
    assert.equal(await it.page.evaluate('document.documentElement.dataset.theme'), 'dark')
  })

  test('a thousand machines are drawn as some dozen lines, and the last one is reached by scrolling', async () => {
    await using it = await stage(browser, largeEstate())
    await it.go('#/estate')
    await it.page.getByLabel('Filter').fill('e')
    const lines = it.page.locator('.virtual-row')
    await lines.nth(10).waitFor()
    assert.ok((await lines.count()) < 80, `${await lines.count()} lines are drawn`)
    await it.page.evaluate('document.querySelector("main").scrollTo(0, 1e7)')
    await it.page.locator('.virtual-row[aria-posinset="1020"]').waitFor()
    assert.ok((await lines.count()) < 80)
  })

  test('when the line is lost it says so, and comes back with what happened meanwhile', async () => {
    // The browser itself tells of connections that are refused or cut; nothing else may be wrong.
    const expected = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/
    await using it = await stage(browser, withFawn(smallEstate()), { expected })
    await it.go('#/estate')
    await it.stopServer()
    await it.page.getByText('The line to croft is lost').waitFor()
    await it.shot('line-lost')
    it.controller.set((view) => withResource(view, FAWN, (one) => ({ ...one, status: 'Restarting' })))
    await it.startServerAgain()
    await it.page.getByText('Restarting').waitFor()
    await it.page.getByText('The line to croft is lost').waitFor({ state: 'detached' })
  })
})
