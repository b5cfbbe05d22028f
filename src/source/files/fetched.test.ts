import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { EVERYWHERE } from '../../lib/egress.ts'
import { LIMITS } from '../../lib/limits.ts'
import { mayLead } from '../../lib/outgoing.ts'
import type { Declaration } from '../../model/declaration.ts'
import { readText } from '../testing/fixture.ts'
import { withFetched } from './fetched.ts'

const TEXT = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: far}\n'
const sha = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')

function tar(name: string, text: string): Buffer {
  const header = Buffer.alloc(512)
  header.write(name, 0)
  header.write(`${text.length.toString(8).padStart(11, '0')}\0`, 124)
  header.write('0', 156)
  const body = Buffer.alloc(Math.ceil(text.length / 512) * 512)
  body.write(text)
  return Buffer.concat([header, body, Buffer.alloc(1024)])
}

const LAYER = gzipSync(tar('apps/far.yaml', TEXT))
const MANIFEST = JSON.stringify({
  layers: [{ digest: `sha256:${sha(LAYER)}`, mediaType: 'application/vnd.cncf.flux.content.v1.tar+gzip' }],
})
/** Small on the way, and far too large once it is unpacked. */
const BOMB = gzipSync(Buffer.alloc(LIMITS.addonBytes + 512))
const BOMB_MANIFEST = JSON.stringify({ layers: [{ digest: `sha256:${sha(BOMB)}`, mediaType: 'tar+gzip' }] })
const server = createServer((request, response) => {
  const { url = '' } = request
  if (url === '/far.yaml') response.end(TEXT)
  else if (url === '/near') response.writeHead(302, { location: '/far.yaml' }).end()
  else if (url === '/round') response.writeHead(302, { location: '/round' }).end()
  else if (url === '/out') response.writeHead(302, { location: 'file:///etc/passwd' }).end()
  else if (url === '/short.yaml') response.end(TEXT.slice(0, -5))
  else if (url === '/huge.yaml') response.end(Buffer.alloc(LIMITS.addonBytes + 1, 0x20))
  else if (url.startsWith('/token')) response.end(JSON.stringify({ token: 'anybody' }))
  else if (url.startsWith('/v2/') && request.headers.authorization !== 'Bearer anybody') {
    const realm = `http://127.0.0.1:${port()}/token`
    response
      .writeHead(401, { 'www-authenticate': `Bearer realm="${realm}",service="s",scope="repository:me/far:pull"` })
      .end()
  } else if (url.includes('/manifests/')) response.end(url.includes('/bomb/') ? BOMB_MANIFEST : MANIFEST)
  else if (url.includes('/swapped/blobs/')) response.end(gzipSync(tar('apps/far.yaml', TEXT.replace('far', 'foe'))))
  else if (url.includes('/bomb/blobs/')) response.end(BOMB)
  else if (url.includes('/blobs/')) response.end(LAYER)
  else response.writeHead(404).end()
})
const port = () => (server.address() as AddressInfo).port
before(() => new Promise<void>((done) => server.listen(0, '127.0.0.1', done)))
after(() => server.close())

async function fetchedFor(spec: object, place: string) {
  const revision = readText('apiVersion: v1\nkind: List\n')
  const declarations = [{ kind: 'Addon', spec } as Declaration]
  return (await withFetched({ ...revision, declarations }, { fetched: new Map(), egress: EVERYWHERE })).objectsAt?.(
    place,
  )
}

test('[S-24] manifests behind an address are taken when they are what was written down, and refused otherwise', async () => {
  const url = `http://127.0.0.1:${port()}/far.yaml`
  const good = await fetchedFor({ url: { url, sha256: sha(TEXT) } }, `${url}#${sha(TEXT)}`)
  assert.ok(good !== undefined && 'objects' in good, JSON.stringify(good))
  assert.equal(good.objects.length, 1)
  const other = sha('another')
  const bad = await fetchedFor({ url: { url, sha256: other } }, `${url}#${other}`)
  assert.ok(bad !== undefined && 'problem' in bad)
  assert.match(bad.problem, /its SHA-256 is [0-9a-f]{64}, not/)
  const lost = await fetchedFor({ url: { url: `${url}x`, sha256: other } }, `${url}x#${other}`)
  assert.ok(lost !== undefined && 'problem' in lost)
  assert.match(lost.problem, /HTTP 404/)
})

