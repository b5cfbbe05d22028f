import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { changeHolder } from '../../src/server/auth/security-keys.ts'
import { fakePast } from '../../src/server/testing/fake-past.ts'
import { KEY } from '../../src/server/testing/questions.ts'
import { richEstate } from '../../src/server/testing/rich-estate.ts'
import { EVIL, poisonAnswers, textFields } from './poison.ts'
import { openBrowser, signIn, stage, whyNoBrowser } from './stage.ts'

const TABS = ['overview', 'diff', 'events', 'yaml', 'observed']
const VIEWS = ['', 'estate', 'graph', 'clusters', 'plan', 'drift', 'timeline', 'health', 'power']

/** Never called: only the page's text of it counts here. */
const OF_ANNA = {
  id: 'AAAA',
  name: 'blue key',
  rpId: 'localhost',
  publicKey: 'AAAA',
  algorithm: -7,
  signCount: 0,
  addedMs: 0,
} as const

describe('[S-20] stored scripts', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
  })

  test('in every text that the API can answer with are shown as text, in every view and dialog: nothing runs', async () => {
    // A place that is only evil is answered 404, which the browser writes on its console.
    await using it = await stage(browser, richEstate(), { expected: /404 \(Not Found\)/, past: fakePast() })
    const { page } = it
    const poisoned = await poisonAnswers(page.context())
    const places = [
      ...VIEWS,
      `cluster/${encodeURIComponent(`homelab${EVIL}`)}`,
      ...[KEY, 'Machine/changing', 'Machine/waiting'].flatMap((key) =>
        TABS.map((tab) => `resource/${encodeURIComponent(`${key}${EVIL}`)}/${tab}`),
      ),
      // What stands in the address is text as well.
      encodeURIComponent(EVIL),
    ]
    for (const place of places) {
      await it.go(`#/${place}`)
      await page.locator('main .loading').waitFor({ state: 'detached' })
      await innocent(page, place)
    }
    await it.go(`#/cluster/${encodeURIComponent(`homelab${EVIL}`)}`)
    await page.locator('[data-gauge]').first().waitFor()
    await innocent(page, 'graphs')
    await it.go('#/health')
    await page.getByRole('button', { name: '90 days' }).click()
    await page.locator('[data-days]').first().waitFor()
    await innocent(page, 'health over days')
    await it.go('#/addon/homelab/web')
    for (const details of await page.getByRole('button', { name: /^Details of Pod/ }).all()) await details.click()
    await innocent(page, 'what runs for an add-on')
    await it.go('#/timeline')
    await page
      .getByRole('button', { name: /^Show \d+ event/ })
      .first()
      .click()
    await innocent(page, 'timeline, opened')
    await page.locator('.activity-head').click()
    await innocent(page, 'what happens, opened')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('x-evil')
    await page.locator('.palette li').first().waitFor()
    await innocent(page, 'palette')
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Sign in' }).click()
    await signIn(page)
    await page.reload()
    await changeHolder(it.users, { user: 'anna' }, () => ({ keys: [OF_ANNA] }))
    await page.getByRole('button', { name: 'Sessions' }).click()
    await page.getByText('blue key').waitFor()
    await inDialog(page, 'sessions')
    await changeHolder(it.users, { user: 'anna' }, () => ({ keys: [] }))
    await it.go('#/drift')
    await page.getByRole('button', { name: 'Adopt' }).click()
    await inDialog(page, 'adopt')
    await it.go('#/plan')
    await page.getByRole('button', { name: 'Show the exact calls' }).first().click()
    await innocent(page, 'calls')
    await page.getByRole('button', { name: 'Show what the commit changes' }).first().click()
    await page.locator('.change-diff').first().waitFor()
    await innocent(page, 'what a commit changes')
    await page.getByRole('button', { name: 'All', exact: true }).click()
    await page.getByRole('button', { name: /^Approve \d/ }).click()
    await inDialog(page, 'approve')
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await inDialog(page, 'approve a plan that waits')
    await it.go('#/power')
    await page.getByRole('button', { name: 'Switch on' }).click()
    await page.locator('dialog .tier').first().waitFor()
    await inDialog(page, 'power')

    // These are for programs: the page has the same fields from the view.
    const others = /^\/api\/(resources|drifts) /
    assert.deepEqual(
      textFields().filter((field) => !poisoned.has(field) && !others.test(field)),
      [],
      'no answer of this test had these fields: give richEstate() one that has them',
    )
  })
})

async function inDialog(page: Page, name: string): Promise<void> {
  await page.locator('dialog').getByText('<x-evil>').first().waitFor()
  await innocent(page, name)
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })
}

/** Proves that the page shows the hostile text, and only as text. */
async function innocent(page: Page, place: string): Promise<void> {
  const found = (await page.evaluate(`({
    shown: document.body.innerText.includes('<x-evil>'),
    elements: document.querySelectorAll('x-evil, img:not([src="/icon.svg"]), body script, [onerror], iframe').length,
    links: [...document.querySelectorAll('a')].filter((a) => !['http:', 'https:'].includes(a.protocol)).length,
  })`)) as { readonly shown: boolean; readonly elements: number; readonly links: number }
  assert.deepEqual(found, { shown: true, elements: 0, links: 0 }, place)
}
