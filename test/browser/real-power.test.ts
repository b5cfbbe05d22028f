import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { endAll } from '../binary/children.ts'
import { clusterManifests } from './cluster-manifests.ts'
import { realStage } from './real-stage.ts'
import { shot, signIn, whyNoBrowser } from './stage.ts'

const POWER = `apiVersion: croft.dev/v1alpha1
kind: Power
metadata: {name: edge}
spec: {cluster: edge, state: on}
`

describe('power on croft sim, in a real browser', { skip: whyNoBrowser() ?? false }, () => {
  after(endAll)

  test('a cluster is switched off and on again from the page, tier by tier, and is well while it is off', async () => {
    await using it = await realStage({ simulator: ['--proxy', '--preset', 'hosts', '--speed', '20'] })
    const { page } = it
    for (const [name, text] of Object.entries(clusterManifests(await it.hosts()))) it.declare(name, text)
    await it.go('cluster/edge')
    await page.locator('.view-head').getByText('Ready', { exact: true }).waitFor()
    it.declare('power.yaml', POWER)
    await it.go('power')
    const state = page.locator('[data-power="edge"] .power-head .badge')
    await state.getByText('On', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Switch off' }).click()
    await signIn(page)
    await page.getByRole('button', { name: 'Switch off' }).click()
    const dialog = page.locator('dialog')
    await dialog.locator('[data-tier="servers"]').getByText('until K3s is stopped on every server').waitFor()
    await dialog.getByLabel('Reason').fill('over night')
    await dialog.getByRole('button', { name: 'Switch off' }).click()
    await state.getByText('Powering off').waitFor()
    const off = page.getByRole('img', { name: /^Power off, / })
    await off.locator('.is-running').first().waitFor()
    await shot(page, 'real-power-going-off')
    await state.getByText('Off', { exact: true }).waitFor()
    await page.getByRole('img', { name: /^Power off, took / }).waitFor()
    const steps = async (lane: string) =>
      off
        .locator(`[data-lane="${lane}"] .course-bar`)
        .evaluateAll((bars) => bars.map((bar) => bar.getAttribute('data-step') ?? ''))
    for (const node of ['edge-1', 'edge-2', 'edge-3']) {
      const own = await steps(node)
      assert.ok(own.includes('shut down'), `${node}: ${own.join(', ')}`)
    }
    await shot(page, 'real-power-gone-off')
    await page.locator('.power-head').getByText('asked by anna: over night').waitFor()
    assert.equal(await page.locator('[data-tier="servers"] .tier-word').textContent(), 'done')
    await it.go('')
    await page.locator('.cluster-card').getByText('Off', { exact: true }).waitFor()
    await page.getByRole('heading', { name: 'All is as declared' }).waitFor()
    await shot(page, 'real-power-off')
    await it.go('power')
    await page.getByRole('button', { name: 'Switch on' }).click()
    await dialog.locator('[data-tier="quorum"]').waitFor()
    await dialog.getByRole('button', { name: 'Switch on' }).click()
    const on = page.getByRole('img', { name: /^Power on, / })
    await on.locator('[data-step="boot"]').first().waitFor()
    await state.getByText('On', { exact: true }).waitFor()
    await page.getByRole('img', { name: /^Power on, took / }).waitFor()
    await shot(page, 'real-power-on')
    await it.go('cluster/edge')
    await page.locator('.view-head').getByText('Ready', { exact: true }).waitFor()
    await page.getByText('1 server can fail').waitFor()
  })
})
