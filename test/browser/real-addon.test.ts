import { after, describe, test } from 'node:test'
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
    await page.waitForFunction("(document.querySelector('.log-text')?.textContent ?? '').split('\\n').length > 4")
    await shot(page, 'real-addon')
  })
})
