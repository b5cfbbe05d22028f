import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PRESET_NAMES } from '../src/kinds/addon/presets/registry.ts'
import { WITHOUT_EVIDENCE } from './evidence/of-others.ts'
import { CHARTS } from './real/charts-accepted.ts'
import { presetObjects } from './real/preset-objects.ts'
import { renderedChart } from './real-charts.ts'

/* What a real kube-apiserver is asked to accept is what the presets install: a new preset cannot stay out of it. */

interface ChartSpec {
  readonly chart: string
  readonly version: string
  readonly targetNamespace: string
}

function chartsOfPresets(): readonly ChartSpec[] {
  return presetObjects().flatMap(({ kind, spec }) => (kind === 'HelmChart' ? [spec as ChartSpec] : []))
}

test('every chart that a preset installs is rendered for the real kube-apiserver, in the namespace that it goes to', () => {
  const installed = chartsOfPresets().map(({ chart, targetNamespace }) => `${chart} in ${targetNamespace}`)
  const asked = CHARTS.map(([chart, namespace]) => `${chart} in ${namespace}`)
  assert.deepEqual(
    installed.filter((one) => !asked.includes(one)),
    [],
  )
})

test('it is rendered in the version that the preset installs', { skip: WITHOUT_EVIDENCE }, () => {
  for (const { chart, version } of chartsOfPresets()) {
    const labels = renderedChart(chart).map(({ metadata }) => metadata.labels?.['helm.sh/chart'])
    // Cilium's chart does not say its version.
    if (chart !== 'cilium') assert.ok(labels.includes(`${chart}-${version}`), `${chart} ${version}`)
  }
})

test('every preset writes objects, and so has something that the real kube-apiserver is asked about', () => {
  for (const name of PRESET_NAMES) assert.ok(presetObjects([name]).length > 0, name)
})
