import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { endAll, estateAt, type Running, scratch, start, startSimulator } from '../binary/children.ts'
import { openBrowser, shot, signIn, watch, whyNoBrowser } from './stage.ts'

const MACHINE = `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: web}
spec:
  forProvider:
    nodeName: still-fawn
    vmId: 120
    started: true
    disk: [{interface: scsi0, datastoreId: local-zfs, size: 8}]
`

describe('croft run with croft sim, in a real browser', { skip: whyNoBrowser() ?? false }, () => {
  after(endAll)

  test('a machine is declared while somebody looks: it appears, is made and runs; a person suspends it', async () => {
    const cwd = scratch()
    const simulator = await startSimulator(['--speed', '20'], cwd)
    const estate = path.join(cwd, 'estate')
    estateAt(estate, simulator, {})
    const home = path.join(cwd, 'home')
    const env = { HOME: home, PROXMOX_TOKEN: simulator.token }
    writeFileSync(path.join(cwd, 'password'), 'correct horse battery staple\n')
    const user = ['user', 'set', 'anna', '--role', 'operator', '--password-file', 'password']
    assert.equal((await start(user, { cwd, env }).ended).code, 0)
    const croft = start(['run', estate, '--listen', '127.0.0.1:0', '--poll', '1s'], { cwd, env })
    const url = await announced(croft)
    const browser = await openBrowser()
    try {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' })
      context.setDefaultTimeout(30_000)
      const wrongs = watch(context, url)
      const page = await context.newPage()
      await page.goto(`${url}/#/estate`)
      await page.locator('main h1').waitFor()
      writeFileSync(path.join(estate, 'web.yaml'), MACHINE)
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
      await page.goto(`${url}/#/timeline`)
      await page.locator('.waterfall').first().waitFor()
      await shot(page, 'real-timeline')
      assert.deepEqual(wrongs, [])
    } finally {
      await browser.close()
    }
    croft.child.kill('SIGTERM')
    const { code, stderr } = await croft.ended
    assert.ok(code === 0 || code === 143, stderr)
    assert.ok(!readFileSync(path.join(home, '.config/croft/users.json'), 'utf8').includes('battery'))
  })
})

/** Where the page is, as croft says it. */
function announced({ child, ended }: Running): Promise<string> {
  const line = new Promise<string>((resolve) => {
    let text = ''
    child.stderr?.on('data', (chunk: string) => {
      text += chunk
      const [, url] = /The page is at (\S+)\n/.exec(text) ?? []
      if (url !== undefined) resolve(url)
    })
  })
  const died = ended.then(({ code, stderr }): never => {
    throw new Error(`croft run ended with ${code}: ${stderr}`)
  })
  return Promise.race([line, died])
}
