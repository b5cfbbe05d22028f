import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { findPage, readPage } from '../../src/server/page-files.ts'
import { largeEstate, smallEstate } from '../../src/server/testing/fake-estate.ts'
import { openBrowser, stage, whyNoBrowser } from './stage.ts'

const LARGEST_BYTES = 60_000

test('the whole page is small: everything together, compressed, with the graph', async () => {
  const files = readPage(await findPage())
  assert.ok(files.has('/'))
  const bytes = [...files.values()].reduce((sum, { gzip }) => sum + gzip.length, 0)
  assert.ok(bytes < LARGEST_BYTES, `${bytes} bytes`)
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

  test('the first load brings less than 60 kB of code and draws a thousand machines', async (t) => {
    await using it = await stage(browser, largeEstate())
    let code = 0
    let data = 0
    it.page.on('response', async (response) => {
      const bytes = await response
        .request()
        .sizes()
        .catch(() => undefined)
      if (response.url().includes('/api/')) data += bytes?.responseBodySize ?? 0
      else code += bytes?.responseBodySize ?? 0
    })
    await it.go()
    await it.page.locator('.trouble').first().waitFor()
    const drawn = (await it.page.evaluate('performance.getEntriesByName("croft-drawn")[0].startTime')) as number
    assert.ok(code > 0 && code < LARGEST_BYTES, `${code} bytes of code`)
    assert.ok(data < 250_000, `${data} bytes of data`)
    t.diagnostic(`first load: ${code} bytes of code, ${data} bytes of data, drawn after ${Math.round(drawn)} ms`)
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
