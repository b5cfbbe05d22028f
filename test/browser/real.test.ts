import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { endAll, estateAt, type Running, scratch, start, startSimulator } from '../binary/children.ts'
import { clusterManifests } from './cluster-manifests.ts'
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

  test('a cluster of three servers is declared: the page shows it forming, then Ready; a person takes a snapshot', async () => {
    const cwd = scratch()
    const simulator = await startSimulator(['--proxy', '--preset', 'hosts', '--speed', '20'], cwd)
    const { hosts } = await simulator.door<{ readonly hosts: readonly { readonly name: string }[] }>('GET', 'state')
    const estate = path.join(cwd, 'estate')
    estateAt(estate, simulator, {})
    const env = {
      HOME: path.join(cwd, 'home'),
      PROXMOX_TOKEN: simulator.token,
      HTTPS_PROXY: (simulator as unknown as { readonly proxy: string }).proxy,
    }
    writeFileSync(path.join(cwd, 'password'), 'correct horse battery staple\n')
    const user = ['user', 'set', 'anna', '--role', 'operator', '--password-file', 'password']
    assert.equal((await start(user, { cwd, env }).ended).code, 0)
    const croft = start(['run', estate, '--listen', '127.0.0.1:0', '--poll', '1s'], { cwd, env })
    const url = await announced(croft)
    const browser = await openBrowser()
    try {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' })
      context.setDefaultTimeout(40_000)
      const wrongs = watch(context, url)
      const page = await context.newPage()
      await page.goto(`${url}/#/cluster/edge`)
      await page.getByText('There is no cluster edge').waitFor()
      for (const [name, text] of Object.entries(clusterManifests(hosts.map((host) => host.name))))
        writeFileSync(path.join(estate, name), text)
      // While it forms the page already has its nodes; then each of them is Ready, and etcd may lose one.
      await page.locator('[data-node="edge-3"]').waitFor()
      for (const name of ['edge-1', 'edge-2', 'edge-3'])
        await page.locator(`[data-node="${name}"]`).getByText('Ready', { exact: true }).waitFor()
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
      // What the hypervisor shows of a node, and the commit-less story of how it came to be.
      await page.locator('[data-node="edge-1"] a').click()
      await page.getByRole('tab', { name: 'Observed' }).click()
      await page.getByText('config.memory').waitFor()
      await page.goto(`${url}/#/health`)
      await page.getByRole('heading', { name: 'Checks' }).waitFor()
      const answered = () =>
        page.evaluate(async () => {
          const seen = (await (await fetch('/api/view')).json()) as {
            readonly checks: readonly { readonly output: string }[]
          }
          return seen.checks.some(({ output }) => output === 'all nodes are ready')
        })
      let well = await answered()
      for (let tries = 0; !well && tries < 60; tries++) {
        await page.waitForTimeout(500)
        well = await answered()
      }
      assert.ok(well, 'the check of the cluster never said that all nodes are ready')
      assert.deepEqual(wrongs, [])
    } finally {
      await browser.close()
    }
    croft.child.kill('SIGTERM')
    const { code, stderr } = await croft.ended
    assert.ok(code === 0 || code === 143, stderr)
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
