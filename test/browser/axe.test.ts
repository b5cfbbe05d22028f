import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { fakePast } from '../../src/server/testing/fake-past.ts'
import { fakePower, goingOff } from '../../src/server/testing/fake-power.ts'
import { KEY } from '../../src/server/testing/questions.ts'
import { richEstate } from '../../src/server/testing/rich-estate.ts'
import { axeFindings } from './axe.ts'
import { DESKTOP, openBrowser, PHONE, signIn, stage, whyNoBrowser } from './stage.ts'

const VIEWS = [
  '',
  'estate',
  'graph',
  'clusters',
  'cluster/homelab',
  'addon/homelab/web',
  'plan',
  'drift',
  'timeline',
  'health',
  'health/days',
  'power',
  ...['overview', 'diff', 'events', 'yaml', 'observed'].map((tab) => `resource/${encodeURIComponent(KEY)}/${tab}`),
]

describe('axe finds nothing', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
  })

  for (const [name, size, scheme] of [
    ['a desktop in light', DESKTOP, 'light'],
    ['a phone in dark', PHONE, 'dark'],
  ] as const) {
    test(`in every view, on ${name}`, async () => {
      const estate = { ...richEstate(), power: [fakePower(goingOff())] }
      await using it = await stage(browser, estate, { size, scheme, past: fakePast() })
      const { page } = it
      const found: Record<string, readonly string[]> = {}
      const look = async (what: string) => {
        await page.locator('main .loading').waitFor({ state: 'detached' })
        const findings = await axeFindings(page)
        if (findings.length > 0) found[what] = findings
      }
      for (const view of VIEWS) {
        await it.go(`#/${view}`)
        await look(view)
      }
      await it.go('#/plan')
      const show = page.getByRole('button', { name: 'Show what the commit changes' }).first()
      await show.click()
      await page.locator('dialog').waitFor()
      await look('sign in')
      await signIn(page)
      await show.click()
      await page.locator('.diff-added').waitFor()
      await look('a diff')
      await page.keyboard.press('?')
      await page.locator('dialog').waitFor()
      await look('help')
      await page.keyboard.press('Escape')
      await page.keyboard.press('Control+k')
      await page.locator('dialog').waitFor()
      await look('palette')
      assert.deepEqual(found, {})
    })
  }
})
