import { after, describe, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { endAll } from '../binary/children.ts'
import { clusterManifests } from './cluster-manifests.ts'
import { realStage } from './real-stage.ts'
import { shot, signIn, whyNoBrowser } from './stage.ts'

const ADDON = `apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: web}
spec:
  cluster: edge
  namespace: web
  objects:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 2
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: web, image: "example.org/web:1"}]}
`

describe('an add-on on croft sim, in a real browser', { skip: whyNoBrowser() ?? false }, () => {
  after(endAll)

  test('from the cluster to the add-on to its pods, and the log of one as it is written', async () => {
    await using it = await realStage({ simulator: ['--proxy', '--preset', 'hosts', '--speed', '20'], inItsTime: true })
    const { page } = it
    for (const [name, text] of Object.entries(clusterManifests(await it.hosts()))) it.declare(name, text)
    it.declare('addon.yaml', ADDON)
    await it.go('cluster/edge')
    await page.getByRole('link', { name: 'web', exact: true }).click()
    const pods = page.locator('[data-node="Deployment/web"] [data-node^="Pod/web-"]')
    await pods.nth(1).getByText('Running', { exact: true }).waitFor()
    await pods
      .first()
      .getByRole('button', { name: /Details/ })
      .click()
    await pods
      .first()
      .getByText(/Successfully assigned web\/web-/)
      .waitFor()
    await pods.first().getByText('example.org/web:1', { exact: true }).waitFor()
    const log = pods.first().getByRole('button', { name: 'Log of web' })
    await log.click()
    await signIn(page)
    await log.click()
    await page.getByRole('log').getByText('web: started (simulated)').waitFor()
    await page.getByRole('button', { name: 'Follow', exact: true }).click()
    // At twenty times the speed a line comes every half second.
    await lines(page.getByRole('log'), 5)
    await shot(page, 'real-addon')
  })
})

/** Asked from here: what Playwright would evaluate on the page more than once is blocked there, as it should be. */
async function lines(log: Locator, least: number): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (((await log.textContent()) ?? '').split('\n').length >= least) return
    await log.page().waitForTimeout(100)
  }
  throw new Error(`the log has less than ${least} lines`)
}
