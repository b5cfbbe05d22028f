import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { EstateView } from '../../src/model/estate-view.ts'
import { largeEstate } from '../../src/server/testing/fake-estate.ts'
import { KEY } from '../../src/server/testing/questions.ts'
import { richEstate } from '../../src/server/testing/rich-estate.ts'
import { LONG } from '../simulation/volume.ts'
import { FAWN, withDrift, withFawn } from './happenings.ts'
import { DESKTOP, openBrowser, PHONE, stage, WIDE, whyNoBrowser } from './stage.ts'

describe('the page on a screen', { skip: whyNoBrowser() ?? false }, () => {
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
/** Words that steer the page; all other text comes from manifests and systems. */
const STEERING = new Set(
  'do status type state policy severity effect disruption worst method passed role power api exists up tokenKept ready verb lane phase purpose tier wokenBy from next'.split(
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
