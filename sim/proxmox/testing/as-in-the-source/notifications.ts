import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../../test-client.ts'
import { type AnsweredRow, holds as answeredBy, type Params } from '../../../testing/answered-rows.ts'
import { complaintOfPattern } from '../../handlers/cluster/notification-patterns.ts'

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

test('notifications: what is read from the call comes first, then the digest, then the names', async () => {
  const client = createTestClient({ preset: 'recording' })
  const mail = { name: 'sp1', server: 'x', 'from-address': 'a@b.c', mailto: 'a@b.c' }
  const stale = '400 detected modified configuration - file changed by other user? Try again.'
  await holds(client, [
    [
      'POST',
      `${AT}/endpoints/smtp`,
      { ...mail, port: '70000' },
      '500 error: invalid value: integer `70000`, expected u16',
    ],
    ['POST', `${AT}/endpoints/smtp`, mail, 'ok'],
    ['PUT', `${AT}/endpoints/smtp/nope`, { digest: 'abc' }, '400 invalid digest: Odd number of digits'],
    ['PUT', `${AT}/endpoints/smtp/nope`, { digest: 'az' }, "400 invalid digest: Invalid character 'z' at position 1"],
    ['PUT', `${AT}/endpoints/smtp/nope`, { digest: 'aa' }, stale],
    ['PUT', `${AT}/matchers/nope`, { 'match-severity': 'loud', delete: 'x1' }, '500 error: invalid severity loud'],
    ['POST', `${AT}/matchers`, { name: 'sp1' }, "400 Cannot create 'sp1', an entity with the same name already exists"],
  ])
})

test('notifications: one digest is of the whole file, and secrets are in another', async () => {
  const client = createTestClient({ preset: 'recording' })
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  const digest = async (path: string) => (await client.data<{ digest: string }>('GET', `${AT}/${path}`)).digest
  assert.equal(await digest('matchers/default-matcher'), empty, 'there is no file yet')
  await client.data('POST', `${AT}/endpoints/gotify`, { name: 'go1', server: 'http://x', token: 't' })
  const before = await digest('matchers/default-matcher')
  assert.equal(await digest('endpoints/gotify/go1'), before)
  await client.data('PUT', `${AT}/endpoints/gotify/go1`, { token: 'u' })
  assert.equal(await digest('endpoints/gotify/go1'), before)
  await client.data('PUT', `${AT}/matchers/default-matcher`, { comment: 'x', digest: before })
  assert.notEqual(await digest('endpoints/gotify/go1'), before)
})

test('notifications: what is both deleted and set is set', async () => {
  const client = createTestClient({ preset: 'recording' })
  await client.data('PUT', `${AT}/matchers/default-matcher`, { delete: 'comment', comment: 'mine' })
  assert.equal((await client.data<{ comment: string }>('GET', `${AT}/matchers/default-matcher`)).comment, 'mine')
})

const WRITTEN = '500 could not serialize configuration: writing "notifications.cfg" failed: '

test('notifications: what cannot be written is refused when the file is written', async () => {
  const client = createTestClient({ preset: 'recording' })
  const told = async (path: string, params: Params) =>
    String(await asked(client, 'POST', `${AT}/${path}`, params)).replace(/(failed: )(.*): writing .*/, '$1$2')
  const gotify = { name: 'go1', server: 'http://x', token: 't' }
  const verify = (id: string) => `${WRITTEN}verify section '${id}' failed - parameter verification failed - `
  const cases: readonly (readonly [string, Params, string])[] = [
    ['endpoints/gotify', { ...gotify, comment: 'c'.repeat(128) }, 'ok'],
    [
      'endpoints/gotify',
      { ...gotify, name: 'go2', comment: 'c'.repeat(129) },
      `${verify('go2')}'comment': value may only be 128 characters long`,
    ],
    ['matchers', { name: 'm1', comment: 'a\nb' }, `${verify('m1')}'comment': value does not match the regex pattern`],
    [
      'matchers',
      { name: 'm'.repeat(33) },
      `${WRITTEN}syntax error in section identifier: value may only be 32 characters long`,
    ],
    [
      'endpoints/sendmail',
      { name: 's1', mailto: `${'a'.repeat(60)}@b.de` },
      `${verify('s1')}'mailto/[0]': value may only be 64 characters long`,
    ],
    [
      'endpoints/webhook',
      { name: 'w1', method: 'post', url: 'http://a b/' },
      `${verify('w1')}'url': value does not match the regex pattern`,
    ],
    [
      'endpoints/gotify',
      { ...gotify, name: 'go3', server: 'a\tb' },
      `${WRITTEN}detected unexpected control character in section 'go3' key 'server'`,
    ],
  ]
  for (const [path, params, expected] of cases) assert.equal(await told(path, params), expected)
})

