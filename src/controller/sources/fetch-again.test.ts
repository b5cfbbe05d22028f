import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { readHere } from '../../source/read-here.ts'
import { TooCostly } from '../../source/reader.ts'
import { createMemoryStore } from '../../store/memory.ts'
import { linkRevision } from './link-revision.ts'
import { type InForce, mergeRevisions } from './merge.ts'
import { type OpenSources, openSources } from './open-sources.ts'
import { openSourceStates } from './sources.ts'

const root = mkdtempSync(join(tmpdir(), 'croft-fetch-'))
after(() => rmSync(root, { recursive: true, force: true }))

const BODY = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: far}\ndata: {a: "1"}\n'
const SHA = createHash('sha256').update(BODY).digest('hex')
const CLUSTER = `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: eks}
spec: {type: existing, kubeconfig: {env: KUBECONFIG_EKS}}
`
const addon = (url: string) =>
  `apiVersion: croft.dev/v1alpha1\nkind: Addon\nmetadata: {name: far}\nspec: {cluster: eks, url: {url: "${url}", sha256: ${SHA}}}\n`
const errorsIn = async (parts: readonly InForce[]) =>
  linkRevision(mergeRevisions(parts)).problems.filter(({ severity }) => severity === 'error')
const never = new AbortController().signal
const HOUR_MS = 3_600_000

/** An address that can be there, away, or wrong. */
async function place() {
  const state = { answers: false, asked: 0 }
  const server = createServer((request, response) => {
    state.asked++
    if (state.answers) response.end(BODY)
    else request.socket.destroy()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  after(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return Object.assign(state, { url: `http://127.0.0.1:${port}/far.yaml` })
}

async function follow(directory: string) {
  const clock = createVirtualClock(1_760_000_000_000)
  const store = createMemoryStore()
  const sources = await openSourceStates({
    clock,
    store,
    epoch: await store.beginEpoch(),
    counters: { sourceLooks: 0, sourceTroubles: 0 },
    tell: async () => {},
    sources: openSources([{ name: 'main', directory, poll: HOUR_MS, apply: 'auto' } as never], {
      data: `${directory}-data`,
      cwd: root,
      clock,
      resolveSecret: async () => assert.fail('no secret is named'),
    }),
  })
  const [state] = sources.states
  assert.ok(state)
  return {
    state,
    /** Lets this much time pass, and looks whenever a source is due. */
    async pass(ms: number) {
      for (const endMs = clock.monotonicMs() + ms; ; ) {
        await sources.look(never, errorsIn)
        if (sources.dueMs() > endMs) return
        await clock.advanceTo(clock.now() + sources.dueMs() - clock.monotonicMs())
      }
    },
    objects: () =>
      state.revision === undefined
        ? []
        : linkRevision(mergeRevisions([{ source: 'main', revision: state.revision }])).resources.map(({ key }) => key),
  }
}

const room = (name: string) => {
  const directory = join(root, name)
  mkdirSync(directory)
  writeFileSync(join(directory, 'cluster.yaml'), CLUSTER)
  return directory
}

for (const first of [true, false])
  test(`an address that does not answer ${first ? 'when croft starts' : 'when an add-on is added'} is asked again until it does`, async () => {
    const far = await place()
    const directory = room(first ? 'start' : 'later')
    if (first) writeFileSync(join(directory, 'far.yaml'), addon(far.url))
    const { state, pass, objects } = await follow(directory)
    await pass(0)
    if (!first) {
      writeFileSync(join(directory, 'far.yaml'), addon(far.url))
      state.dueMs = 0
      await pass(0)
    }
    await pass(HOUR_MS / 2)
    assert.ok(far.asked > 4 && far.asked < 20, `it was asked ${far.asked} times in half an hour`)
    far.answers = true
    await pass(660_000)
    assert.deepEqual(objects(), ['Addon/far@ConfigMap/default/far'])
    assert.equal(state.trouble, undefined)
    const { asked } = far
    await pass(5 * HOUR_MS)
    assert.equal(far.asked, asked, 'what is there is not asked for again')
  })

test('what was fetched once is there after a restart without the network', async () => {
  const far = await place()
  far.answers = true
  const directory = room('kept')
  writeFileSync(join(directory, 'far.yaml'), addon(far.url))
  const before = await follow(directory)
  await before.pass(0)
  assert.deepEqual(before.objects(), ['Addon/far@ConfigMap/default/far'])
  far.answers = false
  const again = await follow(directory)
  await again.pass(0)
  assert.deepEqual(again.objects(), ['Addon/far@ConfigMap/default/far'])
})

const CHARTED = {
  'apps/kustomization.yaml':
    'helmCharts:\n- {name: web, repo: "https://charts.example.org", version: 1.0.0, releaseName: web}\n',
  'apps.yaml':
    'apiVersion: croft.dev/v1alpha1\nkind: Addon\nmetadata: {name: apps}\nspec: {cluster: eks, path: apps}\n',
}
const costly = async () => {
  throw new TooCostly('reading apps takes longer than 60 s')
}
/** Ways in which the first look at a source can throw. */
const THROWS: readonly (readonly [string, Partial<OpenSources>, RegExp, number])[] = [
  [
    'a kustomization is too costly to build',
    { reader: () => ({ ...readHere, kustomized: costly }), chart: async () => ({ objects: [] }) },
    /reading apps takes longer than 60 s/,
    LIMITS.fetchAgainMs,
  ],
  [
    'a chart is too costly to read',
    { chart: costly },
    /the chart web could not be rendered: reading apps takes longer/,
    LIMITS.fetchAgainMs,
  ],
  [
    'its reader breaks',
    {
      reader: () => ({
        ...readHere,
        tree: async (reading) => ({
          ...(await readHere.tree(reading)),
          objectsAt: () => {
            throw new Error('a mistake of ours')
          },
        }),
      }),
    },
    /could not be looked at: a mistake of ours/,
    HOUR_MS,
  ],
]
for (const [why, deps, told, againMs] of THROWS)
  test(`${why}: the other sources are looked at, and this one again after a while`, async () => {
    const name = why.replaceAll(' ', '-')
    const [first, second] = [room(`first-${name}`), room(`second-${name}`)]
    writeFileSync(join(second, 'cluster.yaml'), CLUSTER.replace('name: eks', 'name: other'))
    mkdirSync(join(first, 'apps'))
    for (const [file, text] of Object.entries(CHARTED)) writeFileSync(join(first, file), text)
    const clock = createVirtualClock(1_760_000_000_000)
    const store = createMemoryStore()
    const common = { data: `${first}-data`, cwd: root, clock, resolveSecret: async () => assert.fail() }
    const config = (source: string, directory: string) =>
      ({ name: source, directory, poll: HOUR_MS, apply: 'auto' }) as never
    const sources = await openSourceStates({
      clock,
      store,
      epoch: await store.beginEpoch(),
      counters: { sourceLooks: 0, sourceTroubles: 0 },
      tell: async () => {},
      sources: [
        ...openSources([config('first', first)], { ...common, ...deps }),
        ...openSources([config('second', second)], common),
      ],
    })
    await sources.look(never, errorsIn)
    const [broken, whole] = sources.states
    assert.equal(whole?.revision?.declarations.length, 1)
    const problems = await errorsIn(
      broken?.revision === undefined ? [] : [{ source: 'first', revision: broken.revision }],
    )
    assert.match([broken?.trouble?.message, ...problems.map(({ message }) => message)].join('\n'), told)
    assert.equal(sources.dueMs() - clock.monotonicMs(), againMs)
  })
