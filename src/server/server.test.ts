import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import { ROUTES } from './api/routes.ts'
import { tokensFile } from './auth/tokens.ts'
import type { WebhookVerdict } from './options.ts'
import { testServer } from './testing/client.ts'
import { fakeController, withResource } from './testing/fake-controller.ts'
import { heldDeletion, smallEstate } from './testing/fake-estate.ts'
import { KEY, questionOf, WISHES } from './testing/questions.ts'

/** Routes that refuse an operator for every input. */
const GRAVE = ['/api/kubeconfig', '/api/console']

const JSON_TYPE = { 'content-type': 'application/json' }

describe('who may do what', () => {
  test('[A60] without signing in everything can be read and nothing done, and each refusal is audited', async () => {
    await using it = await testServer({ users: { anna: 'operator' } })
    for (const { method, path, scope, signedIn } of ROUTES) {
      if (method !== 'GET') continue
      const open = scope === 'read' && signedIn !== true
      assert.equal((await it.ask(questionOf(path))).status, open ? 200 : 401, path)
    }
    for (const [path, input] of Object.entries(WISHES)) {
      assert.equal((await it.post(path, input)).status, 401, path)
    }
    assert.deepEqual(it.controller.asked, [])
    assert.deepEqual(
      it.audit.map(({ what, result, actor }) => [`/api/${what}`, result, actor.name]),
      Object.keys(WISHES).map((path) => [path, 'refused', 'nobody']),
    )
  })

  test('every route that changes something needs a right', () => {
    const open = ROUTES.filter(({ method, scope }) => method === 'POST' && scope === 'read').map(({ path }) => path)
    // Codes, keys and sign-out need the caller's session, and these callers have none.
    const keys = [
      '/api/second-factor/begin',
      '/api/second-factor/key',
      '/api/keys/begin',
      '/api/keys/add',
      '/api/keys/remove',
    ]
    assert.deepEqual(open, ['/api/sign-in', '/api/sign-out', '/api/second-factor', '/api/sessions/end', ...keys])
    const guarded = (wanted: string) =>
      ROUTES.filter(({ method, scope, signedIn }) => method === wanted && (scope !== 'read' || signedIn === true)).map(
        ({ path }) => path,
      )
    assert.deepEqual(guarded('POST'), Object.keys(WISHES))
    // Files hold more than the declarations that everybody may read.
    assert.deepEqual(guarded('GET').toSorted(), ['/api/commit-diff', '/api/excerpts'])
  })

  test('[A60] a viewer is refused every wish, an operator is asked for under his name, an admin may do the grave ones', async () => {
    await using it = await testServer({ users: { vera: 'viewer', otto: 'operator', anna: 'admin' } })
    const [vera, otto, anna] = [await it.signIn('vera'), await it.signIn('otto'), await it.signIn('anna')]
    for (const [path, input] of Object.entries(WISHES)) {
      assert.equal((await it.post(path, input, vera)).status, 403, path)
      const granted = GRAVE.includes(path) ? 403 : 200
      assert.equal((await it.post(path, input, otto)).status, granted, path)
    }
    for (const path of GRAVE) assert.equal((await it.post(path, WISHES[path], anna)).status, 200, path)
    assert.ok(it.controller.asked.every(({ actor }) => actor.name === 'page:otto' && actor.from === 'page'))
    const grave = { cluster: 'homelab', order: 'replace', node: 'k3s-vm-still-fawn' }
    assert.equal((await it.post('/api/wishes/cluster', grave, otto)).status, 403)
    assert.equal((await it.post('/api/wishes/cluster', grave, anna)).status, 200)
    const careless = { target: 'homelab', order: 'off', ignoreHolds: true }
    assert.equal((await it.post('/api/wishes/power', careless, otto)).status, 403)
    assert.equal((await it.post('/api/wishes/power', careless, anna)).status, 200)
  })

  test('a wish that cannot be granted says why, with the status that fits', async () => {
    await using it = await testServer({ users: { otto: 'operator' } })
    const otto = await it.signIn('otto')
    const missing = await it.post('/api/wishes/suspend', { key: 'Machine/none' }, otto)
    assert.deepEqual([missing.status, missing.json().error], [404, 'not-found'])
    const malformed = await it.post('/api/wishes/suspend', { key: KEY, surprise: 1 }, otto)
    assert.deepEqual([malformed.status, malformed.json().error], [400, 'malformed'])
    assert.equal((await it.post('/api/wishes/approve', { keys: [] }, otto)).status, 400)
  })

  test('an approval is for a limited time, counted from the server’s clock', async () => {
    const estate = smallEstate()
    const controller = fakeController({
      ...estate,
      ...withResource(estate, KEY, (one) => ({ ...one, action: heldDeletion('k3s-vm-still-fawn', 'still-fawn', 109) })),
    })
    await using it = await testServer({ users: { otto: 'operator' }, controller })
    assert.equal(
      (await it.post('/api/wishes/approve', { keys: [KEY], forMs: 120_000 }, await it.signIn('otto'))).status,
      200,
    )
    const [asked] = it.controller.asked
    assert.ok(asked?.wish.wish === 'approve')
    assert.ok(Math.abs(asked.wish.expiresMs - Date.now() - 120_000) < 30_000)
    assert.equal(it.controller.view().resources.find(({ key }) => key === KEY)?.action.do, 'delete')
  })
})

