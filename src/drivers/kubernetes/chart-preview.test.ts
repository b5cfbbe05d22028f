import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Foreign } from '../../kubernetes/objects.ts'
import { systemClock } from '../../lib/clock.ts'
import { atOnce } from '../../lib/in-turns.ts'
import type { WantedObject } from '../../model/kube-object.ts'
import { Secret } from '../../model/secret.ts'
import type { Step } from '../../model/step.ts'
import type { ChartRenderer, ChartRequest, RenderedObject, Rendering } from '../chart-port.ts'
import { chartPreview, compareRenderings } from './chart-preview.ts'
import { seen } from './testing/fixture.ts'

const object = (kind: string, name: string, more: object = {}): RenderedObject => ({
  apiVersion: kind === 'Deployment' ? 'apps/v1' : 'v1',
  kind,
  metadata: { name },
  ...more,
})

test('two renderings are compared by object and field; of a Secret only that it changes', () => {
  const labels = (version: string) => ({ metadata: { name: 'l', labels: { 'helm.sh/chart': version } } })
  const before = [
    object('Deployment', 'web', { spec: { replicas: 1 } }),
    object('Secret', 's', { data: { a: 'old' } }),
    object('Service', 'gone'),
    object('ConfigMap', 'same', { data: { a: '1' } }),
    object('ConfigMap', 'l', labels('c-1')),
  ]
  const after = [
    { ...object('Deployment', 'web', { spec: { replicas: 2 } }), apiVersion: 'apps/v2' },
    object('Secret', 's', { data: { a: 'new' } }),
    object('Service', 'fresh'),
    object('ConfigMap', 'same', { data: { a: '1' } }),
    object('ConfigMap', 'l', labels('c-2')),
    { kind: 'List' },
  ]
  const { objects, ...rest } = atOnce(compareRenderings(before, after, undefined))
  assert.deepEqual(
    objects.map(({ id, becomes, changes }) => [becomes, id, changes.map(({ path, to }) => `${path} ${String(to)}`)]),
    [
      ['changed', 'Deployment.apps/web', ['spec.replicas 2']],
      ['changed', 'Secret/s', []],
      ['added', 'Service/fresh', []],
      ['removed', 'Service/gone', []],
    ],
  )
  assert.deepEqual(rest, { total: 5, relabelled: 1, unsteady: [] })
})

test('a field that comes out another way each time is no change, and is named', () => {
  const roll = (key: string, other: string) => [object('Secret', 's', { data: { key, other } })]
  const preview = atOnce(compareRenderings(roll('a', '1'), roll('b', '1'), roll('c', '1')))
  assert.deepEqual([preview.objects, preview.unsteady], [[], ['Secret/s']])
  assert.equal(atOnce(compareRenderings(roll('a', '1'), roll('b', '2'), roll('c', '2'))).objects.length, 1)
})

test('[S-53] a large rendering is compared object by object, and others have their turn between two of them', () => {
  const many = (value: string) =>
    Array.from({ length: 300 }, (_, at) => object('ConfigMap', `m${at}`, { data: { value } }))
  const steps = compareRenderings(many('a'), many('b'), many('b'))
  let pauses = 0
  for (;;) {
    const step = steps.next()
    if (step.done === true) {
      assert.equal(step.value.objects.length, 300)
      break
    }
    pauses++
  }
  assert.ok(pauses >= 300)
})

const chart = (spec: object): Foreign => ({
  apiVersion: 'helm.cattle.io/v1',
  kind: 'HelmChart',
  metadata: { name: 'shop', namespace: 'kube-system' },
  spec: {
    repo: 'https://c.example',
    chart: 'shop',
    version: '1.0.0',
    targetNamespace: 'web',
    valuesContent: '{}',
    ...spec,
  },
})
const step = (body: Foreign) =>
  ({ lane: 'object', write: { do: 'apply', path: '', body, as: 'croft' } }) as unknown as Step

/** Every rendering has one object with the version; requests are recorded. */
function renderer(newPlaces: boolean, answer?: Rendering) {
  const asked: ChartRequest[] = []
  const charts: ChartRenderer = {
    newPlaces,
    async render(request) {
      asked.push(request)
      return answer ?? { is: 'objects', objects: [object('ConfigMap', 'c', { data: { v: request.version } })] }
    },
  }
  return { asked, charts }
}

