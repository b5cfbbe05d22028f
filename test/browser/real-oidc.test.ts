import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { fakeIssuer } from '../../src/server/testing/fake-issuer.ts'
import { endAll, scratch, start } from '../binary/children.ts'
import { announced } from './real-stage.ts'
import { openBrowser, whyNoBrowser } from './stage.ts'

const SECRET = 'client-secret-of-this-test'

describe('croft run with an OpenID Connect provider, in a real browser', { skip: whyNoBrowser() ?? false }, () => {
  after(endAll)

  test('[S-22] who the provider vouches for signs in with the role of the groups; a token for somebody else is refused', async () => {
    await using issuer = await fakeIssuer('croft', SECRET)
    const cwd = scratch()
    mkdirSync(path.join(cwd, 'estate'))
    const port = await freePort()
    const config = {
      listen: `127.0.0.1:${port}`,
      sources: [{ directory: path.join(cwd, 'estate') }],
      oidc: {
        issuer: issuer.url,
        clientId: 'croft',
        clientSecret: { env: 'OIDC_SECRET' },
        roleClaim: 'groups',
        roles: { 'homelab-people': 'operator' },
      },
    }
    writeFileSync(path.join(cwd, 'croft.yaml'), JSON.stringify(config))
    const env = { HOME: path.join(cwd, 'home'), OIDC_SECRET: SECRET }
    const croft = start(['run', '--config', 'croft.yaml'], { cwd, env })
    const url = await announced(croft)
    const browser = await openBrowser()
    try {
      const context = await browser.newContext()
      context.setDefaultTimeout(40_000)
      const page = await context.newPage()
      await page.goto(url)
      issuer.state.twist = { claims: { aud: 'another client' } }
      const refused = await page.goto(`${url}/api/sign-in/oidc`)
      assert.equal(refused?.status(), 401)
      await page.getByText('You are not signed in.').waitFor()
      await page.goto(url)
      issuer.state.twist = { claims: { preferred_username: 'otto', groups: ['homelab-people'] } }
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('link', { name: 'With your provider' }).click()
      await page.locator('.side-user').getByText('otto').waitFor()
      const me = await page.evaluate(async () => (await fetch('/api/me')).json() as Promise<unknown>)
      assert.deepEqual((me as { readonly role: string }).role, 'operator')
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('button', { name: 'Sign in' }).waitFor()
    } finally {
      await browser.close()
    }
    croft.child.kill('SIGTERM')
    const { code, stderr } = await croft.ended
    assert.ok(code === 0 || code === 143, stderr)
    assert.ok(!stderr.includes(SECRET))
  })
})

/** Returns a free port: the provider must know it before croft starts. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  await new Promise<void>((done) => server.close(() => done()))
  return port
}
