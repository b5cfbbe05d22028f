import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { smallEstate } from '../../src/server/testing/fake-estate.ts'
import { fakePower, goingOff } from '../../src/server/testing/fake-power.ts'
import { KEY } from '../../src/server/testing/questions.ts'
import { richEstate } from '../../src/server/testing/rich-estate.ts'
import { missed, told } from './access.ts'
import { DESKTOP, openBrowser, PHONE, stage, whyNoBrowser } from './stage.ts'

const TABS = ['overview', 'diff', 'events', 'yaml', 'observed'].map(
  (tab) => `resource/${encodeURIComponent(KEY)}/${tab}`,
)
const VIEWS = ['', 'estate', 'graph', 'clusters', 'cluster/homelab', 'plan', 'drift', 'timeline', 'health', 'power']
const NOWHERE = ['nowhere', 'cluster/none', 'estate/host/none']

const NOTHING = {
  resources: [],
  clusters: [],
  hosts: [],
  drifts: [],
  checks: [],
  problems: [],
  connections: [],
  power: [],
}

function estate() {
  return { ...richEstate(), power: [fakePower(goingOff())] }
}

describe('for somebody who cannot see the page', { skip: whyNoBrowser() ?? false }, () => {
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
    test(`everything that can be used has a name, headings are in order, tables have heads (${name})`, async () => {
      await using it = await stage(browser, estate(), { size })
      for (const view of [...VIEWS, ...TABS, ...NOWHERE]) {
        await it.go(`#/${view}`)
        await it.page.locator('main .loading').waitFor({ state: 'detached' })
        assert.deepEqual(missed(await told(it.page)), [], view)
      }
    })
  }

  test('what changes is said: the first sentence of the page, and that the line is lost', async () => {
    await using it = await stage(browser, estate(), { expected: /ERR_/ })
    const { page } = it
    await it.go('#/estate')
    const status = page.locator('[role=status].hidden')
    await status.getByText(/wrong|to look at/).waitFor({ state: 'attached' })
    it.controller.set(() => ({ ...NOTHING, sources: smallEstate().sources }))
    await status.getByText('Nothing is declared yet').waitFor({ state: 'attached' })
    const live = (await told(page)).filter(({ live: how }) => how === 'polite')
    assert.ok(live.length > 0)
    await it.stopServer()
    await page.getByRole('alert').getByText('The connection to croft is lost').waitFor()
  })
})
