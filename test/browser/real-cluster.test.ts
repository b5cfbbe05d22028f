import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { endAll } from '../binary/children.ts'
import { clusterManifests } from './cluster-manifests.ts'
import { realStage } from './real-stage.ts'
import { shot, signIn, whyNoBrowser } from './stage.ts'

const NODES = ['edge-1', 'edge-2', 'edge-3']

describe('a cluster on croft sim, in a real browser', { skip: whyNoBrowser() ?? false }, () => {
  after(endAll)

  test('it is declared: the page shows it forming, then Ready; a person takes a snapshot; a box loses its power', async () => {
    await using it = await realStage({ simulator: ['--proxy', '--preset', 'hosts', '--speed', '20'], inItsTime: true })
    const { page } = it
    await it.go('cluster/edge')
    await page.getByText('There is no cluster edge').waitFor()
    for (const [name, text] of Object.entries(clusterManifests(await it.hosts()))) it.declare(name, text)
    // While it forms the page already has its nodes; then each of them is Ready, and etcd may lose one.
    await page.locator('[data-node="edge-3"]').waitFor()
    for (const name of NODES) await page.locator(`[data-node="${name}"]`).getByText('Ready', { exact: true }).waitFor()
    await page.locator('.view-head').getByText('Ready', { exact: true }).waitFor()
    assert.equal(await page.locator('.voter.is-up').count(), 3)
    await page.getByText('the API survives the loss of one').first().waitFor()
    await shot(page, 'real-cluster')
    await page.getByRole('button', { name: 'Snapshot' }).click()
    await signIn(page)
    await page.getByRole('button', { name: 'Snapshot' }).click()
    await page
      .getByText(/take a snapshot of etcd on edge-\d.*: (done|begun)/)
      .first()
      .waitFor()
    await it.go('health')
    await page.getByRole('heading', { name: 'Checks' }).waitFor()
    await page.waitForFunction(async () => {
      const seen = (await (await fetch('/api/view')).json()) as {
        readonly checks: readonly { readonly output: string }[]
      }
      return seen.checks.some(({ output }) => output === 'all nodes are ready')
    })
    await it.go('cluster/edge')
    // What the hypervisor shows of a node.
    await page.locator('[data-node="edge-1"] a').click()
    await page.getByRole('tab', { name: 'Observed' }).click()
    await page.getByText('config.memory').waitFor()
    // A box loses its power: that is the first thing that is said, with what is left of the quorum.
    const [lost = ''] = (await it.hosts()).slice(-1)
    await it.simulator.door('POST', `hosts/${lost}`, { power: 'off' })
    await it.go('')
    await page.locator('.trouble', { hasText: `Host ${lost} is offline` }).waitFor()
    await page
      .locator('.trouble', { hasText: '1 node of edge not ready' })
      .getByText('No other server can fail')
      .waitFor()
    await page.locator('.cluster-card').getByText('No server can fail').waitFor()
    await shot(page, 'real-failing-node')
  })
})
