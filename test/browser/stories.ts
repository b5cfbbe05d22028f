import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { EstateView } from '../../src/model/estate-view.ts'
import { withResource } from '../../src/server/testing/fake-controller.ts'
import { heldDeletion } from '../../src/server/testing/fake-estate.ts'
import { FAWN, fail, finish, push, upgrade, withDrift, withFawn } from './happenings.ts'
import { openBrowser, signIn, stage, whyNoBrowser } from './stage.ts'

/** One that is held says what waits; many are counted, with their names. */
const HELD = /k3s-vm-still-fawn is held.*delete waits for an approval|\d+ resources are held/s

/** What people do with the page, clicked through in a real browser; every picture in light and in dark. */
export function tellStories(size: string, estate: () => EstateView): void {
  describe(`with ${size}`, { skip: whyNoBrowser() ?? false }, () => {
    let browser: Browser
    before(async () => {
      browser = await openBrowser()
    })
    after(async () => {
      await browser.close()
    })

    test('[A55] a push: the machine appears, is made, becomes ready, and the commit stands beside it', async () => {
      await using it = await stage(browser, withFawn(estate()))
      await it.go()
      const before = await it.page.locator('.totals b').first().textContent()
      push(it.controller)
      await it.page.locator('.side-commit', { hasText: 'feedc0f' }).waitFor()
      await it.page.locator('.nav-link', { hasText: 'Plan' }).first().click()
      // The commit stands beside the step that it asks for, and says what it is.
      const entry = it.page.locator('.entry', { hasText: 'web-new' })
      await entry.locator('.commit', { hasText: 'feedc0f' }).waitFor()
      assert.equal(await entry.locator('.commit').getAttribute('title'), 'Add web-new (Anna)')
      await entry.locator('.steps').getByText('create VM 900').waitFor()
      await it.both(`push-${size}`)
      finish(it.controller)
      await it.page.locator('.entry-line', { hasText: 'web-new' }).waitFor({ state: 'detached' })
      await it.page.locator('.nav-link', { hasText: 'Timeline' }).first().click()
      const chapter = it.page.locator('.chapter', { hasText: 'Add web-new' })
      await chapter.getByText('create VM 900').first().waitFor()
      await chapter.getByText('until ready').first().waitFor()
      await it.both(`timeline-${size}`)
      await it.page.locator('.nav-link', { hasText: 'Overview' }).first().click()
      assert.notEqual(await it.page.locator('.totals b').first().textContent(), before)
    })

    test(`a failing node is the first thing that is said, and leads to its cluster`, async () => {
      await using it = await stage(browser, withFawn(estate()))
      await it.go()
      fail(it.controller)
      const trouble = it.page.locator('.trouble', { hasText: 'node of homelab not ready' })
      await trouble.getByText('No other server can fail').waitFor()
      await it.both(`failing-${size}`)
      await trouble.click()
      await it.page.locator('tr[data-node=k3s-vm-still-fawn]').getByText('NotReady').waitFor()
      await it.page.getByText('No server can fail').waitFor()
      await it.both(`failing-cluster-${size}`)
    })

    test(`[A56] a drift names field, values, person and time, and is adopted after signing in`, async () => {
      await using it = await stage(browser, withDrift(withFawn(estate())))
      await it.go('#/drift')
      const card = it.page.locator('.drift', { hasText: 'k3s-vm-still-fawn' })
      for (const text of ['cpu.cores', '4', '6', 'root@pam', '2 min ago'])
        await card.getByText(text).filter({ visible: true }).first().waitFor()
      await it.both(`drift-${size}`)
      await card.getByRole('button', { name: 'Adopt' }).click()
      await signIn(it.page)
      await card.getByRole('button', { name: 'Adopt' }).click()
      await it.page.locator('dialog').getByRole('button', { name: 'Adopt' }).click()
      await it.page.locator('.toast', { hasText: 'croft/adopt-drift' }).waitFor()
      await card.waitFor({ state: 'detached' })
      assert.deepEqual(
        it.controller.asked.map(({ wish, actor }) => [wish, actor.name]),
        [[{ wish: 'adopt-drift', key: FAWN, fields: ['cpu.cores'] }, 'page:anna']],
      )
    })

    test(`[A56] a drift is reverted by somebody who was told what that changes`, async () => {
      await using it = await stage(browser, withDrift(withFawn(estate())))
      await it.go('#/drift')
      await it.page.getByRole('button', { name: 'Sign in' }).click()
      await signIn(it.page)
      const card = it.page.locator('.drift', { hasText: 'k3s-vm-still-fawn' })
      await card.getByRole('button', { name: 'Revert' }).click()
      const dialog = it.page.locator('dialog')
      await dialog.getByText('cpu.cores').waitFor()
      assert.equal(it.controller.asked.length, 0)
      await dialog.getByRole('button', { name: 'Revert' }).click()
      await card.waitFor({ state: 'detached' })
      assert.deepEqual(
        it.controller.asked.map(({ wish }) => wish),
        [{ wish: 'revert-drift', key: FAWN }],
      )
    })

    test(`[A54] what is held is approved by a person who types its name`, async () => {
      const held = withFawn(estate())
      const action = heldDeletion('k3s-vm-still-fawn', 'still-fawn', 109)
      await using it = await stage(browser, { ...held, ...withResource(held, FAWN, (one) => ({ ...one, action })) })
      await it.go()
      await it.page.locator('.trouble', { hasText: 'held' }).filter({ hasText: HELD }).first().click()
      await it.page.getByLabel(`Pick ${FAWN}`).check()
      await it.page.getByRole('button', { name: 'Approve 1' }).click()
      await signIn(it.page)
      await it.page.getByRole('button', { name: 'Approve 1' }).click()
      const dialog = it.page.locator('dialog')
      assert.equal(await dialog.getByRole('button', { name: 'Approve' }).isDisabled(), true)
      await it.both(`approve-${size}`)
      await dialog.locator('.field input').fill('k3s-vm-still-fawn')
      await dialog.getByRole('button', { name: 'Approve' }).click()
      await it.page.locator('.toast', { hasText: '1 approved' }).waitFor()
      await it.page.locator('.held').getByLabel(`Pick ${FAWN}`).waitFor({ state: 'detached' })
      assert.equal(it.controller.asked[0]?.wish.wish, 'approve')
    })

    test(`an upgrade moves on node by node and can be paused`, async () => {
      await using it = await stage(browser, withFawn(estate()))
      await it.go('#/cluster/homelab')
      upgrade(it.controller, 1)
      await it.page.getByText('1 of 3 on v1.35.0+k3s1, now k3s-vm-still-fawn').waitFor()
      await it.both(`upgrade-${size}`)
      upgrade(it.controller, 2)
      await it.page.getByText('2 of 3 on v1.35.0+k3s1').waitFor()
      await it.page.getByRole('button', { name: 'Pause' }).click()
      await signIn(it.page)
      await it.page.getByRole('button', { name: 'Pause' }).click()
      await it.page.getByText('2 of 3 on v1.35.0+k3s1, paused').waitFor()
      upgrade(it.controller, 3)
      await it.page.getByText('Nothing to do').waitFor()
    })
  })
}
