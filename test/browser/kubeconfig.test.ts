import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { ClusterPhase } from '../../src/model/observed-cluster.ts'
import { smallEstate } from '../../src/server/testing/fake-estate.ts'
import { axeFindings } from './axe.ts'
import { openBrowser, signIn, stage, whyNoBrowser } from './stage.ts'

describe('the kubeconfig of a cluster', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
  })

  test('an admin downloads it as a file; a viewer is told what he lacks', async () => {
    await using it = await stage(browser, smallEstate())
    const { page } = it
    await it.go('#/cluster/homelab')
    const button = page.getByRole('button', { name: 'Kubeconfig', exact: true })
    await button.click()
    await signIn(page, 'vera')
    await button.click()
    await page.getByText('This needs the right "admin", which vera does not have.').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await button.click()
    await signIn(page)
    await button.click()
    const coming = page.waitForEvent('download')
    await page.locator('dialog').getByRole('button', { name: 'Download' }).click()
    const file = await coming
    assert.equal(file.suggestedFilename(), 'homelab.kubeconfig')
    assert.match(readFileSync(await file.path(), 'utf8'), /^apiVersion: v1\nkind: Config\n/)
    await page.getByText(/Kubeconfig of homelab, good until/).waitFor()
    assert.doesNotMatch(await page.content(), /canary-of-a-key/)
  })

  test('of a cluster that is forming cannot be had, nor a snapshot, and the page says when they can', async () => {
    const estate = smallEstate()
    const phase = (name: ClusterPhase) => ({
      clusters: estate.clusters.map((one) => ({ ...one, decision: { ...one.decision, phase: name } })),
    })
    await using it = await stage(browser, { ...estate, ...phase('Forming') })
    const { page } = it
    await it.go('#/cluster/homelab')
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    await page.getByText('when the API of homelab answers').waitFor()
    for (const name of ['Kubeconfig', 'Snapshot']) {
      assert.equal(await button(name).isDisabled(), true, name)
      assert.equal(await button(name).getAttribute('aria-describedby'), 'why-not')
    }
    assert.deepEqual(await axeFindings(page), [])
    it.controller.set(() => phase('Off'))
    await page.getByText('when homelab is on again').waitFor()
    assert.deepEqual([await button('Kubeconfig').isDisabled(), await button('Snapshot').isDisabled()], [false, true])
    it.controller.set(() => phase('Ready'))
    await page.locator('#why-not').waitFor({ state: 'detached' })
    assert.equal(await button('Snapshot').isDisabled(), false)
  })
})