describe('[S-23] what another page makes a browser send', () => {
  test('is refused: each of the three walls stands alone', async () => {
    await using it = await testServer({ users: { otto: 'operator' } })
    const otto = await it.signIn('otto')
    const own = `http://${it.host}`
    const cases: readonly [string, Readonly<Record<string, string>>][] = [
      ['a simple content type', { 'content-type': 'text/plain', origin: own, ...otto }],
      ['a form', { 'content-type': 'application/x-www-form-urlencoded', origin: own, ...otto }],
      ['another origin', { ...JSON_TYPE, ...otto, origin: 'https://evil.example' }],
      ['the same host on another port', { ...JSON_TYPE, ...otto, origin: 'http://127.0.0.1:1' }],
      ['an opaque origin', { ...JSON_TYPE, ...otto, origin: 'null' }],
      ['no origin', { ...JSON_TYPE, ...otto }],
      ['cross-site by the browser’s own word', { ...JSON_TYPE, ...otto, origin: own, 'sec-fetch-site': 'cross-site' }],
      ['the cookie alone', { ...JSON_TYPE, origin: own, cookie: otto.cookie ?? '' }],
      ['a wrong CSRF token', { ...JSON_TYPE, origin: own, ...otto, 'x-croft-csrf': 'wrong' }],
    ]
    for (const [name, headers] of cases) {
      const { status } = await it.ask('/api/wishes/reconcile', { method: 'POST', body: '{}', headers })
      assert.equal(status, 403, name)
    }
    assert.deepEqual(it.controller.asked, [])
    assert.equal((await it.post('/api/wishes/reconcile', {}, otto)).status, 200)
  })

  test('signing in is not open to other pages either', async () => {
    await using it = await testServer({ users: { otto: 'operator' } })
    const answer = await it.post('/api/sign-in', { name: 'otto', password: 'x' }, { origin: 'https://evil.example' })
    assert.equal(answer.status, 403)
  })
})

