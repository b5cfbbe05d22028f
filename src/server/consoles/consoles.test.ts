import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Role } from '../auth/roles.ts'
import { createToken, tokensFile } from '../auth/tokens.ts'
import { removeUser, setUser, usersFile } from '../auth/users.ts'
import { PASSWORD, testServer } from '../testing/client.ts'
import { type JoinedConsole, joinConsole } from '../testing/console-client.ts'
import type { FakeLine } from '../testing/fake-consoles.ts'
import { KEY } from '../testing/questions.ts'

type Server = Awaited<ReturnType<typeof testServer>>
type Headers = Readonly<Record<string, string>>

/** Hashing a password is slow: make only the users that a test needs. */
const ANNA = { anna: 'admin' } as const
const TWO = { anna: 'admin', adam: 'admin' } as const

const ticketOf = async (it: Server, headers: Headers, more: object = {}): Promise<string> => {
  const answer = await it.post('/api/console', { key: KEY, ...more }, headers)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ ticket: string }>().ticket
}

const knock = (it: Server, headers: Headers, ticket: string) =>
  joinConsole(it.host, ['croft-console', ticket], { origin: `http://${it.host}`, ...headers })

async function joined(it: Server, headers: Headers, more: object = {}): Promise<JoinedConsole> {
  const web = await knock(it, headers, await ticketOf(it, headers, more))
  assert.ok(typeof web !== 'number', 'it was refused')
  return web
}

const lineOf = (it: Server): FakeLine => it.controller.consoles.lines.at(-1) ?? assert.fail('no line was opened')
const entries = (it: Server) => it.audit.map(({ actor, what, result, message }) => [actor.name, what, result, message])

