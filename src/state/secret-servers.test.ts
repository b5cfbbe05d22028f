import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { SecretReference } from '../model/secret.ts'
import { externalSecret } from '../source/secrets/external-secrets.ts'
import { resolveSecret } from './secrets.ts'

const CANARY = 'canary-9f8e7d'

interface Answer {
  readonly status: number
  readonly body?: unknown
}

/** Runs a server with the given answers, and records its requests. */
async function serving<T>(
  answer: (request: IncomingMessage, body: string) => Answer,
  use: (origin: string, asked: readonly string[]) => Promise<T>,
): Promise<T> {
  const asked: string[] = []
  const server: Server = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => {
      body += part.toString()
    })
    request.on('end', () => {
      asked.push(`${request.method} ${request.url}`)
      const { status, body: answered } = answer(request, body)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answered ?? { errors: [] }))
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked)
  } finally {
    await new Promise((done) => server.close(done))
  }
}

/** Imitates Vault: KV version 2 at `secret`, version 1 at `old`, an AppRole with tokens for one read. */
function vault(): (request: IncomingMessage, body: string) => Answer {
  let issued = 0
  const spent = new Set<string>()
  return (request, body) => {
    if (request.url === '/v1/auth/approle/login') {
      const { role_id, secret_id } = JSON.parse(body) as Record<string, string>
      if (role_id !== 'role' || secret_id !== 'id')
        return { status: 400, body: { errors: ['invalid role or secret ID'] } }
      return { status: 200, body: { auth: { client_token: `t${++issued}`, lease_duration: 60 } } }
    }
    const token = String(request.headers['x-vault-token'])
    if (token !== 'root' && (!/^t\d$/.test(token) || spent.has(token)))
      return { status: 403, body: { errors: ['permission denied'] } }
    if (token !== 'root') spent.add(token)
    if (request.url === '/v1/secret/data/home/pve')
      return { status: 200, body: { data: { data: { token: CANARY, port: 8006 }, metadata: { version: 3 } } } }
    // Like OpenBao 2.5: version 1 has nothing below data/, and only the engine itself reports its version.
    const mount = /^\/v1\/sys\/internal\/ui\/mounts\/(\w+)$/.exec(request.url ?? '')?.[1]
    if (mount !== undefined)
      return { status: 200, body: { data: { type: 'kv', options: { version: mount === 'old' ? '1' : '2' } } } }
    return { status: 404 }
  }
}

const at = (path: string, key = 'token', mount = 'secret'): SecretReference => ({ vault: { mount, path, key } })

async function reveal(reference: SecretReference, env: Record<string, string>): Promise<string> {
  const sources = { env, directory: '/', warn: (message: string) => assert.fail(message) }
  return (await resolveSecret(reference, sources)).reveal()
}

test('a secret of Vault is read with the token of the environment', () =>
  serving(vault(), async (origin) => {
    const env = { VAULT_ADDR: origin, VAULT_TOKEN: 'root' }
    assert.equal(await reveal(at('home/pve'), env), CANARY)
    assert.equal(await reveal(at('/home/pve/'), env), CANARY)
    assert.equal(await reveal(at('home/pve', 'port'), { BAO_ADDR: origin, BAO_TOKEN: 'root' }), '8006')
    const wrong: readonly (readonly [SecretReference, RegExp])[] = [
      [at('home/none'), /secret\/home\/none \(key token\) is not in Vault/],
      [at('home/pve', 'none'), /has no text under that key/],
      [at('x', 'token', 'old'), /old is not an engine KV version 2/],
      // An ExternalSecret is not checked as a manifest is.
      [at('../../other/data/home'), /it leads elsewhere/],
    ]
    for (const [reference, why] of wrong) await assert.rejects(reveal(reference, env), why)
    await assert.rejects(
      reveal(at('home/pve'), { ...env, VAULT_TOKEN: 'bad' }),
      /and the token as well: it has expired, .* allow it to read secret\/data\/home\/pve/,
    )
    await assert.rejects(reveal(at('home/pve'), {}), /Set VAULT_ADDR/)
    await assert.rejects(reveal(at('home/pve'), { VAULT_ADDR: origin }), /Set VAULT_TOKEN, or VAULT_ROLE_ID/)
  }))

