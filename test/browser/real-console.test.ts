import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { endAll } from '../binary/children.ts'
import { webVm } from '../binary/web-vm.ts'
import { realStage } from './real-stage.ts'
import { signIn, whyNoBrowser } from './stage.ts'

describe('the console on the real page', { skip: whyNoBrowser() ?? false }, () => {
  after(endAll)

  test('from the page through croft run to the terminal proxy of the simulated Proxmox, and back', async () => {
    await using it = await realStage({ simulator: ['--preset', 'homelab', '--speed', '50'] })
    const { page } = it
    const admin = ['user', 'set', 'anna', '--role', 'admin', '--password-file', 'password']
    assert.equal((await it.croft(...admin)).code, 0)
    it.declare('vm.yaml', webVm({ fields: ['serialDevice: [{device: socket}]'] }))
    await it.go('estate')
    await page.getByText('web-1').first().waitFor()
    await it.go('resource/EnvironmentVM%2Fweb-1/console')
    const open = page.getByRole('button', { name: 'Open the console' })
    await open.waitFor()
    await page.getByText('Ready', { exact: true }).first().waitFor()
    await open.click()
    await signIn(page)
    await open.click()
    const screen = page.locator('.xterm-rows')
    await screen.getByText('login:').waitFor()
    await page.keyboard.type('root\n')
    await screen.getByText('Password:').waitFor()
    await page.keyboard.type('croft\n')
    await screen.getByText('#').first().waitFor()
    await page.keyboard.type('echo from inside\n')
    await screen.getByText(/^from inside\s*$/).waitFor()
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await page.getByText('You closed it.').waitFor()
    const audit = await it.croft('events', '--audit', '--dir', it.estate)
    assert.match(audit.stdout, /console-end/)
    assert.doesNotMatch(audit.stdout, /from inside|PVEVNC/)
  })
})
