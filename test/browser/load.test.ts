import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { EstateView } from '../../src/model/estate-view.ts'
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

  test('[S-20] whatever a name, message or value says, it is text: nothing runs', async () => {
    const evil = `<img src=x onerror="alert(1)"><script>alert(2)</script>"'\`javascript:alert(3)//`
    await using it = await stage(browser, poisoned(smallEstate(), evil))
    it.controller.manifests = { [poisonedKey(it.controller.view())]: `kind: ${evil}` }
    const key = encodeURIComponent(poisonedKey(it.controller.view()))
    const cluster = encodeURIComponent(it.controller.view().clusters[0]?.name ?? '')
    const views = [
      '',
      'estate',
      'graph',
      'clusters',
      `cluster/${cluster}`,
      'plan',
      'drift',
      'timeline',
      'health',
      'power',
    ]
    const tabs = ['overview', 'diff', 'events', 'yaml', 'observed'].map((tab) => `resource/${key}/${tab}`)
    for (const view of [...views, ...tabs, encodeURIComponent(evil), `resource/${encodeURIComponent(`x${evil}`)}`]) {
      await it.go(`#/${view}`)
      await it.page.locator('main .loading').waitFor({ state: 'detached' })
      const found = await it.page.evaluate(
        '[document.querySelectorAll("img:not([src=\\"/icon.svg\\"]), main script, [onerror]").length, [...document.querySelectorAll("a")].filter((a) => a.protocol === "javascript:").length]',
      )
      assert.deepEqual(found, [0, 0], view)
    }
    await it.page.locator('.activity-head').click()
    await it.page.keyboard.press('Control+k')
    await it.page.keyboard.type('img')
    // A resource that is not there is answered 404, which the browser writes on its console.
    const other = it.wrongs.filter((wrong) => !wrong.includes('404 (Not Found)'))
    assert.deepEqual(other, [])
    it.wrongs.length = 0
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

/** Every text in the view replaced, and the words that must stay what they are kept. */
function poisoned(view: EstateView, evil: string): EstateView {
  const fixed = new Set([
    'do',
    'status',
    'type',
    'state',
    'policy',
    'severity',
    'effect',
    'disruption',
    'method',
    'passed',
    'role',
    'power',
    'api',
    'exists',
    'up',
    'tokenKept',
    'ready',
    'verb',
    'lane',
    'membershipChanged',
    'passwordSecret',
    'service',
    'phase',
    'commit',
    'purpose',
  ])
  const poison = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') return fixed.has(name) ? value : `${evil}${value}`
    if (Array.isArray(value)) return value.map((one) => poison(one, name))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, poison(one, key)]))
  }
  const drift = {
    key: view.resources[1]?.key ?? '',
    field: 'f',
    declared: 'd',
    observed: 'o',
    sinceMs: 1,
    by: { user: 'u', task: 't', atMs: 1 },
    policy: 'report' as const,
  }
  const origin = { file: 'f', line: 1, column: 1 }
  const problem = {
    code: 'c',
    origin,
    object: 'o',
    field: 'f',
    message: 'm',
    hint: 'h',
    excerpt: 'e',
    severity: 'error' as const,
  }
  const full: EstateView = {
    ...view,
    drifts: [drift],
    problems: [problem],
    sources: view.sources.map((one) => ({ ...one, trouble: 't' })),
    connections: view.connections.map((one) => ({ ...one, state: 'suspect', message: 'm', allow: 'a' })),
    resources: view.resources.map((one, index) =>
      index === 1
        ? {
            ...one,
            status: evil,
            action: {
              do: 'hold',
              guard: 'g',
              reason: 'r',
              allow: 'a',
              held: {
                do: 'update',
                externalId: '1',
                steps: [],
                changes: [{ path: 'p', from: 'f', to: 't', effect: 'live' }],
              },
            },
          }
        : one,
    ),
  }
  return poison(full, '') as EstateView
}

function poisonedKey(view: EstateView): string {
  return view.resources[1]?.key ?? ''
}
