import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { LIMITS } from '../../lib/limits.ts'
import { Secret } from '../../model/secret.ts'
import { createWebhookDoor, type Push } from './webhook.ts'

const SECRET = 'correct horse'
const door = () => createWebhookDoor([{ source: 'main', ref: 'refs/heads/main', secret: new Secret(SECRET) }])
const body = (after = 'a', ref = 'refs/heads/main') => Buffer.from(JSON.stringify({ ref, after }))
const hmac = (text: Uint8Array, key = SECRET) => createHmac('sha256', key).update(text).digest('hex')

const FORGES: Readonly<Record<string, (text: Uint8Array, id: string, key?: string) => Push['headers']>> = {
  github: (text, id, key) => ({
    'X-Hub-Signature-256': `sha256=${hmac(text, key)}`,
    'X-GitHub-Event': 'push',
    'X-GitHub-Delivery': id,
  }),
  gitlab: (_text, id, key = SECRET) => ({
    'X-Gitlab-Token': key,
    'X-Gitlab-Event': 'Push Hook',
    'X-Gitlab-Event-UUID': id,
  }),
  gitea: (text, id, key) => ({ 'X-Gitea-Signature': hmac(text, key), 'X-Gitea-Event': 'push', 'X-Gitea-Delivery': id }),
  forgejo: (text, id, key) => ({
    'X-Forgejo-Signature': hmac(text, key),
    'X-Forgejo-Event': 'push',
    'X-Forgejo-Delivery': id,
  }),
}

for (const [forge, sign] of Object.entries(FORGES)) {
  test(`[S-21] ${forge}: a signed push is taken once; unsigned, wrongly signed, replayed and malformed ones are refused`, () => {
    const judge = door()
    const push = (text: Uint8Array, headers: Push['headers'], source = 'main') => judge({ source, headers, body: text })
    const first = body()
    assert.deepEqual(push(first, sign(first, '1')), { take: 'poke' })
    assert.equal(statusOf(push(first, sign(first, '1'))), 409, 'the same delivery again')
    assert.equal(statusOf(push(first, sign(first, '2'))), 409, 'the same body under another number')
    assert.deepEqual(push(body('b'), sign(body('b'), '3')), { take: 'poke' })
    assert.equal(statusOf(push(body('c'), sign(body('c'), '3'))), 409, 'another body under the same number')
    assert.equal(statusOf(push(body('d'), {})), 401, 'no signature')
    assert.equal(statusOf(push(body('d'), sign(body('d'), '4', 'wrong'))), 401, 'another secret')
    if (forge !== 'gitlab')
      assert.equal(statusOf(push(body('e'), sign(body('d'), '5'))), 401, 'a signature of another body')
    assert.equal(statusOf(push(body('d'), sign(body('d'), '6'), 'other')), 404)
    const other = body('f', 'refs/heads/feature')
    assert.deepEqual(push(other, sign(other, '7')), { take: 'ignore' }, 'another branch')
    for (const bad of ['{', 'null', '[]', '{"ref":1}', '\u0000\u00ff']) {
      const text = Buffer.from(bad, 'latin1')
      assert.equal(statusOf(push(text, sign(text, `bad ${bad}`))), 400, bad)
    }
  })
}

test('[S-21] an empty secret signs for nobody, an old kind of signature does not count, a huge body is not read', () => {
  const empty = createWebhookDoor([{ source: 'main', ref: 'refs/heads/main', secret: new Secret('') }])
  const text = body()
  const headers = {
    'x-hub-signature-256': `sha256=${createHmac('sha256', '').update(text).digest('hex')}`,
    'x-github-event': 'push',
  }
  assert.equal(statusOf(empty({ source: 'main', headers, body: text })), 401)
  const sha1 = {
    'x-hub-signature': `sha1=${createHmac('sha1', SECRET).update(text).digest('hex')}`,
    'x-github-event': 'push',
  }
  assert.equal(statusOf(door()({ source: 'main', headers: sha1, body: text })), 401)
  const huge = Buffer.alloc(LIMITS.webhookBodyBytes + 1)
  assert.equal(statusOf(door()({ source: 'main', headers: {}, body: huge })), 400)
})

test('[S-21] what is remembered of deliveries is bounded, and a ping is no push', () => {
  const judge = door()
  const sign = FORGES.github
  assert.ok(sign)
  for (let n = 0; n < LIMITS.webhookDeliveries; n++)
    judge({ source: 'main', headers: sign(body(`${n}`), `${n}`), body: body(`${n}`) })
  assert.equal(
    statusOf(
      judge({
        source: 'main',
        headers: sign(body(`${LIMITS.webhookDeliveries - 1}`), 'x'),
        body: body(`${LIMITS.webhookDeliveries - 1}`),
      }),
    ),
    409,
  )
  const ping = Buffer.from('{"zen":"x"}')
  const headers = { ...sign(ping, 'p'), 'X-GitHub-Event': 'ping' }
  assert.deepEqual(judge({ source: 'main', headers, body: ping }), { take: 'ignore' })
})

function statusOf(verdict: ReturnType<ReturnType<typeof createWebhookDoor>>): number | undefined {
  return verdict.take === 'refuse' ? verdict.status : undefined
}

const PULLS: Readonly<Record<string, readonly [header: string, event: string]>> = {
  github: ['X-GitHub-Event', 'pull_request'],
  gitlab: ['X-Gitlab-Event', 'Merge Request Hook'],
  gitea: ['X-Gitea-Event', 'pull_request'],
  forgejo: ['X-Forgejo-Event', 'pull_request_sync'],
}

for (const [forge, [header, event]] of Object.entries(PULLS)) {
  test(`${forge}: a notice of a pull request leads to a look where their plans are written, and to nothing elsewhere`, () => {
    const text = Buffer.from('{"action":"synchronize","number":7}')
    const headers = { ...FORGES[forge]?.(text, '1'), [header]: event }
    const push = { source: 'main', headers, body: text }
    assert.deepEqual(door()(push), { take: 'ignore' })
    const judge = createWebhookDoor([
      { source: 'main', ref: 'refs/heads/main', pulls: true, secret: new Secret(SECRET) },
    ])
    assert.deepEqual(judge(push), { take: 'poke' })
    assert.equal(statusOf(judge(push)), 409, 'the same once more')
    assert.equal(statusOf(judge({ ...push, headers: { [header]: event } })), 401)
  })
}
