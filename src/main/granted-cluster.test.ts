import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { EngineOptions } from '../cli/runtime.ts'
import { linkRevision } from '../controller/sources/link-revision.ts'
import { mergeRevisions } from '../controller/sources/merge.ts'
import type { DriverDeps } from '../drivers/port.ts'
import { boxCluster } from '../kinds/cluster/testing/box-cluster.ts'
import { systemClock } from '../lib/clock.ts'
import { egressFromHere, PlaceRefused, permitPlace } from '../lib/outgoing.ts'
import { type Grant, NOTHING_GRANTED } from '../model/grant.ts'
import { Secret } from '../model/secret.ts'
import { readTexts } from '../source/testing/fixture.ts'
import { openClusters } from './clusters.ts'

/* The places that croft contacts for a cluster: checksums of releases on mirrors, and the proxy to the API. */

const grant: Grant = {
  ...NOTHING_GRANTED,
  source: 'lab',
  kinds: ['Cluster'],
  names: ['lab-*'],
  hosts: ['cow'],
  hostAccess: true,
  egress: ['mirror.example', 'proxy.example:3128', '*.inside.example:8080'],
}

const [own = '', host = ''] = boxCluster('lab-c').split('---\n')

function linked(fields: string, held: Grant | null = grant) {
  const lab = readTexts({ 'lab.yaml': `${own.trimEnd()}\n${fields}` })
  const estate = linkRevision(
    mergeRevisions([
      { source: 'lab', revision: lab, ...(held === null ? {} : { grant: held }) },
      { source: 'admin', revision: readTexts({ 'admin.yaml': host }) },
    ]),
  )
  const problems = estate.problems.filter(({ severity }) => severity === 'error')
  return {
    egress: (estate.clusters ?? []).map((one) => one.egress),
    said: problems.map(({ origin, message }) => `${origin.file}:${origin.line} ${message}`),
  }
}

const REFUSED: Readonly<Record<string, readonly [string, string]>> = {
  'a mirror elsewhere': ['  artifacts: [{mirror: "https://other.example/k3s"}]\n', 'the mirror other.example'],
  'a second mirror': [
    '  artifacts: [{release: true}, {mirror: "https://mirror.example/"}, {mirror: "http://10.0.0.1/k3s"}]\n',
    'the mirror 10.0.0.1',
  ],
  'a mirror at another port': ['  artifacts: [{mirror: "http://mirror.example/k3s"}]\n', 'the mirror mirror.example'],
  'a proxy elsewhere': ['  proxy: "http://127.0.0.1:3128"\n', 'the proxy 127.0.0.1'],
  'a proxy at another port': ['  proxy: "http://proxy.example:22"\n', 'the proxy proxy.example'],
}

for (const [what, [fields, named]] of Object.entries(REFUSED))
  test(`[S-37] ${what} is refused to a source with a grant, where it is written, and to no other`, () => {
    const { said, egress } = linked(fields)
    assert.deepEqual(said, [`lab:lab.yaml:8 ${named} is not granted to the source lab`])
    assert.deepEqual(egress, [])
    assert.deepEqual(linked(fields, null), { said: [], egress: [undefined] })
  })

test('[S-37] places that are granted, and the official release, are not refused', () => {
  const granted = '  artifacts: [{mirror: "https://mirror.example/k3s"}]\n  proxy: "http://proxy.example:3128"\n'
  assert.deepEqual(linked(granted), { said: [], egress: [grant.egress] })
  assert.deepEqual(linked(''), { said: [], egress: [grant.egress] })
})

describe('[S-37] what croft asks for a cluster', () => {
  const asked: string[] = []
  const inside = createServer((request, response) => {
    asked.push(`inside ${request.url}`)
    response.end('sum')
  })
  const mirror = createServer((request, response) => {
    asked.push(`mirror ${request.url}`)
    if (request.url === '/plain') response.end('sum')
    else response.writeHead(302, { location: `http://127.0.0.1:${portOf(inside)}/admin` }).end()
  })
  for (const server of [inside, mirror])
    server.on('connect', (request, socket) => {
      asked.push(`connect ${request.url}`)
      socket.end('HTTP/1.1 502 no\r\n\r\n')
    })
  const portOf = (server: typeof mirror) => (server.address() as AddressInfo).port
  const listening = [mirror, inside]
  before(async () => {
    for (const server of listening) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  })
  after(() => {
    for (const server of listening) server.close()
  })

  const driverDeps = { clock: systemClock, resolveSecret: async () => new Secret('x') } as unknown as DriverDeps
  const open = async () => {
    const options = { directory: '/', env: {}, clusterVault: {} } as unknown as EngineOptions
    const { deps } = await openClusters(options, driverDeps)
    asked.length = 0
    return deps
  }
  const fetched = async (url: string, egress?: readonly string[]) =>
    (await open()).fetchText?.(permitPlace(url, egressFromHere(egress)), new AbortController().signal).then(
      (text) => text,
      (error: Error) => error.message,
    )

  test('is asked at granted addresses only', async () => {
    const at = `127.0.0.1:${portOf(mirror)}`
    assert.equal(await fetched(`http://${at}/plain`, [at]), 'sum')
    assert.deepEqual(asked, ['mirror /plain'])
    await assert.rejects(fetched(`http://${at}/plain`, ['mirror.example']), PlaceRefused)
    assert.deepEqual(asked, [])
  })

  test('is not asked where a granted address leads', async () => {
    const at = `127.0.0.1:${portOf(mirror)}`
    assert.match((await fetched(`http://${at}/away`, [at])) ?? '', /is not a place/)
    assert.deepEqual(asked, ['mirror /away'])
    assert.equal(await fetched(`http://${at}/away`), 'sum', "the administrator's own is followed")
    assert.deepEqual(asked, ['mirror /away', 'inside /admin'])
  })

  test('is not asked where only the name is granted, and the name leads inside', async () => {
    const at = `localhost:${portOf(mirror)}`
    assert.match((await fetched(`http://${at}/plain`, [at, '*:*'])) ?? '', /is not a place/)
    assert.deepEqual(asked, [])
  })

  test('goes through a granted proxy only, at an address that is granted', async () => {
    const through = async (named: string, egress?: readonly string[]) => {
      const wire = (await open()).openKubernetes({
        endpoint: 'https://10.255.0.1:6443',
        caPem: '',
        certificatePem: '',
        key: new Secret(''),
        proxy: `http://${named}:${portOf(inside)}`,
        ...(egress === undefined ? {} : { egress }),
      })
      await wire.send({ method: 'GET', path: '/', headers: {} }).catch(() => {})
      await wire.close()
      return [...asked]
    }
    const reached = ['connect 10.255.0.1:6443']
    assert.deepEqual(await through('localhost'), reached)
    assert.deepEqual(await through('127.0.0.1', [`127.0.0.1:${portOf(inside)}`]), reached)
    assert.deepEqual(await through('localhost', ['*:*']), [])
    assert.deepEqual(await through('127.0.0.1', ['*:*']), [])
    assert.deepEqual(await through('127.0.0.1', []), [])
  })
})