test('an admin types and reads; the audit log has one line at the start and one at the end, and nothing of the content', async () => {
  const warnings: string[] = []
  await using it = await testServer({ users: ANNA, warn: (message) => warnings.push(message) })
  const anna = await it.signIn('anna')
  it.audit.length = 0
  const web = await joined(it, anna)
  await web.shows(/login: $/)
  web.type('canary-typed\r')
  await web.shows(/CANARY-TYPED\r\n/)
  web.tell({ columns: 132, rows: 50 })
  web.type('x')
  await web.shows(/X$/)
  assert.deepEqual(lineOf(it).sizes, [{ columns: 132, rows: 50 }])
  web.leave()
  await lineOf(it).closed
  assert.deepEqual(entries(it), [
    ['page:anna', 'console', 'done', `Console of ${KEY} opened.`],
    ['page:anna', 'console-end', 'done', 'after 0 s: The page closed it.'],
  ])
  assert.match(it.audit[1]?.about ?? '', /"key":"Machine\//)
  assert.doesNotMatch(JSON.stringify([it.audit, warnings]), /canary|ticket/i)
})

test('a console is for admins who signed in; nobody else gets as far as the machine', async () => {
  await using it = await testServer({ users: { ...ANNA, otto: 'operator', vera: 'viewer' } })
  const [otto, vera, anna] = [await it.signIn('otto'), await it.signIn('vera'), await it.signIn('anna')]
  const token = await createToken(tokensFile(it.paths.tokens), {
    name: 'ci',
    scopes: ['read', 'operate', 'approve', 'power', 'admin'],
    nowMs: Date.now(),
    expiresMs: Date.now() + 3_600_000,
  })
  it.audit.length = 0
  assert.equal((await it.post('/api/console', { key: KEY })).status, 401)
  assert.equal((await it.post('/api/console', { key: KEY }, otto)).status, 403)
  assert.equal((await it.post('/api/console', { key: KEY }, vera)).status, 403)
  const program = await it.post('/api/console', { key: KEY }, { authorization: `Bearer ${token}` })
  assert.equal(program.status, 401, 'a token is no session')
  assert.match(program.text, /croft console NAME/)
  const { 'x-croft-csrf': _, ...cookieAlone } = anna
  assert.equal((await it.post('/api/console', { key: KEY }, cookieAlone)).status, 403)
  assert.equal((await it.post('/api/console', { key: KEY }, { ...anna, origin: 'https://evil.example' })).status, 403)
  assert.equal((await it.post('/api/console', { key: 'Machine/nobody' }, anna)).status, 404)
  assert.equal((await it.ask('/api/console', { headers: anna })).status, 426)
  assert.equal(it.controller.consoles.lines.length, 0)
  assert.deepEqual(
    entries(it).map(([who, , result]) => `${who} ${result}`),
    ['nobody', 'page:otto', 'page:vera', 'token:ci', 'page:anna', 'page:anna', 'page:anna'].map(
      (who) => `${who} refused`,
    ),
  )
})

test('where a second factor is required, it comes before the console', async () => {
  await using it = await testServer({ users: ANNA, needsSecondFactor: true })
  const refused = await it.post('/api/console', { key: KEY }, await it.signIn('anna'))
  assert.equal(refused.status, 403)
  assert.match(refused.text, /second factor/)
  assert.equal(it.controller.consoles.lines.length, 0)
})

test('a server without users has no console', async () => {
  await using it = await testServer({})
  assert.equal((await it.post('/api/console', { key: KEY })).status, 401)
  assert.equal(await knock(it, {}, 'x'.repeat(43)), 401)
})

test('why a machine has no console now is said to the person, and leaves no place taken', async () => {
  await using it = await testServer({ users: ANNA })
  const anna = await it.signIn('anna')
  for (const [reason, status] of [
    ['refused', 422],
    ['away', 503],
    ['not-found', 404],
  ] as const) {
    it.controller.consoles.refuse = { ok: false, reason, message: 'it has no serial port; declare one' }
    const answer = await it.post('/api/console', { key: KEY }, anna)
    assert.equal(answer.status, status)
    assert.match(answer.text, /it has no serial port; declare one/)
  }
  ;(await joined(it, anna)).leave()
})

describe('the web socket', () => {
  const cases: readonly (readonly [string, (anna: Headers, host: string) => Headers, number])[] = [
    ['another origin', (anna) => ({ ...anna, origin: 'https://evil.example' }), 403],
    ['no origin', ({ cookie = '' }) => ({ cookie, origin: '' }), 403],
    ['an opaque origin', (anna) => ({ ...anna, origin: 'null' }), 403],
    ['our origin over another site', (anna) => ({ ...anna, 'sec-fetch-site': 'cross-site' }), 403],
    ['another name of the host', (anna) => ({ ...anna, host: 'evil.example' }), 421],
    ['no session', () => ({}), 401],
    ['a session that is none', () => ({ cookie: `croft_session=${'x'.repeat(43)}` }), 401],
    ['a token in place of a session', () => ({ authorization: `Bearer ${'x'.repeat(43)}` }), 401],
  ]
  test('is refused to whoever does not come from our page in a session of an admin', async () => {
    await using it = await testServer({ users: ANNA })
    const anna = await it.signIn('anna')
    const ticket = await ticketOf(it, anna)
    for (const [what, headers, status] of cases)
      assert.equal(await knock(it, headers(anna, it.host), ticket), status, what)
    assert.equal(lineOf(it).typed.length, 0)
    const web = await knock(it, anna, ticket)
    assert.ok(typeof web !== 'number', 'the ticket is still good for who it is for')
    web.leave()
  })

  test('takes a ticket once, and only in the session that it was given to', async () => {
    await using it = await testServer({ users: TWO })
    const [anna, again, adam] = [await it.signIn('anna'), await it.signIn('anna'), await it.signIn('adam')]
    const ticket = await ticketOf(it, anna)
    assert.equal(await knock(it, adam, ticket), 403)
    assert.equal(await knock(it, again, ticket), 403)
    assert.equal(await knock(it, anna, `${ticket.slice(0, -1)}-`), 403)
    assert.equal(await joinConsole(it.host, ['croft-console'], { origin: `http://${it.host}`, ...anna }), 403)
    const web = await knock(it, anna, ticket)
    assert.ok(typeof web !== 'number')
    assert.equal(await knock(it, anna, ticket), 403, 'a second time')
    web.leave()
  })

  test('is at one address, and what asks for another protocol elsewhere is answered all the same', async () => {
    await using it = await testServer({ users: ANNA })
    const anna = await it.signIn('anna')
    const ticket = await ticketOf(it, anna)
    const origin = `http://${it.host}`
    for (const path of ['/api/console?x=1', '/'])
      assert.notEqual(
        typeof (await joinConsole(it.host, ['croft-console', ticket], { origin, ...anna }, path)),
        'object',
      )
    const headers = {
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAMAAABkAARAAAAAAAIAAAAA',
    }
    const answer = await it.ask('/healthz', { headers })
    assert.deepEqual([answer.status, answer.text], [200, 'ok\n'])
    assert.match(String(answer.headers['content-security-policy']), /default-src 'none'/)
  })

  test('ends what says something that croft does not know, or too much at once', async () => {
    await using it = await testServer({ users: ANNA })
    const anna = await it.signIn('anna')
    for (const said of ['nonsense', { drawn: -5 }, { columns: 'x' }, { drawn: 1, more: 'x'.repeat(200) }]) {
      const web = await joined(it, anna)
      web.tell(said)
      assert.match((await web.ended) ?? '', /does not know/)
    }
    const web = await joined(it, anna)
    web.type('x'.repeat(LIMITS.consoleTypedBytes + 1))
    await web.ended
    await lineOf(it).closed
    assert.equal(lineOf(it).typed.length, 0)
  })
})

describe('neither side is sent more than it takes', () => {
  test('a machine that never stops waits for the page to draw', async () => {
    await using it = await testServer({ users: ANNA })
    const web = await joined(it, await it.signIn('anna'))
    const line = lineOf(it)
    await web.shows(/login: $/)
    const block = Buffer.alloc(32 * 1024, 'y')
    let said = 0
    const talk = () => {
      while (said < 4 * 1024 * 1024) {
        said += block.length
        if (!line.say(block)) return
      }
    }
    // Talks like a program: writes on as long as it is read.
    const talking = setInterval(() => line.wanted() && talk(), 1)
    await web.reaches(LIMITS.consoleWindowBytes)
    await new Promise((done) => setTimeout(done, 100))
    const most = LIMITS.consoleWindowBytes + 3 * block.length
    assert.ok(web.bytes() <= most, `${web.bytes()} bytes were sent to a page that drew none`)
    const drawing = setInterval(() => web.draws(), 1)
    await web.reaches(1_000_000)
    clearInterval(talking)
    clearInterval(drawing)
    web.leave()
    await line.closed
  })

  test('what is typed waits while the machine does not take it, and nothing of it is lost', async () => {
    await using it = await testServer({ users: ANNA })
    const web = await joined(it, await it.signIn('anna'))
    const line = lineOf(it)
    await web.shows(/login: $/)
    const held: (() => void)[] = []
    line.take = (_bytes, done) => void held.push(done)
    const block = 'z'.repeat(LIMITS.consoleTypedBytes)
    for (let at = 0; at < 400; at++) web.type(block)
    while (line.typed.length === 0) await new Promise((done) => setTimeout(done, 5))
    await new Promise((done) => setTimeout(done, 200))
    assert.equal(line.typed.length, 1, 'the machine has one block in its hands')
    const most = 16 * LIMITS.consoleTypedBytes
    assert.ok(line.waiting() <= most, `${line.waiting()} bytes wait in croft, of 6.5 MB that were typed`)
    line.take = (_bytes, done) => done()
    held[0]?.()
    web.type('end')
    while (line.typed.at(-1)?.toString().endsWith('end') !== true) await new Promise((done) => setTimeout(done, 5))
    assert.equal(Buffer.concat(line.typed).length, 400 * LIMITS.consoleTypedBytes + 3)
    web.leave()
    await line.closed
  })
})

describe('a console ends', () => {
  async function world(users: Readonly<Record<string, Role>> = ANNA) {
    const clock = createVirtualClock(Date.now())
    const it = await testServer({ users, clock })
    const anna = await it.signIn('anna')
    const web = await joined(it, anna)
    await web.shows(/login: $/)
    it.audit.length = 0
    const pass = (ms: number) => clock.advanceTo(clock.now() + ms)
    /** Waits for croft's reason. */
    const endsWith = async (pattern: RegExp) => {
      let why: string | undefined
      void web.ended.then((said) => {
        why = said ?? ''
      })
      for (let round = 0; round < 20 && why === undefined; round++) {
        await pass(LIMITS.consoleJudgeMs)
        await new Promise((done) => setTimeout(done, 20))
      }
      assert.match(why ?? 'it is still open', pattern)
      await lineOf(it).closed
      assert.deepEqual(entries(it).filter(([, what]) => what === 'console-end').length, 1, 'one line, whoever ended it')
    }
    return { it, anna, web, clock, pass, endsWith, [Symbol.asyncDispose]: () => it[Symbol.asyncDispose]() }
  }

  test('when the person signs out', async () => {
    await using at = await world()
    await at.it.post('/api/sign-out', {}, at.anna)
    await at.endsWith(/session or the right/)
  })

  test('when the user is removed, while somebody types', async () => {
    await using at = await world()
    await removeUser(usersFile(at.it.paths.users), 'anna')
    const typing = setInterval(() => at.web.type('x'), 5)
    await at.endsWith(/session or the right/).finally(() => clearInterval(typing))
  })

  test('when the role becomes a lesser one', async () => {
    await using at = await world()
    await usersFile(at.it.paths.users).change(({ users, people }) => ({
      people,
      users: users.map((one) => (one.name === 'anna' ? { ...one, role: 'operator' } : one)),
    }))
    await at.endsWith(/session or the right/)
  })

  test('when the password changes, which ends all sessions', async () => {
    await using at = await world()
    await setUser(usersFile(at.it.paths.users), 'anna', 'admin', `${PASSWORD} new`)
    await at.endsWith(/session or the right/)
  })

  test('when an admin ends the session', async () => {
    await using at = await world(TWO)
    const adam = await at.it.signIn('adam')
    const { sessions } = (await at.it.ask('/api/sessions', { headers: adam })).json<{
      sessions: { id: string; user: string }[]
    }>()
    const id = sessions.find(({ user }) => user === 'anna')?.id ?? ''
    assert.equal((await at.it.post('/api/sessions/end', { id }, adam)).status, 200)
    await at.endsWith(/session or the right/)
  })

  test('when nobody types, whatever the machine prints; who types stays', async () => {
    await using at = await world()
    await at.pass(LIMITS.consoleIdleMs - LIMITS.consoleJudgeMs * 2)
    at.web.type('k')
    await at.web.shows(/K$/)
    await at.pass(LIMITS.consoleIdleMs - LIMITS.consoleJudgeMs * 2)
    lineOf(at.it).say('tick')
    await at.web.shows(/tick$/)
    await at.endsWith(/Nobody typed for 15 minutes/)
  })

  test('when it has lasted for long enough', async () => {
    await using at = await world()
    for (let hour = 0; hour < 4 * 6 - 1; hour++) {
      await at.pass(600_000)
      at.web.type('k')
      await at.web.shows(new RegExp(`K{${hour + 1}}$`))
    }
    await at.pass(600_000 - LIMITS.consoleJudgeMs * 3)
    await at.endsWith(/at most 4 hours/)
  })

  test('when the machine ends it', async () => {
    await using at = await world()
    lineOf(at.it).hangUp()
    await at.endsWith(/The machine ended it/)
  })

  test('when croft stops', async () => {
    await using at = await world()
    const closing = at.it.server.close()
    assert.match((await at.web.ended) ?? '', /shutting down/)
    await at.pass(LIMITS.serverCloseMs)
    await closing
    await lineOf(at.it).closed
  })

  test('when the page never joins it', async () => {
    const clock = createVirtualClock(Date.now())
    await using it = await testServer({ users: ANNA, clock })
    const ticket = await ticketOf(it, await it.signIn('anna'))
    await clock.advanceTo(clock.now() + LIMITS.consoleJoinMs)
    await lineOf(it).closed
    assert.match(it.audit.at(-1)?.message ?? '', /did not join/)
    assert.equal(await knock(it, await it.signIn('anna'), ticket), 403)
  })
})

describe('a machine has one console', () => {
  test('the second person is told who has it, and may take it over; both are in the audit log', async () => {
    await using it = await testServer({ users: TWO })
    const [anna, adam] = [await it.signIn('anna'), await it.signIn('adam')]
    const first = await joined(it, anna)
    const taken = await it.post('/api/console', { key: KEY }, adam)
    assert.equal(taken.status, 409)
    assert.equal(taken.json<{ error: string }>().error, 'console-taken')
    assert.match(taken.text, /anna has the console of .* open since/)
    it.audit.length = 0
    const second = await joined(it, adam, { takeOver: true })
    assert.match((await first.ended) ?? '', /adam took it over/)
    assert.deepEqual(
      entries(it).map(([who, what]) => [who, what]),
      [
        ['page:anna', 'console-end'],
        ['page:adam', 'console'],
      ],
    )
    second.type('mine\r')
    await second.shows(/MINE/)
    second.leave()
  })

  test('of two who ask at the same moment one gets it', async () => {
    await using it = await testServer({ users: TWO })
    const [anna, adam] = [await it.signIn('anna'), await it.signIn('adam')]
    let go = () => {}
    it.controller.consoles.slow = new Promise((done) => {
      go = done
    })
    const asked = [anna, adam].map((one) => it.post('/api/console', { key: KEY }, one))
    const first = await Promise.race(asked)
    assert.equal(first.status, 409, 'the one that lost is answered at once')
    go()
    assert.deepEqual(
      (await Promise.all(asked)).map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409],
    )
  })

  test('a machine that takes too long to open is given up', async () => {
    const clock = createVirtualClock(Date.now())
    await using it = await testServer({ users: ANNA, clock })
    const anna = await it.signIn('anna')
    let go = () => {}
    it.controller.consoles.slow = new Promise((done) => {
      go = done
    })
    const asked = it.post('/api/console', { key: KEY }, anna)
    while (it.controller.consoles.asked.length === 0) await new Promise((done) => setTimeout(done, 5))
    await clock.advanceTo(clock.now() + LIMITS.consoleOpenMs)
    go()
    assert.equal((await asked).status, 503)
    it.controller.consoles.slow = undefined
    ;(await joined(it, anna)).leave()
  })
})
