import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { endAll } from '../binary/children.ts'
import { MACHINE } from './cluster-manifests.ts'
import { realStage } from './real-stage.ts'
import { shot, signIn, whyNoBrowser } from './stage.ts'

describe('croft run with croft sim, in a real browser', { skip: whyNoBrowser() ?? false }, () => {
  after(endAll)

  test('a machine is declared while somebody looks: it appears, is made and runs; a person suspends it', async () => {
    await using it = await realStage({ simulator: ['--speed', '20'] })
    const { page } = it
    await it.go('estate')
    await page.locator('main h1').waitFor()
    it.declare('web.yaml', MACHINE)
    const row = page.locator('[data-key="EnvironmentVM/web"]')
    await row.waitFor()
    await row.getByText('Running').waitFor()
    await row.getByText('Synced').waitFor()
    await shot(page, 'real-estate')
    await row.click()
    await page.getByRole('tab', { name: 'YAML' }).click()
    await page.locator('.code', { hasText: 'still-fawn' }).waitFor()
    await page.getByRole('tab', { name: 'Events' }).click()
    await page.getByText('create VM 120').first().waitFor()
    await page.getByRole('button', { name: 'Suspend' }).click()
    await signIn(page)
    await page.getByRole('button', { name: 'Suspend' }).click()
    await page.locator('dialog').getByRole('button', { name: 'Suspend' }).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    await it.go('timeline')
    await page.locator('.waterfall').first().waitFor()
    await shot(page, 'real-timeline')
    assert.ok(!readFileSync(path.join(it.home, '.config/croft/users.json'), 'utf8').includes('battery'))
  })
})
