import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { endAll } from '../binary/children.ts'
import { clusterManifests } from './cluster-manifests.ts'
import { realStage } from './real-stage.ts'
import { shot, whyNoBrowser } from './stage.ts'

const NODES = ['edge-1', 'edge-2', 'edge-3']
const NEXT = 'v1.34.4+k3s1'

describe('an upgrade on croft sim, in a real browser', { skip: whyNoBrowser() ?? false }, () => {
  after(endAll)

  test('[R40] the pin is changed while somebody looks: node after node shows the new release, and the quorum stays', async () => {
    await using it = await realStage({
      simulator: ['--proxy', '--preset', 'hosts', '--speed', '20'],
      inItsTime: true,
    })
    const { page } = it
    const hosts = await it.hosts()
    const declare = (version?: string) => {
      for (const [name, text] of Object.entries(clusterManifests(hosts, version))) it.declare(name, text)
    }
    declare()
    await it.go('cluster/edge')
    await page.locator('.view-head').getByText('Ready', { exact: true }).waitFor()
    declare(NEXT)
    await page.locator('.view-head').getByText('Upgrading', { exact: true }).waitFor()
    const picture = page.getByRole('img', { name: `Upgrade to ${NEXT}` })
    await picture.locator('[data-lane="edge-1"] .is-running, [data-lane="edge-2"] .is-running').first().waitFor()
    await picture.scrollIntoViewIfNeeded()
    await shot(page, 'real-upgrading')
    for (const name of NODES) await page.locator(`[data-node="${name}"]`, { hasText: NEXT }).waitFor()
    await page.locator('.view-head').getByText('Ready', { exact: true }).waitFor()
    assert.equal(await page.locator('.voter.is-up').count(), 3)
    await page.getByRole('img', { name: /Upgrade to .*took .*at least [23] of 3 votes up, 2 needed$/ }).waitFor()
    for (const name of NODES) {
      const steps = await picture
        .locator(`[data-lane="${name}"] .course-bar`)
        .evaluateAll((bars) => bars.map((bar) => bar.getAttribute('data-step')))
      assert.ok(steps.includes('install'), `${name}: ${steps.join(', ')}`)
    }
    await picture.scrollIntoViewIfNeeded()
    await shot(page, 'real-upgraded')
    // The timeline tells of the same change under the revision that asked for it, and does not say that none was needed.
    await it.go('timeline')
    const chapter = page.locator('.chapter').first()
    const told = chapter.getByRole('img', { name: new RegExp(`^Upgrade to ${NEXT.replace('+', '\\+')}, took`) })
    await told.waitFor()
    for (const name of NODES) assert.ok((await told.locator(`[data-lane="${name}"] .course-bar`).count()) > 0, name)
    assert.equal(await chapter.getByText('No changes were needed').count(), 0)
    await shot(page, 'real-upgraded-timeline')
  })
})
