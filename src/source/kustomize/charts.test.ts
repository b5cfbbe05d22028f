import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chartAt } from '../../kinds/addon/rendered-chart.ts'
import { chartPlaceOfEntry, helmChartSchema } from './charts.ts'

const ENTRY = { name: 'web', repo: 'https://charts.example.org/', version: '1.2.3', releaseName: 'web' }
const FILES: Readonly<Record<string, string>> = {
  'v.yaml': 'b: {c: true, d: 5, e: 6}\nlist: [2, 3]\nx: 0400\n',
  'more.yaml': 'b: {e: 7}\n',
  'null.yaml': 'b: {c: 1, d:}\n',
  'yes.yaml': 'b: {c: yes}\n',
  'clock.yaml': 'b: [1, 12:30:45]\n',
  'day.yaml': 'b: 2026-11-17\n',
}

function wanted(more: object) {
  const place = chartPlaceOfEntry(helmChartSchema.parse({ ...ENTRY, ...more }), (path) => FILES[path] ?? '')
  const chart = chartAt(place)
  assert.ok(chart !== undefined)
  return chart
}
const values = (more: object): unknown => JSON.parse(wanted(more).values || '{}')

test('a chart is asked for as kustomize asks Helm for it', () => {
  assert.deepEqual(wanted({}), {
    repo: 'https://charts.example.org',
    chart: 'web',
    version: '1.2.3',
    release: 'web',
    namespace: 'default',
    values: '',
    output: { crds: false, tests: true, hooks: true },
  })
  const { repo, chart, namespace, kubeVersion, apiVersions, output } = wanted({
    repo: 'oci://ghcr.io/me',
    namespace: 'sites',
    includeCRDs: true,
    skipTests: true,
    skipHooks: true,
    kubeVersion: '1.34',
    apiVersions: ['a/v1'],
  })
  assert.deepEqual([repo, chart, namespace, kubeVersion], [undefined, 'oci://ghcr.io/me/web', 'sites', '1.34'])
  assert.deepEqual([apiVersions, output], [['a/v1'], { crds: true, tests: false, hooks: false }])
})

test('values are joined as kustomize joins them', () => {
  // Recorded values that kubectl 1.32 passed to helm for this entry, but for the null.
  const inline = { b: { c: false }, list: [1] }
  assert.deepEqual(values({ valuesFile: 'v.yaml', valuesInline: inline }), {
    b: { c: false, d: 5, e: 6 },
    list: [1],
    x: 256,
  })
  assert.deepEqual(values({ valuesFile: 'v.yaml', valuesInline: inline, valuesMerge: 'merge' }), {
    b: { c: true, d: 5, e: 6 },
    list: [2, 3],
    x: 256,
  })
  assert.deepEqual(values({ valuesFile: 'v.yaml', valuesInline: inline, valuesMerge: 'replace' }), inline)
  assert.deepEqual(values({ valuesInline: inline, additionalValuesFiles: ['more.yaml'] }), {
    b: { c: false, e: 7 },
    list: [1],
  })
  // Helm itself parses these: yes is true, and a null removes the chart's value.
  assert.deepEqual(values({ valuesFile: 'null.yaml', additionalValuesFiles: ['yes.yaml'] }), {
    b: { c: true, d: null },
  })
  assert.equal(wanted({ valuesFile: 'v.yaml' }).values, FILES['v.yaml'], 'Helm reads one file by itself')
})

test('what would be another chart tomorrow, or is not followed, is refused by its name', () => {
  for (const [more, why] of [
    [{ repo: undefined }, /charts of a directory/],
    [{ version: undefined }, /version is missing/],
    [{ version: '1.x' }, /version is 1\.x; write the exact version/],
    [{ releaseName: undefined }, /releaseName is missing/],
    [{ nameTemplate: '{{ . }}' }, /nameTemplate is not followed/],
    [{ digest: 'sha256:0' }, /digest is not followed/],
    [{ valuesInline: { a: { b: null } } }, /holds a null/],
    [{ valuesInline: { a: 1 }, valuesMerge: 'merge' }, /values of the chart itself win/],
    [{ valuesInline: { a: 1 }, valuesFile: 'null.yaml' }, /its values file holds a null, which kustomize drops/],
    [{ valuesInline: { a: 1 }, valuesFile: 'yes.yaml' }, /b\.c of a values file means one thing to kustomize/],
    [{ valuesInline: { a: 1 }, valuesFile: 'clock.yaml' }, /b\.1 of a values file/],
    [{ valuesFile: 'v.yaml', additionalValuesFiles: ['day.yaml'] }, /b of a values file/],
  ] as const)
    assert.throws(() => wanted(more), why)
})