const VALUES: WantedObject = {
  cluster: 'homelab',
  addon: 'shop',
  plural: 'secrets',
  deletion: 'Delete',
  object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'shop-values', namespace: 'kube-system' } },
  secrets: { 'values.yaml': { env: 'V' } },
}

async function previewed(
  from: object | undefined,
  to: object,
  use = renderer(true),
  held: readonly WantedObject[] = [],
) {
  const deps = { charts: use.charts, clock: systemClock, resolveSecret: async () => new Secret('a: b') }
  const live = from === undefined ? undefined : seen({ object: chart(from) })
  const around = { wanted: [VALUES], held, version: 'v1.34.3+k3s1' }
  const preview = await chartPreview(deps, step(chart(to)), live, around, AbortSignal.any([]))
  return { preview, asked: use.asked }
}

test('the chart that is there and the one that is wanted are rendered for the same cluster and release', async () => {
  const { preview, asked } = await previewed({}, { version: '1.1.0', valuesSecrets: [{ name: 'shop-values' }] })
  assert.deepEqual(
    preview?.objects.map(({ id, changes }) => [id, changes.map(({ from, to }) => [from, to])]),
    [['ConfigMap/c', [['1.0.0', '1.1.0']]]],
  )
  for (const { release, namespace, kubeVersion, upgrade, hidden } of asked) {
    assert.deepEqual([release, namespace, kubeVersion, upgrade], ['shop', 'web', '1.34.3', true])
    assert.equal(hidden?.reveal(), 'a: b', 'both with the same')
  }
})

test('nothing is rendered for what is no chart, for a chart that stays, or where charts are not rendered', async () => {
  const { preview, asked } = await previewed({}, {})
  assert.deepEqual([preview, asked], [undefined, []])
  const use = renderer(true)
  const deps = { charts: use.charts, clock: systemClock, resolveSecret: async () => new Secret('') }
  const around = { wanted: [], held: [], version: undefined }
  const map = object('ConfigMap', 'm') as Foreign
  assert.equal(await chartPreview(deps, step(map), undefined, around, AbortSignal.any([])), undefined)
  const { charts: _, ...none } = deps
  assert.equal(await chartPreview(none, step(chart({})), undefined, around, AbortSignal.any([])), undefined)
  assert.deepEqual(use.asked, [])
})

test('what anybody may propose sends nobody to a new place; a new version from the old place is shown', async () => {
  for (const [from, to] of [
    [undefined, {}],
    [{}, { repo: 'https://evil.example' }],
    [{}, { chart: 'other' }],
  ] as const) {
    const { preview, asked } = await previewed(from, to, renderer(false))
    assert.deepEqual([preview?.notRendered?.why, asked], ['new-place', []], JSON.stringify(to))
  }
  const { preview } = await previewed({}, { version: '2.0.0' }, renderer(false))
  assert.equal(preview?.objects.length, 1)
})

test('a place that only the cluster names is never gone to', async () => {
  const { preview, asked } = await previewed({ repo: 'https://evil.example' }, {})
  assert.deepEqual(
    asked.map(({ repo }) => repo),
    ['https://c.example'],
  )
  assert.deepEqual(
    preview?.objects.map(({ becomes }) => becomes),
    ['added'],
  )
})

test('[S-37] for a source with a grant no chart is fetched, and no secret values are given to one', async () => {
  const own = { ...VALUES, object: chart({}) as unknown as WantedObject['object'] }
  for (const from of [undefined, {}]) {
    const { preview, asked } = await previewed(from, { version: '2.0.0' }, renderer(true), [own])
    assert.deepEqual([preview?.notRendered?.why, asked], ['held', []])
  }
  const { asked } = await previewed({}, { version: '2.0.0' }, renderer(true), [VALUES])
  assert.equal(asked.length, 2, 'a chart of the administrator beside it is shown')
})

test('why nothing can be shown is said', async () => {
  const failed = await previewed(undefined, {}, renderer(true, { is: 'failed', message: 'helm pull: no' }))
  assert.deepEqual(failed.preview?.notRendered, { why: 'failed', message: 'helm pull: no' })
  const none = await previewed(undefined, {}, renderer(true, { is: 'no-helm' }))
  assert.equal(none.preview?.notRendered?.why, 'no-helm')
})
