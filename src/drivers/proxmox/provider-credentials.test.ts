import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { readProviderCredentials } from './provider-credentials.ts'

const TOKEN = 'croft@pve!main=0123-secret'

test('the JSON of a ProviderConfig is an address and a token', () => {
  const table: readonly [unknown, string][] = [
    ['https://pve1:8006', 'https://pve1:8006'],
    ['https://pve1:8006/', 'https://pve1:8006'],
    ['https://10.0.0.2:8006/api2/json', 'https://10.0.0.2:8006'],
    [' https://[fd00::2]:8006/ ', 'https://[fd00::2]:8006'],
  ]
  for (const [endpoint, wanted] of table) {
    const login = readProviderCredentials(JSON.stringify({ endpoint, api_token: TOKEN, insecure: 'false' }), false)
    assert.ok('endpoint' in login, String(endpoint))
    assert.deepEqual([login.endpoint, login.token.reveal()], [wanted, TOKEN])
    assert.doesNotMatch(`${inspect(login)} ${JSON.stringify(login)}`, /secret/)
  }
})

test('what makes no connection is refused with a reason, and no value is in it', () => {
  const good = { endpoint: 'https://pve1:8006', api_token: TOKEN }
  const table: readonly [string, RegExp][] = [
    ['', /not a JSON object/],
    ['"https://pve1:8006"', /not a JSON object/],
    ['[]', /not a JSON object/],
    [JSON.stringify({ ...good, endpoint: 'http://pve1:8006' }), /its endpoint/],
    [JSON.stringify({ ...good, endpoint: 'https://root:hunter2@pve1:8006' }), /its endpoint/],
    [JSON.stringify({ ...good, endpoint: 8006 }), /its endpoint/],
    [JSON.stringify({ ...good, api_token: 'hunter2' }), /does not look like/],
    [JSON.stringify({ ...good, api_token: `${TOKEN}\nx: hunter2` }), /does not look like/],
    [JSON.stringify({ endpoint: good.endpoint }), /has no api_token$/],
    [JSON.stringify({ endpoint: good.endpoint, username: 'root@pam', password: 'hunter2' }), /make an API token/],
    [JSON.stringify({ endpoint: good.endpoint, auth_ticket: 'hunter2' }), /only a ticket/],
    [JSON.stringify({ ...good, insecure: true }), /croft\.dev\/fingerprint/],
    [JSON.stringify({ ...good, insecure: 'True' }), /croft\.dev\/fingerprint/],
  ]
  for (const [text, why] of table) {
    const login = readProviderCredentials(text, false)
    assert.ok('problem' in login, text)
    assert.match(login.problem, why)
    assert.doesNotMatch(login.problem, /hunter2|0123-secret/)
  }
})

test('a pinned certificate needs no insecure', () => {
  const text = JSON.stringify({ endpoint: 'https://pve1:8006', api_token: TOKEN, insecure: 'true' })
  assert.ok('endpoint' in readProviderCredentials(text, true))
})
