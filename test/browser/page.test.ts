import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { withResource } from '../../src/server/testing/fake-controller.ts'
import { largeEstate, smallEstate } from '../../src/server/testing/fake-estate.ts'
import { FAWN, withFawn } from './happenings.ts'
import { openBrowser, stage, whyNoBrowser } from './stage.ts'

/** The browser itself tells of connections that are refused or cut; nothing else may be wrong. */
const LINE_TROUBLE = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/

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
    await it.page.locator('.go-keys').getByText('Estate').waitFor()
    await keyboard.press('e')
    await it.page.locator('.go-keys').waitFor({ state: 'detached' })
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

  test('what cannot be fetched says so instead of waiting for ever, and comes by itself when croft is back', async () => {
    await using it = await stage(browser, withFawn(smallEstate()), { expected: LINE_TROUBLE })
    await it.go()
    await it.stopServer()
    await it.page.getByText('The connection to croft is lost').waitFor()
    await it.page.locator('.nav-link', { hasText: 'Timeline' }).first().click()
    await it.page.getByRole('alert').getByText('This cannot be loaded now').waitFor()
    // A resource that cannot be fetched is not one that does not exist.
    await it.page.evaluate(`location.hash = '#/resource/${encodeURIComponent(FAWN)}'`)
    await it.page.getByRole('alert').getByText('croft does not answer').waitFor()
    assert.equal(await it.page.getByText('There is no such resource').count(), 0)
    await it.startServerAgain()
    await it.page.locator('h1', { hasText: 'k3s-vm-still-fawn' }).waitFor()
    await it.page.locator('.nav-link', { hasText: 'Timeline' }).first().click()
    await it.page.locator('.chapter').first().waitFor()
  })

  test('before anything is known it says what it waits for, never that all is well', async () => {
    const { sources, ...rest } = smallEstate()
    const empty = { ...rest, resources: [], clusters: [], hosts: [], drifts: [], checks: [], problems: [] }
    await using it = await stage(browser, {
      ...empty,
      sources: sources.map(({ name, remote, ref }) => ({ name, remote, ref })),
    })
    await it.go()
    await it.page.getByRole('heading', { name: 'Waiting for Git' }).waitFor()
    await it.page.locator('.first-steps').getByText('croft import proxmox .').waitFor()
    it.controller.set(() => ({ sources }))
    await it.page.getByRole('heading', { name: 'Nothing is declared yet' }).waitFor()
    await it.go('#/nowhere')
    await it.page.getByText('There is no such view').waitFor()
  })

  test('when the line is lost it says so, and comes back with what happened meanwhile', async () => {
    await using it = await stage(browser, withFawn(smallEstate()), { expected: LINE_TROUBLE })
    await it.go('#/estate')
    await it.stopServer()
    await it.page.getByText('The connection to croft is lost').waitFor()
    await it.shot('line-lost')
    it.controller.set((view) => withResource(view, FAWN, (one) => ({ ...one, status: 'Restarting' })))
    await it.startServerAgain()
    await it.page.getByText('Restarting').waitFor()
    await it.page.getByText('The connection to croft is lost').waitFor({ state: 'detached' })
  })
})
