import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { endAll } from '../binary/children.ts'
import { clusterManifests } from './cluster-manifests.ts'
import { realStage } from './real-stage.ts'
import { shot, signIn, whyNoBrowser } from './stage.ts'

describe('a restore on croft sim, in a real browser', { skip: whyNoBrowser() ?? false }, () => {
  after(endAll)

  test('a cluster is restored from the snapshot that a person took on the page: lanes, steps, and the votes that are away', async () => {
    await using it = await realStage({
      simulator: ['--proxy', '--preset', 'hosts', '--speed', '10'],
      inItsTime: true,
    })
    const { page } = it
    for (const [name, text] of Object.entries(clusterManifests(await it.hosts()))) it.declare(name, text)
    await it.go('cluster/edge')
    const head = page.locator('.view-head')
    await head.getByText('Ready', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Sign in' }).click()
    await signIn(page)
    await page.getByRole('button', { name: 'Snapshot' }).click()
    await page.locator('.toast').waitFor()
    const dir = ['--dir', it.estate]
    const listed = await it.croft('cluster', 'backup', 'edge', ...dir, '-o', 'json')
    assert.equal(listed.code, 0, listed.stderr)
    const { backups } = JSON.parse(listed.stdout) as { readonly backups: readonly { readonly name: string }[] }
    const snapshot = backups.at(-1)?.name ?? ''
    const restored = it.croft('cluster', 'restore', 'edge', snapshot, ...dir, '--confirm', 'edge')
    const picture = page.getByRole('img', { name: /^Restore of edge from/ })
    await picture.locator('[data-lane] .is-running').first().waitFor()
    await picture.scrollIntoViewIfNeeded()
    await shot(page, 'real-restoring')
    const { code, stderr } = await restored
    assert.equal(code, 0, stderr)
    await head.getByText('Ready', { exact: true }).waitFor()
    await page.getByRole('img', { name: /^Restore of edge from .*took / }).waitFor()
    const stepsOf = (name: string) =>
      picture
        .locator(`[data-lane="${name}"] .course-bar`)
        .evaluateAll((bars) => bars.map((bar) => bar.getAttribute('data-step') ?? ''))
    // croft writes down each step before it does it: those that were over before it looked again are in the picture too.
    const first = await stepsOf('edge-1')
    for (const step of ['snapshot', 'stop', 'stopped', 'restore', 'start'])
      assert.ok(first.includes(step), first.join())
    const second = await stepsOf('edge-2')
    for (const step of ['stop', 'stopped', 'delete data', 'rejoin']) assert.ok(second.includes(step), second.join())
    assert.ok((await stepsOf('edge-3')).includes('stopped'))
    // No server votes while the first one starts over: the picture shows the majority as lost.
    assert.ok((await picture.locator('.course-band .band-lost').count()) > 0)
    assert.equal(await page.locator('.voter.is-up').count(), 3)
    await shot(page, 'real-restored')
  })
})
