import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { gitServerMissing } from '../../src/controller/testing/git-server.ts'
import { endAll, type Simulator } from '../binary/children.ts'
import { MACHINE } from './cluster-manifests.ts'
import { serveRepository } from './git-server.ts'
import { realStage } from './real-stage.ts'
import { shot, signIn, whyNoBrowser } from './stage.ts'

const SECRET = 'a webhook secret of this test'
const REPORTED = MACHINE.replace('{name: web}', '{name: web, annotations: {croft.dev/drift: report}}').replace(
  '    started: true\n',
  '    started: true\n    cpu: [{cores: 2}] # as many as it needs\n',
)

describe('a repository that is pushed to, in a real browser', {
  skip: whyNoBrowser() ?? gitServerMissing() ?? false,
}, () => {
  after(endAll)

  test('[A55] [A56] a push is followed with its commit beside the step; a drift names who and what, and is adopted on a branch', async () => {
    let repository: Awaited<ReturnType<typeof serveRepository>> | undefined
    try {
      await using it = await realStage({
        simulator: ['--speed', '20'],
        env: { HOOK_SECRET: SECRET },
        async follow({ cwd, estate }) {
          repository = await serveRepository(path.join(cwd, 'git'))
          repository.push({ 'proxmox.yaml': readFileSync(path.join(estate, 'proxmox.yaml'), 'utf8') }, 'Name the host')
          const source = `{name: home, url: "${repository.url}", ca: "${repository.ca}", poll: 10m, webhook: {env: HOOK_SECRET}}`
          writeFileSync(path.join(cwd, 'croft.yaml'), `sources:\n  - ${source}\n`)
          return ['--config', 'croft.yaml']
        },
      })
      assert.ok(repository !== undefined)
      const { page } = it
      await it.go('timeline')
      await page.getByRole('heading', { name: 'Name the host' }).waitFor()
      const commit = repository.push({ 'web.yaml': REPORTED }, 'Add a web server')
      await tellOfPush(it.url)
      const chapter = page.locator('.chapter', { hasText: 'Add a web server' })
      await chapter.getByText(`${commit.slice(0, 7)} by Anna`).waitFor()
      await chapter.getByText('create VM 120').first().waitFor()
      await chapter.getByText('until ready').first().waitFor()
      await shot(page, 'real-push')

      // A machine that runs: Proxmox keeps the change until it is restarted.
      await it.go('estate')
      await page.locator('[data-key="EnvironmentVM/web"]').getByText('Running').waitFor()
      await page.locator('[data-key="EnvironmentVM/web"]').getByText('Synced').waitFor()
      await changeCores(it.simulator, 6)
      await it.go('drift')
      const card = page.locator('.drift', { hasText: 'web' })
      for (const text of ['cpu.cores', '2', '6', 'root@pam', 'qmconfig'])
        await card
          .getByText(text, { exact: text.length === 1 })
          .filter({ visible: true })
          .first()
          .waitFor()
      await shot(page, 'real-drift')
      await card.getByRole('button', { name: 'Adopt' }).click()
      await signIn(page)
      await card.getByRole('button', { name: 'Adopt' }).click()
      await page.locator('dialog').getByRole('button', { name: 'Adopt' }).click()
      await page.locator('.toast', { hasText: 'croft/adopt-' }).waitFor()
      const branch = repository.branches().find((name) => name.startsWith('croft/adopt-')) ?? ''
      assert.equal(repository.file(branch, 'web.yaml'), REPORTED.replace('cores: 2', 'cores: 6'))
      assert.equal(repository.file('main', 'web.yaml'), REPORTED, 'nobody asked for a change of main')
    } finally {
      await repository?.close()
    }
  })
})

/** A signed notice, as Gitea sends it. */
async function tellOfPush(url: string): Promise<void> {
  const body = JSON.stringify({ ref: 'refs/heads/main' })
  const answer = await fetch(`${url}/hooks/home`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-gitea-event': 'push',
      'x-gitea-delivery': 'f6266f16-1bf3-46a5-9ea4-602e06ead473',
      'x-gitea-signature': createHmac('sha256', SECRET).update(body).digest('hex'),
    },
  })
  assert.equal(answer.status, 202, await answer.text())
}

/** Changes the cores as a person does on the page of Proxmox. */
function changeCores({ endpoint, token }: Simulator, cores: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${endpoint}/api2/json/nodes/still-fawn/qemu/120/config`,
      {
        method: 'POST',
        rejectUnauthorized: false,
        headers: { authorization: `PVEAPIToken=${token}`, 'content-type': 'application/x-www-form-urlencoded' },
      },
      (response) => {
        response.resume()
        if (response.statusCode === 200) resolve()
        else reject(new Error(`the simulator answered ${response.statusCode}`))
      },
    )
    sent.on('error', reject)
    sent.end(`cores=${cores}`)
  })
}
