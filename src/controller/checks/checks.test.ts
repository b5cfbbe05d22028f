import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import type { AskCheck } from '../../engine/health-check.ts'
import { findKind } from '../../kinds/registry.ts'
import type { ProbeAnswer } from '../../model/health-check.ts'
import { Secret } from '../../model/secret.ts'
import { link } from '../../plan/link.ts'
import { readTexts } from '../../source/testing/fixture.ts'
import { createChecks } from './checks.ts'
import { networkProbes } from './probes.ts'

const CHECK =
  'apiVersion: croft.dev/v1alpha1\nkind: HealthCheck\nmetadata: {name: web}\nspec: {every: 10s, timeout: 2s, failures: 3, tcp: {host: h, port: 1}}\n'
const signal = new AbortController().signal
const seenAt = (text: string) => ({
  estate: link(readTexts({ 'c.yaml': text }), { findKind }),
  clusters: [],
  surveys: [],
})

test('a check fails after so many bad answers in a row, at its own pace, and passes again at once', async () => {
  const clock = createVirtualClock(0)
  let answer: ProbeAnswer = { passed: 'yes', output: 'open' }
  let asked = 0
  const ask: AskCheck = async () => {
    asked++
    return answer
  }
  const checks = createChecks(clock, ask)
  const seen = seenAt(CHECK)
  const look = () => clock.runUntil(checks.look(seen, signal))
  const state = () => checks.views()[0]?.passed
  await look()
  assert.equal(state(), 'yes')
  await look()
  assert.equal(asked, 1, 'not due yet')
  answer = { passed: 'no', output: 'ECONNREFUSED' }
  for (const expected of ['yes', 'yes', 'no']) {
    await clock.advanceTo(checks.dueMs())
    await look()
    assert.equal(state(), expected)
  }
  answer = { passed: 'yes', output: 'open' }
  await clock.advanceTo(checks.dueMs())
  await look()
  assert.equal(state(), 'yes')
  await clock.runUntil(checks.look(seenAt(CHECK.replace('name: web', 'name: other')), signal))
  assert.deepEqual(
    checks.views().map(({ name }) => name),
    ['other'],
  )
})

test('TCP and HTTP are asked over a real socket; the token is sent, what is wrong is said', async () => {
  const server = createServer((request, response) => {
    response.writeHead(request.headers.authorization === 'Bearer canary' ? 200 : 401).end('all is ok here')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  after(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const ask = networkProbes(async () => new Secret('canary'))
  const http = { ask: 'http', url: `http://127.0.0.1:${port}/`, status: [200] } as const
  assert.equal((await ask({ ask: 'tcp', host: '127.0.0.1', port }, signal)).passed, 'yes')
  await assert.rejects(ask({ ask: 'tcp', host: '127.0.0.1', port: 1 }, signal), /ECONNREFUSED/)
  assert.deepEqual(await ask(http, signal), { passed: 'no', output: 'answered 401' })
  assert.deepEqual(await ask({ ...http, token: { env: 'T' }, contains: 'ok' }, signal), {
    passed: 'yes',
    output: 'answered 200',
  })
  assert.equal((await ask({ ...http, token: { env: 'T' }, contains: 'bad' }, signal)).passed, 'no')
  assert.equal((await ask({ ask: 'cluster', cluster: 'x' }, signal)).passed, 'unknown')
})
