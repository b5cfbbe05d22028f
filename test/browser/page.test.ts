import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { EstateView } from '../../src/model/estate-view.ts'
import { withResource } from '../../src/server/testing/fake-controller.ts'
import { largeEstate, smallEstate } from '../../src/server/testing/fake-estate.ts'
import { KEY } from '../../src/server/testing/questions.ts'
import { richEstate } from '../../src/server/testing/rich-estate.ts'
import { LONG } from '../simulation/volume.ts'
import { FAWN, withDrift, withFawn } from './happenings.ts'
import { DESKTOP, openBrowser, PHONE, stage, WIDE, whyNoBrowser } from './stage.ts'

describe('the page in a real browser', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
  })

  for (const [name, size] of [
    ['desktop', DESKTOP],
    ['wide', WIDE],
    ['phone', PHONE],
  ] as const) {
    test(`every view has its heading, fits the width and is kept as a picture (${name})`, async () => {
      await using it = await stage(browser, withDrift(withFawn(largeEstate())), { size })
      for (const view of viewsOf('staging', FAWN)) {
        await fits(it, view)
        // Every view in every size is for people to look through, not for each run.
        if (LONG) await it.shot(`${name}-${view.replaceAll(/\W+/g, '-') || 'overview'}`)
      }
    })

    test(`[S-16] names of any length stay inside (${name})`, async () => {
      await using it = await stage(browser, longNamed(richEstate()), { size })
      for (const view of viewsOf(`homelab${LONG_NAME}`, `${KEY}${LONG_NAME}`)) {
        await fits(it, view)
        if (LONG) await it.shot(`long-${name}-${view.slice(0, 16).replaceAll(/\W+/g, '-') || 'overview'}`)
      }
    })
  }

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

type Stage = Awaited<ReturnType<typeof stage>>

/** Nothing is wider than the place it has, neither the view nor a card in it. */
async function fits(it: Stage, view: string): Promise<void> {
  await it.go(`#/${view}`)
  await it.page.locator('main .loading').waitFor({ state: 'detached' })
  const wide =
    (await it.page.evaluate(`[document.querySelector('main'), ...document.querySelectorAll('main .card:not(.graph)')]
    .filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map((one) => one.className + ' ' + one.scrollWidth + ' > ' + one.clientWidth)`)) as readonly string[]
  assert.deepEqual(wide, [], view)
}

function viewsOf(cluster: string, key: string): readonly string[] {
  const tabs = ['overview', 'diff', 'events', 'yaml', 'observed'].map(
    (tab) => `resource/${encodeURIComponent(key)}/${tab}`,
  )
  const views = ['', 'estate', 'graph', 'clusters', 'plan', 'drift', 'timeline', 'health', 'power']
  return [...views, `cluster/${encodeURIComponent(cluster)}`, ...tabs]
}

const LONG_NAME = 'x'.repeat(280)
/** Words that steer the page; everything else is text that somebody else chose. */
const STEERING = new Set(
  'do status type state policy severity effect disruption method passed role power api exists up tokenKept ready verb lane phase purpose tier wokenBy from'.split(
    ' ',
  ),
)

/** The estate with every name and message very long, without a space to break at. */
function longNamed(estate: EstateView): EstateView {
  const longer = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') return STEERING.has(name) ? value : `${value}${LONG_NAME}`
    if (Array.isArray(value)) return value.map((one) => longer(one, name))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, longer(one, key)]))
  }
  return longer(estate, '') as EstateView
}