describe('[S-22] the name under which it is asked for', () => {
  test('must be its own: DNS rebinding gets nothing', async () => {
    await using it = await testServer({ names: ['croft.lan'] })
    const { port } = it.server
    for (const [host, status] of [
      [`127.0.0.1:${port}`, 200],
      [`localhost:${port}`, 200],
      [`[::1]:${port}`, 200],
      [`croft.lan:${port}`, 200],
      ['croft.lan', 200],
      ['CROFT.lan.', 200],
      ['evil.example', 421],
      [`evil.example:${port}`, 421],
      ['127.0.0.1:1', 421],
      [`127.0.0.1.nip.io:${port}`, 421],
      [`croft.lan@evil.example:${port}`, 421],
    ] as const) {
      assert.equal((await it.ask('/api/view', { headers: { host } })).status, status, host)
    }
  })

  test('it listens on loopback unless told otherwise', async () => {
    await using it = await testServer()
    assert.match(it.server.url, /^http:\/\/127\.0\.0\.1:/)
  })
})

describe('every answer', () => {
  test('carries a policy without unsafe-inline and forbids frames', async () => {
    await using it = await testServer()
    for (const path of ['/', '/api/view', '/nothing-here', '/api/events-not']) {
      const { headers } = await it.ask(path)
      const policy = String(headers['content-security-policy'])
      assert.match(policy, /default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/)
      assert.ok(!policy.includes('unsafe'), policy)
      assert.equal(headers['x-content-type-options'], 'nosniff')
    }
    assert.equal((await it.ask('/api/view')).headers['cache-control'], 'no-store')
  })

  test('[S-16] names that lie are cleaned and cut', async () => {
    const estate = smallEstate()
    const evil = `\u001b]0;owned\u0007\u202e${'x'.repeat(10_000_000)}`
    const view = withResource(estate, KEY, (one) => ({ ...one, status: evil, observed: { description: evil } }))
    await using it = await testServer({ controller: fakeController({ ...estate, ...view }) })
    for (const path of ['/api/view', `/api/resource?key=${encodeURIComponent(KEY)}`]) {
      const { text, status } = await it.ask(path)
      assert.equal(status, 200)
      assert.ok(text.length < 200_000, `${text.length}`)
      assert.ok(!/\\u001b|\\u0007|\u202e/.test(text))
    }
  })

  test('[S-16] numbers that cannot be are left out, and the page lives on', async () => {
    const estate = smallEstate()
    const lies = {
      cpus: Number.NaN,
      load: Number.POSITIVE_INFINITY,
      memoryBytes: -5,
      temperatureC: 'hot' as unknown as number,
    }
    const hosts = estate.hosts.map((host) => ({ ...host, ...lies }))
    await using it = await testServer({ controller: fakeController({ ...estate, hosts }) })
    const answer = await it.ask('/api/view')
    assert.equal(answer.status, 200)
    const [host] = answer.json<{ readonly hosts: readonly Readonly<Record<string, unknown>>[] }>().hosts
    assert.equal(host?.name, 'pumped-piglet')
    for (const field of Object.keys(lies)) assert.equal(host?.[field], undefined, field)
  })

  test('an error inside says nothing about its cause to the asker', async () => {
    const controller = fakeController(smallEstate())
    const warned: string[] = []
    controller.manifest = async () => {
      throw new Error('password=canary')
    }
    await using it = await testServer({ controller, warn: (message) => warned.push(message) })
    const answer = await it.ask(`/api/manifest?key=${encodeURIComponent(KEY)}`)
    assert.equal(answer.status, 500)
    assert.ok(!answer.text.includes('canary'))
    assert.match(warned[0] ?? '', /^GET \/api\/manifest: /)
  })

  test('a damaged file of users or tokens lets nobody in', async () => {
    await using it = await testServer({ users: { otto: 'operator' } })
    const otto = await it.signIn('otto')
    const { writeFile } = await import('node:fs/promises')
    await writeFile(it.paths.users, '{"users":')
    assert.equal((await it.post('/api/wishes/reconcile', {}, otto)).status, 500)
    await assert.rejects(tokensFile(it.paths.users).read(), /is not JSON/)
    assert.equal((await it.ask('/api/view')).status, 200, 'reading goes on')
  })
})

