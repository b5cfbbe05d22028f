import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { fakePower, goingOff } from '../../src/server/testing/fake-power.ts'
import { richEstate } from '../../src/server/testing/rich-estate.ts'
import { missed, told } from './access.ts'
import { openBrowser, signIn, stage, whyNoBrowser } from './stage.ts'

const VIEWS = ['', 'estate', 'graph', 'cluster/homelab', 'plan', 'drift', 'timeline', 'health', 'power']

function estate() {
  return { ...richEstate(), power: [fakePower(goingOff())] }
}

describe('for somebody who has no mouse', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
  })

  test('dialogs are told, keep the focus inside and give it back to what opened them', async () => {
    await using it = await stage(browser, estate())
    const { page } = it
    const focus = () => page.evaluate('document.activeElement?.textContent?.trim()')
    const held = () => page.evaluate('document.querySelector("dialog")?.contains(document.activeElement)')
    await it.go('#/drift')
    await page.getByRole('button', { name: 'Sign in' }).click()
    assert.deepEqual(missed(await told(page)), [], 'sign in')
    await signIn(page)
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    for (const [view, button, title] of [
      ['drift', 'Revert', /Revert .* to what Git says/],
      ['drift', 'Adopt', /Adopt the live state/],
      ['power', 'Hold', /Keep .* as it is/],
      ['power', 'Switch on', /Switch .* on/],
    ] as const) {
      await it.go(`#/${view}`)
      const opener = page.getByRole('button', { name: button, exact: true }).first()
      await opener.focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: title }).waitFor()
      await page.locator('dialog .loading').waitFor({ state: 'detached' })
      assert.deepEqual(missed(await told(page)), [], button)
      for (let presses = 0; presses < 8; presses += 1) {
        await page.keyboard.press('Tab')
        // A dialog hands the focus on to the browser itself once a round: then nothing of the page has it.
        const where = await page.evaluate('document.activeElement === document.body')
        assert.ok(where === true || (await held()) === true, `${button}: the focus left after ${presses + 1}`)
      }
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
      assert.equal(await focus(), button)
    }
    for (const key of ['?', 'Control+k']) {
      await page.locator('.nav-link', { hasText: 'Estate' }).first().focus()
      await page.keyboard.press(key)
      await page.locator('dialog').waitFor()
      assert.deepEqual(missed(await told(page)), [], key)
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
      assert.equal(await focus(), 'Estate')
    }
  })

  test('the first key leads past the navigation, and whatever has the focus shows it', async () => {
    await using it = await stage(browser, estate())
    const { page } = it
    await it.go()
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.className'), 'skip')
    await page.keyboard.press('Enter')
    assert.equal(await page.evaluate('document.activeElement.id'), 'main')
    for (const view of VIEWS) {
      await it.go(`#/${view}`)
      await page.locator('main .loading').waitFor({ state: 'detached' })
      await page.evaluate('document.getElementById("main").focus()')
      const seen = new Set<string>()
      for (let presses = 0; presses < 60; presses += 1) {
        await page.keyboard.press('Tab')
        const { inside, mark, which } = (await page.evaluate(FOCUSED)) as Focused
        if (!inside || seen.has(which)) break
        seen.add(which)
        assert.ok(mark, `${view}: nothing shows that ${which} has the focus`)
      }
      assert.ok(seen.size > 0, view)
    }
  })
})

interface Focused {
  readonly inside: boolean
  readonly mark: boolean
  readonly which: string
}

/** What has the focus, and whether a ring is drawn around it or around the field that it is in. */
const FOCUSED = `(() => {
  const one = document.activeElement
  const ringed = (node) => node !== null && getComputedStyle(node).outlineStyle !== 'none' && parseFloat(getComputedStyle(node).outlineWidth) >= 2
  const all = [...document.querySelectorAll('*')]
  return {
    inside: document.querySelector('main').contains(one),
    mark: ringed(one) || ringed(one.closest('label')),
    which: one.tagName + ' ' + all.indexOf(one) + ' ' + (one.getAttribute('aria-label') ?? one.textContent).slice(0, 40),
  }
})()`
