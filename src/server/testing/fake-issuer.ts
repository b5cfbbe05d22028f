import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Deviations of the next id token from a valid one. */
export interface Twist {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly alg?: 'RS256' | 'ES256' | 'none' | 'HS256'
  readonly kid?: string
  readonly breakSignature?: boolean
  readonly foreignKey?: boolean
}

/** An OpenID Connect provider on loopback that agrees to every sign-in at once and checks PKCE. */
export async function fakeIssuer(clientId: string, clientSecret: string) {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const codes = new Map<string, { readonly nonce: string; readonly challenge: string }>()
  const state = { twist: {} as Twist, keyRequests: 0 }
  const server = createServer((request, response): unknown => {
    const url = new URL(request.url ?? '/', issuer())
    const json = (value: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (url.pathname === '/.well-known/openid-configuration')
      return json({
        issuer: issuer(),
        authorization_endpoint: `${issuer()}/authorize`,
        token_endpoint: `${issuer()}/token`,
        jwks_uri: `${issuer()}/keys`,
        id_token_signing_alg_values_supported: ['RS256', 'ES256'],
      })
    if (url.pathname === '/keys') {
      state.keyRequests += 1
      return json({ keys: [jwk(rsa.publicKey, 'rsa', 'RS256'), jwk(ec.publicKey, 'ec', 'ES256')] })
    }
    if (url.pathname === '/authorize') {
      const code = `code-${codes.size}`
      codes.set(code, {
        nonce: url.searchParams.get('nonce') ?? '',
        challenge: url.searchParams.get('code_challenge') ?? '',
      })
      const back = new URL(url.searchParams.get('redirect_uri') ?? '')
      back.searchParams.set('code', code)
      back.searchParams.set('state', url.searchParams.get('state') ?? '')
      return response.writeHead(302, { location: back.href }).end()
    }
    let body = ''
    request.on('data', (chunk) => {
      body += String(chunk)
    })
    request.on('end', () => {
      const form = new URLSearchParams(body)
      const known = codes.get(form.get('code') ?? '')
      codes.delete(form.get('code') ?? '')
      const proved = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
      if (known === undefined || proved !== known.challenge || request.headers.authorization !== basic)
        return json({ error: 'invalid_grant' }, 400)
      return json({ id_token: idToken(known.nonce), token_type: 'Bearer', access_token: 'unused' })
    })
    return undefined
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const issuer = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  function idToken(nonce: string): string {
    const { alg = 'RS256', kid, claims, breakSignature, foreignKey } = state.twist
    const nowS = Math.floor(Date.now() / 1000)
    const header = { alg, typ: 'JWT', kid: kid ?? (alg === 'ES256' ? 'ec' : 'rsa') }
    const good = {
      iss: issuer(),
      sub: 'subject-1',
      aud: clientId,
      exp: nowS + 300,
      iat: nowS,
      nonce,
      preferred_username: 'olga',
      groups: ['homelab-admins'],
    }
    const signed = [header, { ...good, ...claims }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    const signature = signatureOf(signed, alg, foreignKey === true ? foreign.privateKey : rsa.privateKey)
    return `${signed}.${breakSignature === true ? signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A')) : signature}`
  }

  function signatureOf(signed: string, alg: string, key: KeyObject): string {
    if (alg === 'none') return ''
    // The classic attack: the public key, which is known, used as the secret of a symmetric algorithm.
    if (alg === 'HS256')
      return createHmac('sha256', rsa.publicKey.export({ type: 'spki', format: 'pem' }))
        .update(signed)
        .digest('base64url')
    if (alg === 'ES256')
      return sign('sha256', Buffer.from(signed), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }).toString(
        'base64url',
      )
    return sign('sha256', Buffer.from(signed), key).toString('base64url')
  }

  return {
    get url() {
      return issuer()
    },
    state,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((done) => server.close(() => done()))
    },
  }
}

function jwk(key: KeyObject, kid: string, alg: string): Readonly<Record<string, unknown>> {
  return { ...key.export({ format: 'jwk' }), kid, alg, use: 'sig' }
}