test('[S-24] an artifact of a registry is taken by its digest, with the token that anybody gets', async () => {
  const oci = `127.0.0.1:${port()}/me/far@sha256:${sha(MANIFEST)}`
  const good = await fetchedFor({ oci }, `oci://${oci}`)
  assert.ok(good !== undefined && 'objects' in good, JSON.stringify(good))
  assert.equal((good.objects[0] as { metadata: { name: string } }).metadata.name, 'far')
  const wrong = `127.0.0.1:${port()}/me/far@sha256:${sha('x')}`
  const bad = await fetchedFor({ oci: wrong }, `oci://${wrong}`)
  assert.ok(bad !== undefined && 'problem' in bad)
  assert.match(bad.problem, /SHA-256/)
})

test('[S-24] an address that leads on is followed, and not for ever nor anywhere', async () => {
  const at = async (name: string) => {
    const url = `http://127.0.0.1:${port()}/${name}`
    const found = await fetchedFor({ url: { url, sha256: sha(TEXT) } }, `${url}#${sha(TEXT)}`)
    return found !== undefined && 'problem' in found ? found.problem : 'taken'
  }
  assert.equal(await at('near'), 'taken')
  assert.match(await at('round'), /on and on/)
  assert.match(await at('out'), /leads to .*refused/)
})

for (const [from, to, may] of [
  ['https://a.example', 'https://b.example', true],
  ['https://a.example', 'http://b.example', false],
  ['http://a.example', 'http://b.example', true],
  ['https://a.example', 'https://127.0.0.1:8087', false],
  ['https://a.example', 'https://2130706433', false],
  ['https://a.example', 'https://0x7f.1', false],
  ['https://a.example', 'https://localhost.', false],
  ['https://a.example', 'https://[::1]', false],
  ['https://a.example', 'https://[::ffff:10.0.0.1]', false],
  ['https://a.example', 'https://[fd00::1]', false],
  ['https://a.example', 'https://169.254.169.254', false],
  ['https://a.example', 'https://192.168.4.2', false],
  ['https://a.example', 'https://172.32.0.1', true],
  ['https://git.internal', 'https://192.168.4.2', true],
  ['http://192.168.4.2', 'http://192.168.4.3', true],
  ['http://127.0.0.1', 'file:///etc/passwd', false],
] as const)
  test(`${from} may${may ? '' : ' not'} lead to ${to}`, () => {
    assert.equal(mayLead(new URL(from), new URL(to)), may)
  })

test('[S-24] what was cut short, swapped, is too large or becomes so when it is unpacked is refused', async () => {
  const problem = async (spec: object, place: string) => {
    const found = await fetchedFor(spec, place)
    assert.ok(found !== undefined && 'problem' in found, JSON.stringify(found)?.slice(0, 200))
    return found.problem
  }
  const base = `http://127.0.0.1:${port()}`
  const file = (name: string) =>
    problem({ url: { url: `${base}/${name}`, sha256: sha(TEXT) } }, `${base}/${name}#${sha(TEXT)}`)
  assert.match(await file('short.yaml'), /its SHA-256 is/)
  assert.match(await file('huge.yaml'), /larger than/)
  const artifact = (name: string, digest: string) => {
    const oci = `127.0.0.1:${port()}/me/${name}@sha256:${digest}`
    return problem({ oci }, `oci://${oci}`)
  }
  assert.match(await artifact('swapped', sha(MANIFEST)), /its SHA-256 is/)
  assert.match(await artifact('bomb', sha(BOMB_MANIFEST)), /could not be fetched/)
})
