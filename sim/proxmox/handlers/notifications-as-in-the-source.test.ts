import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../test-client.ts'
import { type AnsweredRow, holds as answeredBy, type Params } from '../../testing/answered-rows.ts'

/** What PVE::API2::Cluster::Notifications and the library behind it say. */
const AT = '/cluster/notifications'

async function asked(client: TestClient, method: string, path: string, params?: Params): Promise<unknown> {
  const { status, reason } = await client.call(method, path, params)
  return status === 200 ? 'ok' : `${status} ${reason}`
}

const holds = (client: TestClient, rows: readonly AnsweredRow[]) => answeredBy(client, rows, asked)

test('notifications: what has no such name, or is needed, cannot be deleted', async () => {
  const client = createTestClient({ preset: 'recording' })
  const gotify = { name: 'go1', server: 'http://127.0.0.1:9', token: 't' }
  const few = 'expected `comment` or `disable`'
  await holds(client, [
    ['POST', `${AT}/endpoints/gotify`, gotify, 'ok'],
    ['PUT', `${AT}/endpoints/gotify/go1`, { delete: 'bogus' }, `500 error: unknown variant \`bogus\`, ${few}`],
    ['PUT', `${AT}/endpoints/gotify/nope`, { delete: 'server' }, `500 error: unknown variant \`server\`, ${few}`],
    ['PUT', `${AT}/endpoints/gotify/go1`, { delete: 'comment' }, 'ok'],
    [
      'PUT',
      `${AT}/endpoints/webhook/nope`,
      { delete: 'url' },
      '500 error: unknown variant `url`, expected one of `comment`, `disable`, `header`, `body`, `secret`',
    ],
    [
      'PUT',
      `${AT}/endpoints/gotify/nope`,
      { digest: 'aa' },
      '400 detected modified configuration - file changed by other user? Try again.',
    ],
  ])
})

test('notifications: headers need values, and a secret without one stays as it is', async () => {
  const client = createTestClient({ preset: 'recording' })
  const hook = `${AT}/endpoints/webhook`
  await holds(client, [
    ['POST', hook, { name: 'wh', url: 'http://x/', method: 'post', secret: 'name=s,value=c2Vj' }, 'ok'],
    ['PUT', `${hook}/wh`, { header: 'name=X-A' }, "400 header 'X-A' has empty value"],
    ['PUT', `${hook}/wh`, { header: 'name=X-A,value=!' }, "400 header 'X-A' does not have valid base64 encoded data"],
    ['PUT', `${hook}/wh`, { secret: 'name=other' }, "400 secret 'other' not known"],
    ['PUT', `${hook}/wh`, { secret: 'name=s,value=!' }, "400 secret 's' does not have valid base64 encoded data"],
    ['PUT', `${hook}/wh`, { secret: 'name=s' }, 'ok'],
  ])
  assert.deepEqual((await client.data<{ secret: string[] }>('GET', `${hook}/wh`)).secret, ['name=s'])
  await holds(client, [['PUT', `${hook}/wh`, { delete: 'secret' }, 'ok']])
  assert.equal((await client.data<{ secret?: string[] }>('GET', `${hook}/wh`)).secret, undefined)
})

test('notifications: the texts of a matcher are read first, and kept without blanks', async () => {
  const client = createTestClient({ preset: 'recording' })
  const severity = '500 error: invalid severity loud'
  const matcher = { name: 'm1', 'match-severity': 'error, warning', 'match-field': 'exact:type=a, b' }
  const field = '500 error: could not apply filter: invalid match-field statement: exact:-a=x'
  await holds(client, [
    ['POST', `${AT}/matchers`, matcher, 'ok'],
    ['POST', `${AT}/matchers`, { name: 'm1', 'match-severity': 'loud' }, severity],
    ['PUT', `${AT}/matchers/nope`, { 'match-severity': 'loud' }, severity],
    ['PUT', `${AT}/matchers/m1`, { 'match-field': 'exact:-a=x' }, field],
  ])
  const kept = await client.data<Record<string, unknown>>('GET', `${AT}/matchers/m1`)
  assert.deepEqual([kept['match-severity'], kept['match-field']], [['error,warning'], ['exact:type=a,b']])
})

test('notifications: jobs are values to match by', async () => {
  const client = createTestClient({ preset: 'recording' })
  const job = { all: '1', schedule: 'daily', storage: 'local' }
  await client.data('POST', '/cluster/backup', { id: 'nightly', ...job })
  await client.data('POST', '/cluster/backup', { id: 'weekly', comment: 'of all', ...job })
  const values = await client.data<{ field: string }[]>('GET', `${AT}/matcher-field-values`)
  assert.deepEqual(
    values.filter(({ field }) => field === 'job-id'),
    [
      { field: 'job-id', value: 'nightly', comment: null },
      { field: 'job-id', value: 'weekly', comment: 'of all' },
    ],
  )
})
