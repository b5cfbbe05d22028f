import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { EVERYWHERE, egressOf } from '../lib/egress.ts'
import { permitPlace } from '../lib/outgoing.ts'
import { s3Request } from '../lib/s3-request.ts'
import { listBucket } from './s3-bucket.ts'

const KEYS = { access: 'AKIA', secret: 'secret/+' }

/** A small S3 server: it lists one object per page, and takes only what is signed with the keys. */
async function s3Server(objects: ReadonlyMap<string, string>) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', `http://${request.headers.host}`)
    asked.push(`${request.method} ${url.pathname}${url.search}`)
    const at = String(request.headers['x-amz-date'] ?? '')
    const atMs = Date.parse(at.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
    const [, bucket = '', ...key] = url.pathname.split('/')
    const request2 = { method: request.method === 'HEAD' ? 'HEAD' : 'GET', key: key.join('/') } as const
    const query = Object.fromEntries(url.searchParams)
    const expected = s3Request({ endpoint: url.origin, bucket, keys: KEYS }, { ...request2, query }, atMs)
    if (request.headers.authorization !== expected.headers.authorization) {
      response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>')
      return
    }
    if (request.method === 'HEAD') {
      const hash = objects.get(key.join('/'))
      response.writeHead(hash === undefined ? 404 : 200, { 'X-Amz-Meta-K3s-Token-Hash': hash ?? '' }).end()
      return
    }
    const names = [...objects.keys()].filter((name) => name.startsWith(query.prefix ?? ''))
    const from = Number(query['continuation-token'] ?? 0)
    const next = from + 1 < names.length ? `<NextContinuationToken>${from + 1}</NextContinuationToken>` : ''
    const one = `<Contents><Key>${names[from]}</Key><LastModified>2026-11-15T01:00:00.000Z</LastModified><Size>7</Size></Contents>`
    response.end(`<ListBucketResult>${names.length === 0 ? '' : one}${next}</ListBucketResult>`)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { endpoint, asked, [Symbol.dispose]: () => void server.close() }
}

const all = ({ endpoint }: { readonly endpoint: string }) => permitPlace(endpoint, EVERYWHERE)
const never = new AbortController().signal

describe('a bucket', () => {
  test('[R20-5] is listed page by page, with the hash of the token that K3s wrote to each object', async () => {
    using server = await s3Server(
      new Map([
        ['home/etcd-snapshot-s1-1', 'aaaaaaaaaaaa'],
        ['home/etcd-snapshot-s2-1', 'bbbbbbbbbbbb'],
        ['other/x', 'c'],
      ]),
    )
    const found = await listBucket(
      all(server),
      { endpoint: server.endpoint, bucket: 'backups', keys: KEYS },
      'home/',
      never,
    )
    assert.deepEqual(
      found.map(({ name, bytes, atMs, metadata }) => [name, bytes, atMs, metadata.get('k3s-token-hash')]),
      [
        ['etcd-snapshot-s1-1', 7, Date.parse('2026-11-15T01:00:00Z'), 'aaaaaaaaaaaa'],
        ['etcd-snapshot-s2-1', 7, Date.parse('2026-11-15T01:00:00Z'), 'bbbbbbbbbbbb'],
      ],
    )
    assert.ok(!server.asked.some((call) => call.includes(KEYS.secret)))
  })

  test('says what the server said where it refuses, and who is not there', async () => {
    using server = await s3Server(new Map())
    const away = { endpoint: 'http://127.0.0.1:9' }
    const wrong = { access: 'AKIA', secret: 'other' }
    await assert.rejects(
      listBucket(all(server), { endpoint: server.endpoint, bucket: 'b', keys: wrong }, undefined, never),
      {
        message: 'SignatureDoesNotMatch (HTTP 403)',
      },
    )
    await assert.rejects(listBucket(all(away), { ...away, bucket: 'b' }, undefined, never), /ECONNREFUSED/)
  })

  test('[S-57] a granted source asks no bucket outside its places', async () => {
    using server = await s3Server(new Map())
    const target = { endpoint: server.endpoint, bucket: 'b', keys: KEYS }
    const held = permitPlace('http://s3.example.com', egressOf(['s3.example.com:80']))
    await assert.rejects(listBucket(held, target, undefined, never), /may be asked/)
    assert.deepEqual(server.asked, [])
  })
})
