import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { smallEstate } from '../../src/server/testing/fake-estate.ts'
import { missed, told } from './access.ts'
import { DESKTOP, openBrowser, PHONE, signIn, stage, whyNoBrowser } from './stage.ts'

describe('what runs for an add-on', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
  })

  for (const [name, size] of [
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const) {
    test(`the tree down to pods with images, restarts and events (${name})`, async () => {
      await using it = await stage(browser, smallEstate(), { size })
      const { page } = it
      await it.go('#/addon/homelab/web')
      const broken = page.locator('[data-node="Deployment/web"] [data-node="Pod/web-7d9c-bad"]')
      await broken.getByText('CrashLoopBackOff').waitFor()
      await broken.getByText('14 restarts').waitFor()
      await broken.getByRole('button', { name: 'Details of Pod web-7d9c-bad' }).click()
      await broken.getByText('registry.lan/web:1.4.2').waitFor()
      await broken.getByText('Back-off restarting failed container').waitFor()
      assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
      assert.deepEqual(missed(await told(page)), [])
      await it.both(`addon-${name}`)
    })
  }

  test('a log needs the right to operate; then it is shown, followed, and of the container before', async () => {
    await using it = await stage(browser, smallEstate())
    const { page } = it
    await it.go('#/addon/homelab/web')
    await page.getByRole('button', { name: 'Details of Pod web-7d9c-bad' }).click()
    const log = page.getByRole('button', { name: 'Log of web', exact: true })
    await log.click()
    await signIn(page, 'vera')
    await log.click()
    await page.getByText('This needs the right "operate", which vera does not have.').waitFor()
    assert.equal(it.controller.workloads.asked.length, 0)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await log.click()
    await signIn(page)
    await log.click()
    const text = page.getByRole('log')
    await text.getByText('listening on :8080').waitFor()
    await page.getByRole('button', { name: 'Follow', exact: true }).click()
    await text.getByText('listening on :8080').waitFor()
    // What it says may come before the page listens again: it goes on saying it.
    const saying = setInterval(() => it.controller.workloads.say('GET /health 200'), 50)
    await text.getByText('GET /health 200').first().waitFor()
    clearInterval(saying)
    assert.deepEqual(missed(await told(page)), [])
    await it.both('addon-log')
    await page.getByRole('button', { name: 'Previous log of web' }).click()
    await text.getByText('panic: no database').waitFor()
    await page.getByRole('button', { name: 'Close the log' }).click()
    await text.waitFor({ state: 'detached' })
    assert.ok(it.audit.some(({ what, result }) => what === 'logs' && result === 'done'))
  })

  test('an add-on that nobody declares is said to be none', async () => {
    await using it = await stage(browser, smallEstate(), { expected: /404/ })
    await it.go('#/addon/homelab/none')
    await it.page.getByRole('heading', { name: 'There is no add-on none' }).waitFor()
  })
})
