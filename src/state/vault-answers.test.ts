import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServerAnswer } from './ask-server.ts'
import { loginRefusal, type VaultLookups, vaultValue } from './vault-answers.ts'

const PLACE = { mount: 'secret', path: 'home/pve', key: 'token' }
const deleted = {
  created_time: '2026-11-17T12:08:25Z',
  deletion_time: '2026-11-17T12:08:26Z',
  destroyed: false,
  version: 1,
}
const none: ServerAnswer = { status: 404, body: { errors: [] } }
const engine = (version: string): VaultLookups => ({
  engine: { status: 200, body: { data: { type: 'kv', options: { version } } } },
})
const refusal: ServerAnswer = { status: 403, body: { errors: ['permission denied'] } }

/** Bodies are those of OpenBao 2.5.5. */
const ANSWERS: readonly (readonly [string, ServerAnswer, VaultLookups, RegExp])[] = [
  ['nothing there', none, engine('2'), /is not in Vault\. Correct mount and path/],
  ['an engine of version 1', none, engine('1'), /secret is not an engine KV version 2\. Upgrade it/],
  ['an engine that may not be asked about', none, { engine: refusal }, /is not in Vault\. Correct mount and path/],
  [
    'no engine',
    { status: 404, body: { errors: ['no handler for route "secret/data/home/pve". route entry not found.'] } },
    {},
    /it has no engine at secret\. Correct mount/,
  ],
  [
    'no namespace',
    { status: 404, body: { errors: ['namespace not found'] } },
    {},
    /a namespace that Vault does not have\. Correct VAULT_NAMESPACE/,
  ],
  [
    'a deleted version',
    { status: 404, body: { data: { data: null, metadata: deleted } } },
    {},
    /is deleted .*undelete/,
  ],
  [
    'a destroyed version',
    { status: 404, body: { data: { data: null, metadata: { ...deleted, destroyed: true } } } },
    {},
    /is destroyed .*Write it again/,
  ],
  ['a policy that forbids it', refusal, { token: { status: 200, body: {} } }, /refuses it\. Allow the token to read/],
  ['a token that is over', refusal, { token: refusal }, /and the token as well: it has expired/],
  ['a sealed Vault', { status: 503, body: { errors: ['Vault is sealed'] } }, {}, /sealed\. Unseal it/],
  ['a standby', { status: 307, body: undefined }, {}, /standby .* the active one/],
  ['the page of Vault', { status: 200, body: undefined }, {}, /not the API of Vault\. .* without \/ui/],
  ['an overload', { status: 429, body: {} }, {}, /answers HTTP 429/],
]

for (const [name, answer, more, why] of ANSWERS)
  test(`a secret of Vault that cannot be read is told by its cause: ${name}`, () => {
    const found = vaultValue(PLACE, answer, more)
    assert.ok('why' in found)
    assert.match(found.why, /^The secret secret\/home\/pve \(key token\)/)
    assert.match(found.why, why)
  })

test('a value is text, a number or a flag; an empty text is none', () => {
  const read = (value: unknown) =>
    vaultValue(PLACE, { status: 200, body: { data: { data: { token: value }, metadata: { version: 1 } } } })
  assert.deepEqual(read('abc'), { value: 'abc' })
  assert.deepEqual(read(8006), { value: '8006' })
  for (const value of ['', undefined, { a: 1 }]) assert.ok('why' in read(value))
})

test('a login with an AppRole that fails names what to check', () => {
  assert.match(loginRefusal({ status: 400, body: {} }, 'approle'), /Check VAULT_ROLE_ID and VAULT_SECRET_ID/)
  assert.match(loginRefusal({ status: 403, body: {} }, 'nope'), /no AppRole at nope .* VAULT_APPROLE_MOUNT/)
  assert.match(loginRefusal({ status: 503, body: {} }, 'approle'), /sealed/)
})
