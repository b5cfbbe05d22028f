import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { fromBase32, newTotpSecret, totpAt } from '../../src/server/auth/totp.ts'
import { removeUser, setTotp } from '../../src/server/auth/users.ts'
import { KEY, WISHES } from '../../src/server/testing/questions.ts'
import { richEstate } from '../../src/server/testing/rich-estate.ts'
import { missed, told } from './access.ts'
import { openBrowser, PASSWORD, signIn, stage, whyNoBrowser } from './stage.ts'

const RESOURCE = `resource/${encodeURIComponent(KEY)}`

describe('who may do what, in a browser', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser
  before(async () => {
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
  })

  test('a plan that waits is shown whole, and approving names exactly that plan', async () => {
    // The stand-in for a controller knows resources only.
    await using it = await stage(browser, richEstate(), { expected: /404 \(Not Found\)/ })
    const { page } = it
    await it.go()
    await page.getByRole('button', { name: 'Sign in' }).click()
    await signIn(page, 'anna')
    await it.go('#/plan')
    const card = page.locator('.held', { hasText: 'A commit of homelab waits for approval' })
    await card.getByText('memory: 8192 → 16384').waitFor()
    await card.getByRole('button', { name: 'Approve' }).click()
    await page.locator('dialog').getByText('croft ask approve Source/homelab@c31de1ead2c4').waitFor()
    await page.locator('dialog').getByRole('button', { name: 'Approve' }).click()
    await page.locator('dialog').waitFor({ state: 'detached' })
    assert.deepEqual(
      it.controller.asked.map(({ wish }) => ('keys' in wish ? wish.keys : wish.wish)),
      [['Source/homelab@c31de1ead2c4']],
    )
  })

  test('[S-42] who has an authenticator app is asked for a code before approving, and what was asked for goes on', async () => {
    await using it = await stage(browser, richEstate(), { expected: /40[34] \((?:Forbidden|Not Found)\)/ })
    const { page } = it
    const secret = newTotpSecret()
    await setTotp(it.users, 'anna', secret)
    const codeNow = (steps = 0) =>
      totpAt(fromBase32(secret) ?? new Uint8Array(), Math.floor(Date.now() / 30_000) + steps)
    await it.go()
    await page.getByRole('button', { name: 'Sign in' }).click()
    await signIn(page, 'anna')
    await it.go('#/plan')
    await page.locator('.held', { hasText: 'A commit of homelab' }).getByRole('button', { name: 'Approve' }).click()
    await page.locator('dialog').getByRole('button', { name: 'Approve' }).click()
    const code = page.getByLabel('Six digits of your authenticator app')
    await code.waitFor()
    assert.equal(it.controller.asked.length, 0, 'nothing is approved before the code')
    const right = [-2, -1, 0, 1, 2].map((steps) => codeNow(steps))
    await code.fill(
      ['000000', '111111', '222222', '333333', '444444', '555555'].find((one) => !right.includes(one)) ?? '',
    )
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByRole('alert').getByText('This is not the code of your authenticator app now').waitFor()
    assert.equal(it.controller.asked.length, 0)
    await code.fill(codeNow())
    await page.getByRole('button', { name: 'Go on' }).click()
    await code.waitFor({ state: 'detached' })
    await page.locator('.toast').first().waitFor()
    assert.deepEqual(
      it.controller.asked.map(({ wish }) => ('keys' in wish ? wish.keys : wish.wish)),
      [['Source/homelab@c31de1ead2c4']],
    )
  })

  test('[S-42] a security key is added, asked for before approving, and removed; nobody but its owner gets by', async () => {
    const expected = /40[34] \((?:Forbidden|Not Found)\)/
    await using it = await stage(browser, richEstate(), { name: 'localhost', expected })
    const { page } = it
    const devices = await page.context().newCDPSession(page)
    const options = {
      protocol: 'ctap2',
      transport: 'usb',
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    } as const
    /** The look at what a screen reader is told takes the browser's key away: it is plugged in again with what it holds. */
    const plug = async (credentials: readonly Made[] = []) => {
      await devices.send('WebAuthn.enable')
      const { authenticatorId } = await devices.send('WebAuthn.addVirtualAuthenticator', { options })
      for (const credential of credentials)
        await devices.send('WebAuthn.addCredential', { authenticatorId, credential })
      return {
        credentials: async () => (await devices.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
        lie: (bits: Lies) => devices.send('WebAuthn.setResponseOverrideBits', { authenticatorId, ...bits }),
      }
    }
    const signInAgain = async () => {
      await page.getByRole('button', { name: 'Sign in' }).click()
      await signIn(page, 'anna')
    }
    await it.go()
    await signInAgain()
    const first = await plug()
    await page.getByRole('button', { name: 'Sessions' }).click()
    await page.getByLabel('Name of a new key').fill('blue key')
    await page.getByRole('button', { name: 'Add a security key' }).click()
    await page.getByRole('button', { name: 'Remove blue key' }).waitFor()
    const held = await first.credentials()
    const [key] = (await it.users.read()).users.flatMap(({ keys }) => keys ?? [])
    assert.deepEqual([key?.name, key?.rpId, key?.algorithm], ['blue key', 'localhost', -7])
    assert.deepEqual(missed(await told(page)), [], 'the dialog for somebody who cannot see it')
    await page.getByRole('button', { name: 'Add a security key' }).scrollIntoViewIfNeeded()
    await it.both('security-keys')
    await page.getByRole('button', { name: 'Close' }).click()
    // Another session of the same person: who has only the password gets nowhere.
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signInAgain()
    await it.go('#/plan')
    const approve = async () => {
      await page.locator('.held', { hasText: 'A commit of homelab' }).getByRole('button', { name: 'Approve' }).click()
      await page.locator('dialog').getByRole('button', { name: 'Approve' }).click()
      await page.getByRole('button', { name: 'Use your security key' }).waitFor()
    }
    await approve()
    assert.deepEqual(missed(await told(page)), [])
    await devices.send('WebAuthn.disable').catch(() => undefined)
    const again = await plug(held)
    for (const [bits, why] of [
      [{ isBogusSignature: true }, 'It does not answer what this page asked.'],
      [{ isBadUV: true }, 'It asked for no PIN and no finger.'],
      [{ isBadUP: true }, 'It does not answer what this page asked.'],
    ] as const) {
      await again.lie({ isBogusSignature: false, isBadUV: false, isBadUP: false, ...bits })
      await page.getByRole('button', { name: 'Use your security key' }).click()
      await page.getByRole('alert').getByText(why).waitFor()
      assert.equal(it.controller.asked.length, 0)
    }
    await again.lie({ isBogusSignature: false, isBadUV: false, isBadUP: false })
    const approved = page.waitForResponse(
      (answer) => answer.url().endsWith('/wishes/approve') && answer.status() !== 403,
    )
    await page.getByRole('button', { name: 'Use your security key' }).click()
    await approved
    assert.deepEqual(
      it.controller.asked.map(({ wish }) => ('keys' in wish ? wish.keys : wish.wish)),
      [['Source/homelab@c31de1ead2c4']],
    )
    const [used] = (await it.users.read()).users.flatMap(({ keys }) => keys ?? [])
    assert.ok((used?.signCount ?? 0) > (key?.signCount ?? 0), 'the key counts, and its count is kept')
    await page.getByRole('button', { name: 'Sessions' }).click()
    await page.getByRole('button', { name: 'Remove blue key' }).click()
    await page.getByRole('button', { name: 'Remove blue key' }).waitFor({ state: 'detached' })
    assert.deepEqual(
      (await it.users.read()).users.flatMap(({ keys }) => keys ?? []),
      [],
    )
  })

  test('[S-43] an admin sees who is signed in, and ends a session of another and her own', async () => {
    await using it = await stage(browser, richEstate())
    const { page } = it
    const opened = await fetch(`${it.url}/api/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: it.url },
      body: JSON.stringify({ name: 'vera', password: PASSWORD }),
    })
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
    const nameOf = async () => ((await (await fetch(`${it.url}/api/me`, { headers: { cookie } })).json()) as Named).name
    assert.equal(await nameOf(), 'vera')
    await it.go()
    await page.getByRole('button', { name: 'Sign in' }).click()
    await signIn(page, 'anna')
    await page.getByRole('button', { name: 'Sessions' }).click()
    const dialog = page.locator('dialog')
    await dialog.getByText('(this one)').waitFor()
    const veras = dialog.locator('tbody tr', { hasText: 'vera' })
    assert.match((await veras.textContent()) ?? '', /127\.0\.0\.1/)
    await veras.getByRole('button', { name: 'End' }).click()
    await veras.waitFor({ state: 'detached' })
    assert.equal(await nameOf(), undefined, 'her next request is of nobody')
    await dialog.locator('tbody tr', { hasText: 'anna' }).getByRole('button', { name: 'End' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
  })

  test('[A60] a viewer sees every page; each button says what she lacks, and what she sends all the same is refused and audited', async () => {
    await using it = await stage(browser, richEstate(), { expected: /403 \(Forbidden\)/ })
    const { page } = it
    await it.go()
    await page.getByRole('button', { name: 'Sign in' }).click()
    await signIn(page, 'vera')
    for (const [place, button] of [
      ['estate', undefined],
      ['graph', undefined],
      ['timeline', undefined],
      ['health', undefined],
      ['cluster/homelab', 'Snapshot'],
      ['drift', 'Adopt'],
      ['drift', 'Revert'],
      ['power', 'Release'],
      ['power', 'Switch on'],
      [RESOURCE, 'Look now'],
      [RESOURCE, 'Suspend'],
    ] as const) {
      await it.go(`#/${place}`)
      await page.locator('main .loading').waitFor({ state: 'detached' })
      if (button === undefined) continue
      await page.getByRole('button', { name: button }).first().click()
      await page.locator('.toast', { hasText: 'which vera does not have' }).first().waitFor()
      assert.equal(await page.locator('dialog').count(), 0, `${place} ${button}`)
    }
    const statuses = await page.evaluate(async (wishes) => {
      const { csrf } = (await (await fetch('/api/me')).json()) as { readonly csrf: string }
      const headers = { 'content-type': 'application/json', 'x-croft-csrf': csrf }
      const send = async ([path, input]: readonly [string, unknown]) =>
        (await fetch(path, { method: 'POST', headers, body: JSON.stringify(input) })).status
      return Promise.all(wishes.map(send))
    }, Object.entries(WISHES))
    assert.deepEqual(new Set(statuses), new Set([403]))
    assert.equal(it.controller.asked.length, 0)
    const refused = it.audit.filter(({ result, actor }) => result === 'refused' && actor.name === 'page:vera')
    assert.deepEqual(refused.map(({ what }) => `/api/${what}`).toSorted(), Object.keys(WISHES).toSorted())
  })

  test('[S-23] another page on the same machine cannot act with the session that this browser has', async () => {
    await using other = await elsewhere()
    await using it = await stage(browser, richEstate(), {
      expected: /asked somebody else|Failed to load resource|blocked by CORS policy/,
    })
    const { page } = it
    await it.go()
    await page.getByRole('button', { name: 'Sign in' }).click()
    await signIn(page)
    // The same site, as browsers count it: the cookie goes along, so the walls behind it are what is tried here.
    await page.goto(`${other.url}/?target=${encodeURIComponent(it.url)}`)
    await page.waitForFunction('window.tried === true')
    await page.locator('form').evaluate((form) => (form as unknown as { submit(): void }).submit())
    await page.getByText('wrong-type').waitFor()
    assert.equal(it.controller.asked.length, 0)
    const refused = it.audit.filter(({ what, result }) => what === 'wishes/reconcile' && result === 'refused')
    assert.ok(refused.length >= 2, 'the requests never came to us')
    assert.ok(
      refused.some(({ actor }) => actor.name === 'page:anna'),
      'the cookie was not sent, so nothing was tried',
    )
  })

  test('[S-22] somebody who is removed while his page is open is nobody with the next click', async () => {
    await using it = await stage(browser, richEstate(), { expected: /401 \(Unauthorized\)/ })
    const { page } = it
    await it.go(`#/${RESOURCE}`)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await signIn(page)
    await page.getByRole('button', { name: 'Look now' }).click()
    await page.locator('.toast', { hasText: 'Looking now' }).waitFor()
    await removeUser(it.users, 'anna')
    await page.getByRole('button', { name: 'Look now' }).click()
    await page.locator('dialog').getByText('You can read without signing in').waitFor()
    assert.equal(it.controller.asked.length, 1)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
  })
})

