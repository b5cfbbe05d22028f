import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import type { ChartRequest, Rendering } from '../drivers/chart-port.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import { Secret } from '../model/secret.ts'
import { createWorkerReader } from '../source/apart/reader.ts'
import { createChartRenderer } from './renderer.ts'

const reader = createWorkerReader({ clock: systemClock })

const scratch = mkdtempSync(path.join(tmpdir(), 'croft-renderer-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const REQUEST: ChartRequest = {
  repo: 'https://charts.example.org',
  chart: 'shop',
  version: '1.0.0',
  release: 'shop',
  namespace: 'web',
  values: '{"replicas": 2}',
  upgrade: false,
}

/** Makes a Helm that records its arguments, fetches a file that is no chart, and prints what the test wants. */
function fakeHelm(name: string, { pull = 'echo chart > "$7/shop.tgz"', template = '' } = {}): string {
  const folder = path.join(scratch, name)
  mkdirSync(folder)
  const file = path.join(folder, 'helm')
  writeFileSync(
    file,
    `#!/bin/sh
here=${folder}
echo "$@" >> $here/calls
env > $here/env
for word in "$@"; do case $word in *values-*) stat -c %a "$word" >> $here/modes; cat "$word" >> $here/values; esac; done
case $1 in
pull) shift; ${pull} ;;
template) ${template} ;;
esac
`,
  )
  chmodSync(file, 0o755)
  return folder
}

const noted = (folder: string, what: string) =>
  existsSync(path.join(folder, what)) ? readFileSync(path.join(folder, what), 'utf8').trim().split('\n') : []

function renderer(folder: string | undefined, more: { clock?: Clock; env?: Record<string, string> } = {}) {
  return createChartRenderer({
    env: { PATH: folder ?? '/nowhere', PROXMOX_TOKEN: 'correct-horse', HOME: scratch, ...more.env },
    clock: more.clock ?? systemClock,
    cacheDir: path.join(scratch, `cache-${path.basename(folder ?? 'none')}`),
    newPlaces: true,
    readObjects: (text) => reader.objects([{ name: 'chart.yaml', bytes: Buffer.from(text) }]),
  })
}

const signal = AbortSignal.any([])
const objectsOf = (rendering: Rendering) => {
  assert.ok(rendering.is === 'objects', JSON.stringify(rendering))
  return rendering.objects.map(({ kind }) => kind)
}

test('a chart is fetched once and rendered twice, and asked for again it costs nothing', async () => {
  const folder = fakeHelm('plain', {
    template:
      'printf "%s\\n" "---" "# only a comment" "---" "kind: A" "---" "kind: BList" "items: [{kind: B}, {kind: C}]"',
  })
  const charts = renderer(folder)
  assert.deepEqual(objectsOf(await charts.render(REQUEST, signal)), ['A', 'B', 'C'])
  assert.deepEqual(objectsOf(await charts.render(REQUEST, signal)), ['A', 'B', 'C'])
  const words = noted(folder, 'calls').map((line) => line.split(' ')[0])
  assert.deepEqual(words, ['pull', 'template', 'template'])
  await renderer(folder).render(REQUEST, signal)
  assert.equal(noted(folder, 'calls').filter((line) => line.startsWith('pull')).length, 1, 'also by another run')
  await charts.render({ ...REQUEST, values: '{}' }, signal)
  assert.equal(noted(folder, 'calls').length, 7, 'other values are rendered anew')
  assert.deepEqual(new Set(noted(folder, 'modes')), new Set(['600']))
  const env = noted(folder, 'env').join('\n')
  assert.doesNotMatch(env, /correct-horse/)
  const home = /^HOME=(.*)$/m.exec(env)?.[1] ?? ''
  assert.match(home, /croft-helm-/)
  assert.ok(!existsSync(home), 'its home is gone')
})

test('hidden values never reach Helm: only that they are there', async () => {
  const folder = fakeHelm('hidden', { template: 'echo "kind: A"' })
  const hidden = new Secret('db: {password: correct-horse, tls: true}')
  await renderer(folder).render({ ...REQUEST, hidden }, signal)
  assert.match(noted(folder, 'values').join(''), /\{"db":\{"password":"hidden","tls":true\}\}/)
  const broken = await renderer(folder).render({ ...REQUEST, hidden: new Secret('{a: correct-horse') }, signal)
  assert.deepEqual(broken, { is: 'failed', message: 'its secret values are not a YAML document' })
})

test('what comes out another way each time is said to', async () => {
  const folder = fakeHelm('dice', { template: 'echo "kind: A"; echo "roll: $(wc -l < $here/calls)"' })
  const rendering = await renderer(folder).render(REQUEST, signal)
  assert.ok(rendering.is === 'objects' && rendering.again !== undefined)
  assert.notDeepEqual(rendering.objects, rendering.again)
})

const AT_ONCE: Clock = { ...systemClock, sleep: async () => {} }

const failures: readonly (readonly [string, Parameters<typeof fakeHelm>[1], RegExp, Clock?])[] = [
  ['refusal', { pull: 'echo "Error: no \u001b[31msuch chart" >&2; exit 1' }, /^helm pull: no such chart$/],
  ['silent', { pull: 'exit 3' }, /^helm pull: it ended with 3$/],
  ['empty', { pull: 'true' }, /^helm pull brought no chart$/],
  ['slow', { pull: 'sleep 600' }, new RegExp(`^helm pull took longer than ${LIMITS.chartMs / 1000} s$`), AT_ONCE],
  ['endless', { template: 'yes' }, /^helm template said more than \d+ bytes$/],
  ['wrong', { template: 'echo "a: [unclosed"' }, /^what its templates make cannot be used: chart\.yaml:\d+: /],
  ['many', { template: `yes -- "---\nkind: A" | head -n ${3 * LIMITS.addonObjects}` }, /more than \d+ objects$/],
]
for (const [name, what, said, clock] of failures)
  test(`a Helm that is ${name} leaves a sentence, and nothing behind`, async () => {
    const folder = fakeHelm(name, what)
    const rendering = await renderer(folder, clock === undefined ? {} : { clock }).render(REQUEST, signal)
    assert.ok(rendering.is === 'failed', JSON.stringify(rendering))
    assert.match(rendering.message, said)
    const home = /^HOME=(.*)$/m.exec(noted(folder, 'env').join('\n'))?.[1]
    assert.ok(home === undefined || !existsSync(home))
    const kept = path.join(scratch, `cache-${name}`, 'charts')
    if (name === 'empty' || name === 'refusal') assert.ok(!existsSync(kept) || readdirSync(kept).length === 0)
  })

test('without Helm nothing is run; a named one is used where it is', async () => {
  assert.deepEqual(await renderer(undefined).render(REQUEST, signal), { is: 'no-helm' })
  const folder = fakeHelm('named', { template: 'echo "kind: A"' })
  const named = renderer(undefined, { env: { CROFT_HELM: path.join(folder, 'helm') } })
  assert.deepEqual(objectsOf(await named.render(REQUEST, signal)), ['A'])
  const lost = renderer(folder, { env: { CROFT_HELM: '/nowhere/helm' } })
  assert.deepEqual(await lost.render(REQUEST, signal), { is: 'no-helm' }, 'and no other in its place')
})

test('a request that could be read as an option is not asked', async () => {
  const folder = fakeHelm('careful')
  const rendering = await renderer(folder).render({ ...REQUEST, chart: '--post-renderer=/bin/sh' }, signal)
  assert.equal(rendering.is, 'failed')
  assert.deepEqual(noted(folder, 'calls'), [])
})

test('a chart in Git is rendered from the directory of its commit, and nothing is pulled', async () => {
  const folder = fakeHelm('git', { template: 'cat "$3/Chart.yaml"' })
  const git = { url: 'https://git.example/shop.git', commit: 'a'.repeat(40) }
  const renderer = (problem?: string) =>
    createChartRenderer({
      env: { CROFT_HELM: path.join(folder, 'helm') },
      clock: systemClock,
      newPlaces: true,
      readObjects: (text) => reader.objects([{ name: 'chart.yaml', bytes: Buffer.from(text) }]),
      checkOut: async (place, into) => {
        if (problem !== undefined) return { problem }
        mkdirSync(path.join(into, place.path), { recursive: true })
        const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${place.commit.slice(0, 4)}}\n`
        writeFileSync(path.join(into, place.path, 'Chart.yaml'), text)
        return undefined
      },
    })
  const { repo: _, ...request } = { ...REQUEST, git, chart: 'deploy/shop', version: git.commit }
  const { signal } = new AbortController()
  const rendering = await renderer().render(request, signal)
  assert.ok(rendering.is === 'objects', JSON.stringify(rendering))
  assert.deepEqual(rendering.objects, [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'aaaa' } }])
  assert.ok(noted(folder, 'calls').every((call) => call.startsWith('template shop ')))
  const failed = await renderer('it has nothing at deploy/shop').render(request, signal)
  assert.deepEqual(failed, { is: 'failed', message: 'it has nothing at deploy/shop' })
  for (const wrong of [
    { chart: '../shop' },
    { git: { ...git, url: 'file:///srv/shop' } },
    { git: { ...git, commit: 'main' } },
  ])
    assert.match(JSON.stringify(await renderer().render({ ...request, ...wrong }, signal)), /its place in Git is not/)
})
