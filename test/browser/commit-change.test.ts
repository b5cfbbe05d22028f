import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { richEstate } from '../../src/server/testing/rich-estate.ts'
import { missed, told } from './access.ts'
import { DESKTOP, openBrowser, PHONE, signIn, stage, whyNoBrowser } from './stage.ts'

describe('a commit beside its plan', { skip: whyNoBrowser() ?? false }, () => {
  test('whoever may operate sees the lines, and beside each file what the plan does because of it', async () => {
    const browser = await openBrowser()
    try {
      for (const size of [DESKTOP, PHONE]) {
        await using it = await stage(browser, richEstate(), { size })
        const { page } = it
        await it.go('#/plan')
        const card = page.locator('.card', { hasText: 'waits for approval' })
        const show = card.getByRole('button', { name: 'Show what the commit changes' })
        await show.click()
        // Not signed in: nothing is asked for before.
        await signIn(page)
        await show.click()
        const file = card.getByRole('region', { name: 'machines/fawn.yaml, changed' })
        await file.locator('.diff-added', { hasText: 'memory: 16Gi' }).waitFor()
        await file.locator('.diff-removed', { hasText: 'memory: 8Gi' }).waitFor()
        await file.locator('.change-planned', { hasText: 'Machine/k3s-vm-still-fawn' }).waitFor()
        const secret = card.getByRole('region', { name: 'secrets/machines.yaml, changed' })
        await secret.getByText('encrypted with SOPS').waitFor()
        assert.equal(await secret.locator('pre').count(), 0)
        const others = card.getByRole('region', { name: 'Planned for other reasons' })
        await others.getByText('Machine/waiting').waitFor()
        assert.equal(await others.getByText('hold: delete').count(), 0)
        // It is unknown which file declared the deleted object: it may be the one that this commit removes.
        const undeclared = card.getByRole('region', { name: 'Planned for what no file declares' })
        await undeclared.getByText('hold: delete').waitFor()
        const removed = card.getByRole('region', { name: 'machines/bedbug.yaml, removed' })
        await removed.getByText('What this file declared is no longer known').waitFor()
        assert.equal(await file.getByText('fun-bedbug').count(), 0)
        assert.deepEqual(missed(await told(page)), [])
        const [left, right] = [await file.locator('.change-diff').boundingBox(), await file.locator('ul').boundingBox()]
        assert.ok(left !== null && right !== null)
        if (size === DESKTOP) assert.ok(right.x > left.x + left.width - 1, 'side by side')
        else assert.ok(right.y > left.y, 'one below the other')
        await file.scrollIntoViewIfNeeded()
        await it.both(`commit-change-${size.width}`)
        // What is placed in the view scrolls with it: the window itself never becomes longer than the screen.
        for (const view of ['plan', 'cluster/homelab', 'health']) {
          await it.go(`#/${view}`)
          assert.equal(await page.evaluate('document.documentElement.scrollHeight'), size.height, view)
        }
      }
    } finally {
      await browser.close()
    }
  })
})
