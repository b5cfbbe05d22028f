import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { recordedFile } from '../../test/evidence/read.ts'
import { type Wire, WireFailure, type WireRequest, type WireResponse } from '../lib/wire.ts'
import { blockedBy, translate } from './api-errors.ts'
import { createKubernetesClient } from './client.ts'

type Answering = (request: WireRequest) => Partial<WireResponse> | WireFailure

function wireOf(answering: Answering): Wire & { readonly sent: WireRequest[] } {
  const sent: WireRequest[] = []
  return {
    sent,
    async send(request) {
      sent.push(request)
      const answer = answering(request)
      if (answer instanceof WireFailure) throw answer
      return { status: 200, reason: '', headers: {}, body: '{}', ...answer }
    },
    close: async () => {},
  }
}

describe('the client', () => {
  test('reads every page of a list, and asks for names alone where values must not travel', async () => {
    const wire = wireOf(({ path: asked }) => ({
      body: JSON.stringify(
        asked.includes('continue=more')
          ? { items: [{ metadata: { name: 'b' } }], metadata: {} }
          : { items: [{ metadata: { name: 'a' } }, 'rubbish'], metadata: { continue: 'more' } },
      ),
    }))
    const asked = await createKubernetesClient(wire).list('/api/v1/secrets', { metadataOnly: true })
    assert.deepEqual(asked, { is: 'answer', value: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }] })
    assert.match(wire.sent[0]?.headers.accept ?? '', /PartialObjectMetadataList/)
  })

  test('sends each write with its own type, and names that nobody foresaw as one part of the path', async () => {
    const wire = wireOf(() => ({}))
    const client = createKubernetesClient(wire)
    await client.merge('/api/v1/nodes/a', { spec: { unschedulable: null } }, 'x')
    await client.apply('/api/v1/nodes/a', {}, 'x')
    await client.evict('default', '../../nodes/a?x=')
    assert.deepEqual(
      wire.sent.map(({ method, path: asked, headers }) => [method, asked, headers['content-type']]),
      [
        ['PATCH', '/api/v1/nodes/a', 'application/merge-patch+json'],
        ['PATCH', '/api/v1/nodes/a?fieldManager=croft&force=true', 'application/apply-patch+yaml'],
        ['POST', '/api/v1/namespaces/default/pods/..%2F..%2Fnodes%2Fa%3Fx%3D/eviction', 'application/json'],
      ],
    )
  })

  test('tells no answer, no JSON and a refusal apart', async () => {
    const of = async (answering: Answering) => createKubernetesClient(wireOf(answering)).get('/x')
    const silent = await of(() => new WireFailure('maybe', 'ECONNRESET', 'gone\u001b[2J'))
    assert.deepEqual(silent, { is: 'silence', sent: 'maybe', code: 'ECONNRESET', message: 'gone' })
    assert.equal((await of(() => ({ body: '<html>' }))).is, 'silence')
    const refused = await of(() => ({ status: 404, body: '{"reason":"NotFound","message":"no x"}' }))
    assert.ok(refused.is === 'error' && refused.refusal.reason === 'NotFound')
  })
})

describe('errors in our words', () => {
  const rows: readonly (readonly [number, unknown, string, string])[] = [
    [401, 'Unauthorized', 'Unauthorized', 'backoff'],
    [403, { reason: 'Forbidden', message: 'no' }, 'PermissionDenied', 'stalled'],
    [409, { reason: 'Conflict' }, 'Conflict', 'waiting'],
    [422, { reason: 'Invalid', message: 'bad' }, 'Invalid', 'stalled'],
    [429, {}, 'TooManyRequests', 'waiting'],
    [500, { message: 'etcdserver: request timed out' }, 'ServerError', 'backoff'],
    [503, 'apiserver not ready', 'ServerError', 'backoff'],
  ]
  for (const [status, body, reason, meaning] of rows) {
    test(`${status}: ${reason}`, () => {
      const refusal = translate({ status, body, doing: 'do it' })
      assert.deepEqual([refusal.reason, refusal.meaning], [reason, meaning])
      assert.match(refusal.message, /^could not do it: /)
    })
  }

  test('a namespace that is not there comes with the command that makes it', () => {
    const body = { reason: 'NotFound', message: 'namespaces "croft-system" not found' }
    const { message } = translate({ status: 404, body, doing: 'write the Lease a' })
    assert.match(message, /^could not write the Lease a: .*; create it first: kubectl create namespace croft-system$/)
  })

  test('what a real disruption budget answers to an eviction', () => {
    const answers = recordedFile<{ status: number; response: unknown; path: string }[]>(
      '11-drain-pdb',
      'requests.jsonl',
    )
    const refused = answers.filter((one) => one.path.endsWith('/eviction') && one.status === 429)
    assert.ok(refused.length > 0)
    for (const { status, response } of refused) {
      assert.match(blockedBy(response) ?? '', /The disruption budget w needs 2 healthy pods and has 2 currently/)
      assert.equal(translate({ status, body: response, doing: 'evict' }).meaning, 'waiting')
    }
    const two = answers.find((one) => one.path.endsWith('/eviction') && one.status === 500)
    assert.match(blockedBy(two?.response) ?? '', /more than one PodDisruptionBudget/)
  })
})