describe('[S-21] the webhook', () => {
  const refusing = (verdict: WebhookVerdict) => ({ webhook: () => verdict })

  test('asks the one who knows the signature, and pokes only then', async () => {
    let verdict: WebhookVerdict = { take: 'poke' }
    await using it = await testServer({ webhook: () => verdict })
    assert.equal((await it.ask('/hooks/homelab', { method: 'POST', body: '{}' })).status, 202)
    verdict = { take: 'refuse', status: 401, message: 'not signed' }
    assert.equal((await it.ask('/hooks/homelab', { method: 'POST', body: '{}' })).status, 401)
    verdict = { take: 'ignore' }
    assert.equal((await it.ask('/hooks/homelab', { method: 'POST', body: '{}' })).status, 202)
    assert.deepEqual(it.controller.poked, ['homelab'])
  })

  test('a body of a gigabyte is refused by its announcement, and one that lies about its length as it comes', async () => {
    await using it = await testServer(refusing({ take: 'poke' }))
    const huge = await speak(
      it.server.port,
      `POST /hooks/a HTTP/1.1\r\nhost: ${it.host}\r\ncontent-length: 1073741824\r\n\r\n`,
    )
    assert.match(huge, /^HTTP\/1\.1 413 /)
    const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`
    const chunked = `POST /hooks/a HTTP/1.1\r\nhost: ${it.host}\r\ntransfer-encoding: chunked\r\n\r\n${chunk}${chunk}`
    assert.match(await speak(it.server.port, chunked), /^HTTP\/1\.1 413 /)
    assert.deepEqual(it.controller.poked, [])
    assert.equal((await it.ask('/healthz')).status, 200)
  })

  test('a flood is answered 429 before its bodies are read, and the page goes on', async () => {
    let judged = 0
    await using it = await testServer({
      // Freeze the clock, so that a slow flood here does not gain new tokens.
      clock: { ...systemClock, monotonicMs: () => 0 },
      webhook: () => {
        judged += 1
        return { take: 'refuse', status: 401, message: 'no' }
      },
    })
    const statuses = await Promise.all(
      Array.from({ length: 300 }, async () => (await it.ask('/hooks/a', { method: 'POST', body: 'not json' })).status),
    )
    assert.equal(judged, LIMITS.webhookRate.burst)
    assert.equal(statuses.filter((status) => status === 429).length, 300 - judged)
    assert.equal((await it.ask('/api/view')).status, 200)
  })
})

describe('for machines', () => {
  test('healthz, readyz and metrics', async () => {
    let well = true
    await using it = await testServer({ healthy: () => well, metrics: () => 'croft_up 1\n' })
    assert.equal((await it.ask('/healthz')).status, 200)
    assert.equal((await it.ask('/readyz')).status, 200)
    assert.equal((await it.ask('/metrics')).text, 'croft_up 1\n')
    well = false
    it.controller.setReady(false)
    assert.deepEqual([(await it.ask('/healthz')).status, (await it.ask('/readyz')).status], [503, 503])
  })

  test('it closes although a listener is still there and a client has said half a sentence', async () => {
    const it = await testServer()
    const half = connect(it.server.port, '127.0.0.1')
    half.on('error', () => {})
    half.write('GET /api/view HTTP/1.1\r\nhost')
    const listener = connect(it.server.port, '127.0.0.1')
    listener.on('error', () => {})
    listener.write(`GET /api/events HTTP/1.1\r\nhost: ${it.host}\r\n\r\n`)
    await new Promise((seen) => listener.once('data', seen))
    await it[Symbol.asyncDispose]()
    half.destroy()
    listener.destroy()
  })
})

/** Raw text over a socket, and the first of what comes back. */
function speak(port: number, text: string): Promise<string> {
  return new Promise((done, fail) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EPIPE' || error.code === 'ECONNRESET' ? undefined : fail(error),
    )
    socket.once('data', (data) => {
      done(String(data))
      socket.destroy()
    })
    socket.write(text)
  })
}
