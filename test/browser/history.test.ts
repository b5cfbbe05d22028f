import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { systemClock } from '../../src/lib/clock.ts'
import { startServer } from '../../src/server/start.ts'
import { fakeController } from '../../src/server/testing/fake-controller.ts'
import { smallEstate } from '../../src/server/testing/fake-estate.ts'
import { fakePast } from '../../src/server/testing/fake-past.ts'
import { missed, told } from './access.ts'
import { DESKTOP, openBrowser, PHONE, SHOTS, shot, stage, watch, whyNoBrowser } from './stage.ts'

const SIZES = [
  ['desktop', DESKTOP],
  ['phone', PHONE],
] as const

function estate() {
  const checks = [{ name: 'web', passed: 'yes' as const, output: 'answered 200', atMs: Date.now() }]
  return { ...smallEstate(), checks }
}

describe('over days', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
  })

  for (const [name, size] of SIZES) {
    test(`health shows 90 days; a day of which nothing is known is not a bad one (${name})`, async () => {
      await using it = await stage(browser, estate(), { size, past: fakePast() })
      await it.go('#/health')
      await it.page.getByRole('button', { name: '90 days' }).click()
      const web = it.page.locator('[data-days="check/web"]')
      await web.waitFor()
      assert.match((await web.textContent()) ?? '', /worst \d{4}-\d\d-\d\d: 20 min/)
      assert.match((await web.textContent()) ?? '', /99\.9 %/)
      assert.equal(await it.page.locator('[data-days="host/still-fawn"] .strip-share').textContent(), '100 %')
      assert.equal(await it.page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
      assert.deepEqual(missed(await told(it.page)), [])
      await it.both(`health-days-${name}`)
    })

    test(`a host and a cluster have graphs over time (${name})`, async () => {
      await using it = await stage(browser, estate(), { size, past: fakePast() })
      await it.go('#/estate/host/still-fawn')
      await it.page.locator('[data-gauge="cpu/still-fawn"]').waitFor()
      await it.page.locator('[data-gauge="storage/still-fawn/local-zfs"]').waitFor()
      assert.equal(await it.page.locator('[data-gauge="etcdBytes/homelab"]').count(), 0, 'that is of a cluster')
      await it.page.getByRole('button', { name: '7 d' }).click()
      await it.page.getByRole('img', { name: /CPU of still-fawn, 168 hours/ }).waitFor()
      assert.deepEqual(missed(await told(it.page)), [])
      await it.go('#/cluster/homelab')
      const size24 = it.page.locator('[data-gauge="etcdBytes/homelab"]')
      await size24.waitFor()
      assert.match((await size24.textContent()) ?? '', /etcd size.*MiB now, at most \d+ MiB/)
      await it.page.locator('[data-gauge="etcdMs/homelab"]').waitFor()
      await it.page.locator('[data-gauge="cpu/k3s-vm-still-fawn"]').waitFor()
      assert.equal(await it.page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
      assert.deepEqual(missed(await told(it.page)), [])
      await size24.scrollIntoViewIfNeeded()
      await it.both(`graphs-${name}`)
    })

    test(`strangers read the status page without signing in (${name})`, async () => {
      const server = await startServer({
        controller: { ...fakeController(estate()), past: fakePast() },
        clock: systemClock,
        version: '9.9.9',
        port: 0,
        signedInOnly: true,
        status: {
          title: 'Services at home',
          show: [
            { what: 'check', subject: 'web', as: 'Website' },
            { what: 'host', subject: 'still-fawn', as: 'Server in the cellar' },
          ],
        },
      })
      const context = await browser.newContext({ viewport: size, locale: 'en-GB', timezoneId: 'UTC' })
      const wrongs = watch(context, server.url)
      try {
        const page = await context.newPage()
        const loaded: string[] = []
        page.on('response', (response) => loaded.push(new URL(response.url()).pathname))
        await page.goto(`${server.url}/status`)
        await page.getByText('All up').waitFor()
        await page.getByRole('img', { name: /Website: 99\.96 % up over 90 days/ }).waitFor()
        assert.equal(loaded.filter((path) => path.endsWith('.js')).length, 0)
        assert.ok(
          loaded.some((path) => /^\/status-\w+\.css$/.test(path)),
          'it has its own style',
        )
        assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false)
        assert.deepEqual(missed(await told(page)), [])
        await shot(page, `status-${name}`)
      } finally {
        await context.close()
        await server.close()
      }
      assert.deepEqual(wrongs, [], SHOTS)
    })
  }
})