test('notifications: a test says why it could not be sent', async () => {
  const client = createTestClient({ preset: 'recording' })
  const smtp = { server: '127.0.0.1', 'from-address': 'a@b.c', mailto: 'a@b.c' }
  const via = (id: string) => `500 Could not test target: could not notify via endpoint(s): ${id}: `
  await holds(client, [
    ['POST', `${AT}/endpoints/gotify`, { name: 'go1', server: 'http://127.0.0.1:9', token: 't', disable: '1' }, 'ok'],
    ['POST', `${AT}/endpoints/smtp`, { ...smtp, name: 'sp1' }, 'ok'],
    ['POST', `${AT}/endpoints/smtp`, { ...smtp, name: 'sp2', username: 'u' }, 'ok'],
    ['POST', `${AT}/endpoints/webhook`, { name: 'wh1', method: 'post', url: 'http://localhost:9/x' }, 'ok'],
    ['POST', `${AT}/targets/go1/test`, {}, `${via('go1')}io: Connection refused`],
    ['POST', `${AT}/targets/sp1/test`, {}, `${via('sp1')}Connection error: Connection refused (os error 111)`],
    ['POST', `${AT}/targets/sp2/test`, {}, `${via('sp2')}username is set but no password was provided`],
    ['POST', `${AT}/targets/wh1/test`, {}, '500 Could not test target: io: Connection refused'],
    [
      'POST',
      `${AT}/targets/mail-to-root/test`,
      {},
      `${via('mail-to-root')}no recipients provided for the mail, cannot send it.`,
    ],
    ['PUT', '/access/users/root@pam', { email: 'r@b.c' }, 'ok'],
    ['POST', `${AT}/targets/mail-to-root/test`, {}, 'ok'],
    ['POST', `${AT}/targets/default-matcher/test`, {}, "404 endpoint 'default-matcher' does not exist"],
  ])
})

test('notifications: hours of the day are read to their end', async () => {
  const client = createTestClient({ preset: 'recording' })
  const unread = (rest: string, why: string) =>
    `500 error: could not parse schedule: unable to parse daily duration at '${rest}' - ${why}`
  const cases: readonly (readonly [string, string])[] = [
    ['8-17:30', 'ok'],
    ['Mon..fri,sunday 8:05 - 17', 'ok'],
    ['8:00', unread('', 'Nom(Tag)')],
    ['mon..fri', unread('', 'Nom(Digit)')],
    [' 8-9', unread(' 8-9', 'Nom(Digit)')],
    ['25:00-26', unread(':00-26', 'Context("time value too large")')],
    ['8:70-9', unread(':70-9', 'Nom(Tag)')],
    ['8-9 x', unread(' x', 'Nom(Eof)')],
    ['10-9:59', unread('9:59', 'Context("end time before start time")')],
    ['mon,foo 8-9', unread(',foo 8-9', 'Nom(Digit)')],
    ['someday 8-9', unread('someday', 'Context("weekday")')],
  ]
  for (const [index, [text, expected]] of cases.entries())
    assert.equal(await asked(client, 'POST', `${AT}/matchers`, { name: `m${index}`, 'match-calendar': text }), expected)
})

test('notifications: patterns are in the notation of the library that matches', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['(?i)^vz(dump|x)*$', undefined],
    ['a**', undefined],
    ['[]a]', undefined],
    ['a(b', ' ^\nerror: unclosed group'],
    ['a)', ' ^\nerror: unopened group'],
    ['*', '^\nerror: repetition operator missing expression'],
    ['a|+', '  ^\nerror: repetition operator missing expression'],
    ['x[a', ' ^\nerror: unclosed character class'],
    ['(?=a)', '^^^\nerror: look-around, including look-ahead and look-behind, is not supported'],
    ['(a)\\1', '   ^^\nerror: backreferences are not supported'],
    ['a{3,2}', ' ^^^^^\nerror: invalid repetition count range, the start must be <= the end'],
  ]
  for (const [pattern, mark] of cases) {
    const expected = mark && `regex parse error:\n    ${pattern}\n    ${mark}`
    assert.equal(complaintOfPattern(pattern), expected, pattern)
  }
})