/** What a key of the browser holds. */
interface Made {
  readonly credentialId: string
  readonly isResidentCredential: boolean
  readonly rpId?: string
  readonly privateKey: string
  readonly signCount: number
}

/** What a key of the browser may do wrong. */
interface Lies {
  readonly isBogusSignature: boolean
  readonly isBadUV: boolean
  readonly isBadUP: boolean
}

interface Named {
  readonly name?: string
}

/** A page of another origin that attempts forgeries: a form with JSON in it, and calls with simple types. */
async function elsewhere() {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const target = `${searchParams.get('target') ?? ''}/api/wishes/reconcile`
    if (pathname === '/try.js') {
      response.writeHead(200, { 'content-type': 'text/javascript' })
      const calls = ['text/plain', 'application/json'].map(
        (type) =>
          `fetch(${JSON.stringify(target)}, { method: 'POST', mode: ${type === 'text/plain' ? "'no-cors'" : "'cors'"}, credentials: 'include', headers: { 'content-type': '${type}' }, body: '{}' }).catch(() => 0)`,
      )
      response.end(`Promise.all([${calls.join(', ')}]).then(() => { window.tried = true })`)
      return
    }
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(
      `<form method="post" enctype="text/plain" action="${target}"><input name='{"x":"' value='"}'></form><script src="/try.js?${searchParams.toString()}"></script>`,
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((done) => server.close(() => done()))
    },
  }
}