test('an AppRole logs in once, and once more when its token is over', () =>
  serving(vault(), async (origin, asked) => {
    const env = { VAULT_ADDR: origin, VAULT_ROLE_ID: 'role', VAULT_SECRET_ID: 'id' }
    assert.equal(await reveal(at('home/pve'), env), CANARY)
    assert.equal(await reveal(at('home/pve'), env), CANARY)
    assert.deepEqual(asked, [
      'POST /v1/auth/approle/login',
      'GET /v1/secret/data/home/pve',
      'GET /v1/secret/data/home/pve',
      'POST /v1/auth/approle/login',
      'GET /v1/secret/data/home/pve',
    ])
    await assert.rejects(
      reveal(at('home/pve'), { ...env, VAULT_ROLE_ID: 'other' }),
      (error: Error) =>
        /refuses the login with the AppRole \(HTTP 400\)/.test(error.message) && !/\bid'/.test(error.message),
    )
  }))

test('a field of 1Password is found by names or ids through Connect', () =>
  serving(
    ({ url, headers }) => {
      if (headers.authorization !== 'Bearer op') return { status: 401 }
      const id = 'a'.repeat(26)
      if (url === `/v1/vaults?filter=${encodeURIComponent('name eq "Home"')}`) return { status: 200, body: [{ id }] }
      if (url === `/v1/vaults/${id}/items?filter=${encodeURIComponent('title eq "pve"')}`)
        return { status: 200, body: [{ id: 'b'.repeat(26) }] }
      if (url === `/v1/vaults/${id}/items/${'b'.repeat(26)}`)
        return {
          status: 200,
          body: {
            fields: [
              { id: 'x1', label: 'token', value: CANARY },
              { id: 'x2', label: 'two' },
              { id: 'x3', label: 'two' },
            ],
          },
        }
      return { status: 200, body: [] }
    },
    async (origin) => {
      const env = { OP_CONNECT_HOST: origin, OP_CONNECT_TOKEN: 'op' }
      const field = (name: string, item = 'pve'): SecretReference => ({
        onePassword: { vault: 'Home', item, field: name },
      })
      assert.equal(await reveal(field('token'), env), CANARY)
      assert.equal(await reveal(field('x1', 'b'.repeat(26)), env), CANARY)
      await assert.rejects(reveal(field('two'), env), /there more than once: write its id/)
      await assert.rejects(reveal(field('token', 'none'), env), /1Password has none called none/)
      await assert.rejects(
        reveal(field('token'), { ...env, OP_CONNECT_TOKEN: 'bad' }),
        /Give the token access to that vault/,
      )
    },
  ))

const STORE = `apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata: {name: vault}
spec: {provider: {vault: {server: "http://vault.vault.svc:8200", path: kv, version: v2}}}
`
const external = (spec: string) => `apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: pve, namespace: home}
spec:
  secretStoreRef: {kind: ClusterSecretStore, name: vault}
  ${spec}
`

test('an ExternalSecret says where the key of a Secret is', () => {
  const cases: readonly (readonly [string, unknown])[] = [
    [
      'data: [{secretKey: token, remoteRef: {key: home/pve, property: api}}]',
      { mount: 'kv', path: 'home/pve', key: 'api' },
    ],
    [
      'data: [{secretKey: token, remoteRef: {key: /kv/data/home/pve}}]',
      { mount: 'kv', path: 'home/pve', key: 'token' },
    ],
    ['dataFrom: [{extract: {key: home/pve}}]', { mount: 'kv', path: 'home/pve', key: 'token' }],
    // The common form: the Secret by its name, and no template.
    [
      'target: {name: pve, creationPolicy: Owner}\n  refreshInterval: 1h\n  data: [{secretKey: token, remoteRef: {key: home/pve, property: api}}]',
      { mount: 'kv', path: 'home/pve', key: 'api' },
    ],
  ]
  for (const [spec, expected] of cases)
    assert.deepEqual(externalSecret([STORE, external(spec)], { name: 'pve', key: 'token' }), { vault: expected })
  const [first] = cases[0] ?? ['']
  assert.equal(externalSecret([STORE, external(first)], { name: 'other', key: 'token' }), undefined)
  assert.equal(externalSecret([STORE, external(first)], { name: 'pve', namespace: 'x', key: 'token' }), undefined)
  assert.throws(
    () => externalSecret([external(first)], { name: 'pve', key: 'token' }),
    /ClusterSecretStore vault, which is not in/,
  )
  assert.throws(() => externalSecret([STORE, external(first)], { name: 'pve', key: 'none' }), /has no key none/)
  assert.throws(
    () =>
      externalSecret([STORE, external(`target: {template: {data: {a: b}}}\n  ${first}`)], {
        name: 'pve',
        key: 'token',
      }),
    /makes its values with a template/,
  )
})
