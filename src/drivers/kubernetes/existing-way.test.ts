import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import type { Credential } from '../../kubernetes/exec-credential.ts'
import { type Wire, WireFailure } from '../../lib/wire.ts'
import { createKeyPair, issueCertificate, privateKeyPem } from '../../lib/x509.ts'
import { Secret, type SecretReference } from '../../model/secret.ts'
import { type ExistingTools, existingWay } from './existing-way.ts'

const signal = AbortSignal.any([])
const clock = createVirtualClock(1_000_000)

function kubeconfig(user: object): string {
  return JSON.stringify({
    'current-context': 'p',
    clusters: [{ name: 'c', cluster: { server: 'https://api.example.org' } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'p', context: { cluster: 'c', user: 'u' } }],
  })
}

/** An API that accepts one token, and records the requests. */
function world(text: string, more: Partial<ExistingTools> = {}) {
  const state = { accepts: 'first', asked: [] as string[], opened: 0, resolved: 0, silent: false }
  const wire: Wire = {
    async send({ path, headers }) {
      if (state.silent) throw new WireFailure('no', 'ECONNREFUSED', 'nobody listens')
      state.asked.push(`${path} ${headers.authorization ?? '-'}`)
      const status = headers.authorization === `Bearer ${state.accepts}` ? 200 : 401
      return { status, reason: '', headers: {}, body: '{}' }
    },
    close: async () => {},
  }
  const tools: ExistingTools = {
    clock,
    resolveSecret: async (_reference: SecretReference) => {
      state.resolved++
      return new Secret(text)
    },
    openWire: () => {
      state.opened++
      return wire
    },
    openInside: async () => wire,
    insideLogin: async () => ({ problem: 'no pod' }),
    readFile: async () => undefined,
    runProgram: async () => ({ problem: 'no program may be run' }),
    ...more,
  }
  return { state, tools }
}

const EXEC = { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'aws' } }

test('the way is opened once, lost with its answer, and looked up anew', async () => {
  const { state, tools } = world(kubeconfig({ token: 'first' }))
  const way = existingWay({ name: 'prod', kubeconfig: { env: 'K' } }, tools)
  assert.equal((await way.find(signal)).is, 'open')
  assert.equal((await way.find(signal)).is, 'open')
  assert.deepEqual([state.opened, state.resolved], [1, 1])
  assert.deepEqual(state.asked, ['/api/v1 Bearer first'])
  way.lost()
  state.silent = true
  assert.deepEqual(await way.find(signal), { is: 'away', message: 'nobody listens' })
  state.silent = false
  assert.equal((await way.find(signal)).is, 'open')
  assert.equal(state.resolved, 3)
  await way.close()
})

test('a token that nobody accepts says what to do, and never what it is', async () => {
  const { tools } = world(kubeconfig({ token: 'correct-horse' }))
  const found = await existingWay({ name: 'prod', kubeconfig: { env: 'K' } }, tools).find(signal)
  assert.ok(found.is === 'away')
  assert.match(found.message, /does not accept its kubeconfig \(401\)\. Get a new one/)
  assert.equal(found.message.includes('correct-horse'), false)
})

test('a client certificate that has ended is named with its day', async () => {
  const day = 86_400_000
  const { publicKey, privateKey } = createKeyPair()
  const certificate = (notAfter: Date) =>
    issueCertificate(
      {
        subject: { commonName: 'admin' },
        publicKey,
        notBefore: new Date(-400 * day),
        notAfter,
        usages: ['clientAuth'],
      },
      { subject: { commonName: 'admin' }, privateKey },
    ).pem
  const said = async (notAfter: Date) => {
    const data = (text: string) => Buffer.from(text).toString('base64')
    const { tools } = world(
      kubeconfig({
        'client-certificate-data': data(certificate(notAfter)),
        'client-key-data': data(privateKeyPem(privateKey)),
      }),
    )
    const found = await existingWay({ name: 'prod', kubeconfig: { env: 'K' } }, tools).find(signal)
    return found.is === 'away' ? found.message : found.is
  }
  assert.match(
    await said(new Date(-35 * day)),
    /Cluster prod .*\(401\): the client certificate in it ended on 1969-11-27\. Get a new one \(on a K3s server/,
  )
  assert.match(await said(new Date(35 * day)), /\(401\)\. Get a new one/)
})

test('a program is asked again before its token ends, and when it is refused', async () => {
  const given = ['first', 'second', 'third']
  let ran = 0
  const runProgram = async (): Promise<Credential> => ({
    token: new Secret(given[ran++] ?? 'none'),
    untilMs: clock.now() + 900_000,
  })
  const { state, tools } = world(kubeconfig(EXEC), { runProgram })
  const found = await existingWay({ name: 'prod', kubeconfig: { file: '/k' } }, tools).find(signal)
  assert.ok(found.is === 'open')
  assert.equal(ran, 1)
  state.accepts = 'second'
  assert.equal((await found.client.get('/a')).is, 'answer', 'refused, renewed and asked again')
  assert.equal(ran, 2)
  await clock.advanceTo(clock.now() + 850_000)
  state.accepts = 'third'
  assert.equal((await found.client.get('/b')).is, 'answer')
  assert.equal(ran, 3)
  assert.equal(state.asked.at(-1), '/b Bearer third')
})

test('out of Git no program runs and no file is read, whatever it says', async () => {
  const touched: string[] = []
  const { tools } = world(kubeconfig({ ...EXEC, tokenFile: '/etc/shadow' }), {
    runProgram: async () => {
      touched.push('program')
      return { token: new Secret('first') }
    },
    readFile: async (name) => {
      touched.push(name)
      return 'x'
    },
  })
  for (const kubeconfig of [{ sops: { file: 'k.yaml', key: 'k' } }, { secretRef: { name: 'k', key: 'k' } }]) {
    const found = await existingWay({ name: 'prod', kubeconfig }, tools).find(signal)
    assert.ok(found.is === 'away')
    assert.match(found.message, /kubeconfig of Cluster prod cannot be used: its user has exec/)
  }
  assert.deepEqual(touched, [])
})
