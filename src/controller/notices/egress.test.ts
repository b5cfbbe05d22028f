import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { placesOf } from '../../kinds/addon/objects.ts'
import type { AddonSpec } from '../../kinds/addon/schema.ts'
import { defined } from '../../lib/defined.ts'
import { readConfig } from '../config.ts'
import { mergeRevisions } from '../sources/merge.ts'
import { openSources } from '../sources/open-sources.ts'

const SECRET = '{"secret-of-the-inside": true}'
const asked: string[] = []
const server = createServer((request, response) => {
  asked.push(request.url ?? '')
  if (request.url === '/away') response.writeHead(302, { location: `http://localhost:${port()}/inside` }).end()
  else response.end(SECRET)
})
const port = () => (server.address() as AddressInfo).port
const roots: string[] = []
before(() => new Promise<void>((done) => server.listen(0, '127.0.0.1', done)))
after(() => {
  server.close()
  for (const root of roots) rmSync(root, { recursive: true, force: true })
})

const addon = (name: string, spec: string) => `apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: ${name}}
spec: {cluster: home, ${spec}}
`
const url = (where: string) => `url: {url: "http://127.0.0.1:${port()}${where}", sha256: ${'a'.repeat(64)}}`

/** Returns the problems that a source with this grant gets about its manifests. */
async function toldOf(manifests: string, grant: object | undefined): Promise<string> {
  const directory = mkdtempSync(path.join(tmpdir(), 'croft-egress-'))
  roots.push(directory)
  writeFileSync(path.join(directory, 'a.yaml'), manifests)
  const config = readConfig({ sources: [{ name: 'lab', directory, ...defined({ grant }) }] }, {}, {})
  const [source] = openSources(config.sources, {
    data: directory,
    cwd: directory,
    resolveSecret: async () => assert.fail(),
  })
  assert.ok(source !== undefined)
  const seen = await source.open({ mayReturnTo: () => false }).look(new AbortController().signal)
  assert.ok(seen.is === 'new')
  const revision = mergeRevisions([{ source: 'lab', revision: seen.revision, ...defined({ grant: source.grant }) }])
  const fetched = revision.declarations.flatMap((declaration) =>
    placesOf(declaration.spec as AddonSpec).map(({ place }) => revision.objectsAt?.(place, declaration)),
  )
  const wrong = fetched.map((at) => (at !== undefined && 'problem' in at ? at.problem : 'taken'))
  return [...revision.problems.map(({ code, message }) => `${code} ${message}`), ...wrong].join('\n')
}

test('[S-34] nobody is asked for what is outside the grant, nor at a place that is not granted', async () => {
  asked.length = 0
  for (const [manifests, grant, told] of [
    [addon('lab-a', url('/kind')), { kinds: ['Machine'] }, /Addon is not granted/],
    [
      addon('other', url('/name')),
      { kinds: ['Addon'], egress: [`127.0.0.1:${port()}`] },
      /the name other is not granted/,
    ],
    [addon('lab-a', url('/place')), { kinds: ['Addon'] }, /127.0.0.1 is not a place that may be asked/],
    [addon('lab-a', url('/star')), { kinds: ['Addon'], egress: ['*:*'] }, /is not a place that may be asked/],
    [
      addon('lab-a', `oci: "localhost:${port()}/x/y@sha256:${'a'.repeat(64)}"`),
      { kinds: ['Addon'], egress: ['*:*'] },
      /localhost is not a place that may be asked/,
    ],
    [
      addon('lab-a', `git: {url: "https://127.0.0.1:${port()}/x.git", commit: ${'a'.repeat(40)}, path: x}`),
      { kinds: ['Addon'], egress: ['*:*'] },
      /could not be fetched/,
    ],
    [
      addon('lab-a', `git: {url: "ssh://git@127.0.0.1:${port()}/x.git", commit: ${'a'.repeat(40)}, path: x}`),
      { kinds: ['Addon'], egress: ['*:*'] },
      /bad-value git.url/,
    ],
  ] as const)
    assert.match(await toldOf(manifests, grant), told)
  assert.deepEqual(asked, [])
})

test('[S-34] an answer that does not fit is not described to whoever may not see it', async () => {
  const hash = createHash('sha256').update(SECRET).digest('hex')
  const egress = [`127.0.0.1:${port()}`]
  for (const manifests of [
    addon('lab-a', url('/x')),
    addon('lab-a', `oci: "127.0.0.1:${port()}/x/y@sha256:${'a'.repeat(64)}"`),
  ]) {
    const told = await toldOf(manifests, { kinds: ['Addon'], egress })
    assert.match(told, /its SHA-256 is not a{64}/)
    for (const leak of [hash, 'secret', '"{']) assert.ok(!told.includes(leak), told)
  }
  assert.match(
    await toldOf(addon('x', url('/x')), undefined),
    new RegExp(`its SHA-256 is ${hash}`),
    'the owner is told',
  )
})

test('[S-34] a redirect is held to the list as well', async () => {
  asked.length = 0
  const told = await toldOf(addon('lab-a', url('/away')), { kinds: ['Addon'], egress: [`127.0.0.1:${port()}`] })
  assert.match(told, /localhost is not a place that may be asked/)
  assert.deepEqual(asked, ['/away'])
})

test('[S-34] a source with a grant tells nobody and probes nothing: Notification and HealthCheck are not for it', async () => {
  for (const kind of ['Notification', 'HealthCheck'])
    assert.throws(
      () => readConfig({ sources: [{ name: 'lab', directory: '/x', grant: { kinds: [kind] } }] }, {}, {}),
      /kinds/,
    )
})
