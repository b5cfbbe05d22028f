import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChartToRender } from '../../kinds/addon/rendered-chart.ts'
import type { ObjectsAt } from '../../kinds/kind.ts'
import { systemClock } from '../../lib/clock.ts'
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
  const whole = await withFetched(revision, { fetched: new Map(), reader, ...fetching })
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

test('without Helm the chart is named', async () => {
  const none = { problem: 'croft needs Helm to render the chart web, and there is no program helm here' }
  const { at } = await built(CHART, { chart: async () => none })
  assert.deepEqual(at, none)
})
