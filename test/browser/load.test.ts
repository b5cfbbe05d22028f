import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { EstateView } from '../../src/model/estate-view.ts'
import { findPage, readPage } from '../../src/server/page-files.ts'
import { largeEstate, smallEstate } from '../../src/server/testing/fake-estate.ts'
import { openBrowser, stage, whyNoBrowser } from './stage.ts'

/** Of the first load, of everything but the terminal, and of the terminal, which is loaded with the first console. */
const FIRST_BYTES = 60_000
const LARGEST_BYTES = 90_000
const TERMINAL_BYTES = 95_000

test('the whole page is small: everything together, compressed, with the graph', async () => {
  const files = readPage(await findPage())
  assert.ok(files.has('/'))
  const bytes = (terminal: boolean) =>
    [...files]
      .filter(([name]) => name.startsWith('/terminal-') === terminal)
      .reduce((sum, [, { gzip }]) => sum + gzip.length, 0)
  assert.ok(bytes(false) < LARGEST_BYTES, `${bytes(false)} bytes`)
  assert.ok(bytes(true) > 0 && bytes(true) < TERMINAL_BYTES, `${bytes(true)} bytes of the terminal`)
})

test('the page names nothing outside and holds no inline script or style', async () => {
  const directory = await findPage()
  const html = readFileSync(`${directory}/index.html`, 'utf8')
  assert.doesNotMatch(html, /https?:|style=|<style|<script(?![^>]*src=)/)
  for (const [name, file] of readPage(directory)) {
    const addresses = [...file.plain.toString('utf8').matchAll(/https?:\/\/[\w.-]+/g)].map(([address]) => address)
    // Names of XML, which are never fetched.
    assert.deepEqual(
      addresses.filter((address) => address !== 'http://www.w3.org'),
      [],
      name,
    )
  }
})

describe('in a browser', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
  })

  for (const [size, estate] of [
    ['3 machines', smallEstate],
    ['1,000 machines', largeEstate],
  ] as const) {
    test(`the first load brings less than 60 kB of code and is drawn: ${size}`, async (t) => {
      await using it = await stage(browser, estate())
      const bytes = { code: 0, data: 0 }
      it.page.on('response', async (response) => {
        const sizes = await response
          .request()
          .sizes()
          .catch(() => undefined)
        bytes[response.url().includes('/api/') ? 'data' : 'code'] += sizes?.responseBodySize ?? 0
      })
      await it.go()
      await it.page.locator('.cluster-card').first().waitFor()
      const first = await drawn(it.page)
      assert.ok(bytes.code > 0 && bytes.code < FIRST_BYTES, `${bytes.code} bytes of code`)
      assert.ok(bytes.data < 250_000, `${bytes.data} bytes of data`)
      await it.page.reload()
      await it.page.locator('.cluster-card').first().waitFor()
      const again = await drawn(it.page)
      t.diagnostic(`first load of ${size}: ${bytes.code} bytes of code, ${bytes.data} bytes of data`)
      t.diagnostic(`interactive after ${first} ms, again after ${again} ms`)
    })
  }

  test('scrolling through a thousand machines draws some dozen lines at a time', async (t) => {
    await using it = await stage(browser, longEstate())
    for (const place of ['estate', 'plan', 'health', 'drift', 'power']) {
      await it.go(`#/${place}`)
      if (place === 'estate') await it.page.getByLabel('Filter').fill('web')
      await it.page.locator('main .loading').waitFor({ state: 'detached' })
      const { longest, most, steps } = (await it.page.evaluate(SCROLL)) as Scrolled
      t.diagnostic(`${place}: longest task ${longest} ms in ${steps} steps of scrolling, at most ${most} elements`)
      assert.ok(most < 6000, `${place} has ${most} elements`)
      if (place === 'estate') await it.page.getByLabel('Filter').fill('')
    }
  })

  test('the content policy stops a script that got into the page all the same', async () => {
    await using it = await stage(browser, smallEstate())
    await it.go()
    await it.page.evaluate(
      'const s = document.createElement("script"); try { s.textContent = "window.ran = true" } catch {} ; document.body.append(s)',
    )
    await it.page.evaluate('try { document.body.insertAdjacentHTML("beforeend", "<i>x</i>") } catch {}')
    assert.equal(await it.page.evaluate('window.ran'), undefined)
    assert.ok(it.wrongs.length > 0, 'the breach is seen by these tests')
    it.wrongs.length = 0
  })
})

interface Scrolled {
  readonly longest: number
  readonly most: number
  readonly steps: number
}

/** From top to bottom, a screen at a time and a frame between; the longest task meanwhile, as the browser counts them. */
const SCROLL = `new Promise((done) => {
  const main = document.querySelector('main')
  const tasks = []
  const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map((one) => one.duration)))
  observer.observe({ entryTypes: ['longtask'] })
  let steps = 0
  let most = 0
  const step = () => {
    most = Math.max(most, document.querySelectorAll('main *').length)
    if (main.scrollTop + main.clientHeight >= main.scrollHeight - 1 || steps > 400) {
      observer.disconnect()
      done({ longest: Math.round(Math.max(0, ...tasks)), most, steps })
      return
    }
    steps += 1
    main.scrollTop += main.clientHeight
    requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
})`

/** When everything stood on the page and keys were taken, in milliseconds since it was asked for. */
async function drawn(page: Page): Promise<number> {
  return Math.round((await page.evaluate('performance.getEntriesByName("croft-drawn")[0].startTime')) as number)
}

/** A thousand machines, each with a planned step and a drift. */
function longEstate(): EstateView {
  const estate = largeEstate()
  const names = estate.resources.map(({ key }) => key)
  return {
    ...estate,
    resources: estate.resources.map((one, index) => ({
      ...one,
      name: `web-${index}`,
      action: { do: 'wait', reason: 'Locked', message: 'a backup runs', lookAgainMs: 1000 },
    })),
    drifts: names.slice(0, 1000).map((key) => ({
      key,
      field: 'cpu.cores',
      declared: '4',
      observed: '6',
      sinceMs: estate.atMs,
      policy: 'report',
    })),
  }
}
