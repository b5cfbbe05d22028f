import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChartToRender } from '../../kinds/addon/rendered-chart.ts'
import type { ObjectsAt } from '../../kinds/kind.ts'
import { systemClock } from '../../lib/clock.ts'
import { EVERYWHERE } from '../../lib/egress.ts'
import { createWorkerReader } from '../apart/reader.ts'
import { type Fetching, withFetched } from '../files/fetched.ts'
import { readHere } from '../read-here.ts'
import type { SourceReader } from '../reader.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const BASE = `git+https://github.com/me/base#${COMMIT}:deploy`
const ADDON = `apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: web}
spec: {cluster: home, path: apps/web}
`
const KUSTOMIZATION = `namespace: sites
namePrefix: my-
resources: ["github.com/me/base//deploy?ref=${COMMIT}"]
patches: [{patch: "apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: far}\\ndata: {b: two}"}]
`
const map = (name: string, namespace?: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  data: { a: 'one' },
})

async function built(kustomization: string, fetching: Partial<Fetching>, reader: SourceReader = readHere) {
  const files = [
    { path: 'addon.yaml', bytes: Buffer.from(ADDON) },
    { path: 'apps/web/kustomization.yaml', bytes: Buffer.from(kustomization) },
    { path: 'apps/web/values.yaml', bytes: Buffer.from('replicas: 2\n') },
  ]
  const revision = await reader.tree({ files, links: [] })
  const whole = await withFetched(revision, { fetched: new Map(), egress: EVERYWHERE, reader, ...fetching })
  return { at: whole.objectsAt?.('apps/web'), problems: revision.problems }
}

test('a base of another repository at a commit is fetched for an add-on, and changed as the kustomization says', async () => {
  for (const reader of [readHere, createWorkerReader({ clock: systemClock })]) {
    const fetched = new Map<string, ObjectsAt>([[BASE, { objects: [map('far')] }]])
    const { at } = await built(KUSTOMIZATION, { fetched }, reader)
    assert.deepEqual(JSON.parse(JSON.stringify(at)), {
      objects: [{ ...map('my-far', 'sites'), data: { a: 'one', b: 'two' } }],
    })
  }
})

const HASHED = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'cfg-f64tktd5gt' },
  data: { 'app.conf': 'a=1\n' },
}
const USES = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web' },
  spec: { containers: [{ name: 'web', envFrom: [{ configMapRef: { name: 'cfg-f64tktd5gt' } }] }] },
}
const NAMED = KUSTOMIZATION.replace(/^patches.*$/m, '')

/** Recorded from kustomize 5.8.1: the same base with a generator for `cfg`, at a commit of another repository. */
test('what a generator of a base elsewhere made is changed by its own name, and named after its content last', async () => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'my-cfg-f64tktd5gt'],
    ['nameSuffix: -z', 'my-cfg-z-f64tktd5gt'],
    [
      'patches: [{target: {kind: ConfigMap, name: cfg}, patch: "- {op: add, path: /data/x, value: q}"}]',
      'my-cfg-2f26g79825',
    ],
  ]
  for (const [more, name] of cases) {
    const fetched = new Map<string, ObjectsAt>([[BASE, { objects: [HASHED, USES] }]])
    const { at } = await built(`${NAMED}${more}\n`, { fetched })
    assert.ok(at !== undefined && 'objects' in at, more)
    const [made, pod] = JSON.parse(JSON.stringify(at.objects)) as [typeof HASHED, typeof USES]
    assert.equal(made.metadata.name, name)
    assert.equal(pod.spec.containers[0]?.envFrom[0]?.configMapRef.name, name)
  }
})

test('a patch whose target a base elsewhere may have renamed is refused, not passed over', async () => {
  const fetched = new Map<string, ObjectsAt>([[BASE, { objects: [map('far')] }]])
  const patch = (target: string) =>
    built(`${NAMED}patches: [{target: ${target}, patch: "- {op: add, path: /data/x, value: q}"}]\n`, { fetched })
  const { at } = await patch('{kind: ConfigMap, name: near}')
  assert.match(at !== undefined && 'problem' in at ? at.problem : '', /a ConfigMap called near, and none is/)
  for (const target of ['{kind: ConfigMap, name: far}', '{kind: Secret}', '{kind: ConfigMap, name: f.*}']) {
    const found = (await patch(target)).at
    assert.ok(found !== undefined && 'objects' in found, target)
  }
})

test('without an add-on that names it nothing is fetched, and what it waits for is told at its line', async () => {
  const { problems, at } = await built(KUSTOMIZATION, { follows: () => false })
  assert.deepEqual(
    problems.map(({ severity, origin, code }) => [severity, origin.line, code]),
    [['warning', 3, 'kustomize-remote']],
    'the patch that misses its object is no second problem',
  )
  assert.ok(at !== undefined && 'problem' in at)
})

test('a base that cannot be fetched is the problem of the add-on', async () => {
  const { at } = await built(KUSTOMIZATION.replace('github.com/me', 'https://127.0.0.1:1/me'), {})
  assert.ok(at !== undefined && 'problem' in at)
  assert.match(at.problem, /could not be fetched/)
})

const CHART = `namespace: sites
helmCharts:
  - {name: web, repo: "https://charts.example.org", version: 1.2.3, releaseName: web, namespace: sites, valuesFile: values.yaml}
`

test('charts of a kustomization are rendered by Helm, and then changed as it says', async () => {
  const asked: ChartToRender[] = []
  const chart = async (wanted: ChartToRender) => {
    asked.push(wanted)
    return { objects: [map('web'), map('own', 'sites')] }
  }
  const { at } = await built(`${CHART}nameSuffix: -x\n`, { chart })
  assert.deepEqual(at, { objects: [map('web-x', 'sites'), map('own-x', 'sites')] })
  assert.deepEqual(
    asked.map(({ chart: name, namespace, values }) => [name, namespace, values]),
    [['web', 'sites', 'replicas: 2\n']],
  )
})

test('an object that a chart puts elsewhere is refused: versions of kustomize differ in where it goes', async () => {
  const { at } = await built(CHART, { chart: async () => ({ objects: [map('web', 'kube-system')] }) })
  assert.ok(at !== undefined && 'problem' in at)
  assert.match(at.problem, /kustomization\.yaml:1: namespace: sites is not that of ConfigMap\/web of the chart web/)
})

test('a namespace above a chart that has none is refused: versions of kustomize tell Helm of it or do not', async () => {
  const chart = async () => ({ objects: [map('web')] })
  const { at } = await built(CHART.replace(' namespace: sites,', ''), { chart })
  assert.ok(at !== undefined && 'problem' in at)
  assert.match(at.problem, /kustomization\.yaml:1: namespace: sites stands above the chart web/)
  assert.match(at.hint ?? '', /write namespace: sites into the entry/)
  const bare = await built(CHART.replace(' namespace: sites,', '').replace('namespace: sites\n', ''), { chart })
  assert.ok(bare.at !== undefined && 'objects' in bare.at)
})

test('without Helm the chart is named', async () => {
  const none = { problem: 'croft needs Helm to render the chart web, and there is no program helm here' }
  const { at } = await built(CHART, { chart: async () => none })
  assert.deepEqual(at, none)
})
