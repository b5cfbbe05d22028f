import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChartPreview, Plan } from '../../model/plan.ts'
import { chartLines, chartRemarks } from './plan-chart.ts'
import { PLAIN } from './text.ts'

const CHART: ChartPreview = {
  total: 5,
  relabelled: 2,
  unsteady: ['Secret/random'],
  objects: [
    {
      id: 'Deployment.apps/web',
      becomes: 'changed',
      changes: [{ path: 'spec.replicas', from: 1, to: 2, effect: 'live' }],
    },
    { id: 'Secret/\u001b[2Js', becomes: 'changed', changes: [] },
    { id: 'Service/new', becomes: 'added', changes: [] },
  ],
}

test('what a chart would change is shown by object and field, and a Secret as changed only', () => {
  assert.deepEqual(chartLines(CHART, PLAIN, {}), [
    'the chart changes 2, adds 1 of 5 objects:',
    '  ~ Deployment.apps/web',
    '      spec.replicas: 1 → 2',
    '  ~ Secret/s (its values are not shown)',
    '  + Service/new',
    '  2 objects get only the labels of the version',
    '  renders differently each time, and is not compared there: Secret/random',
  ])
  const none = { ...CHART, objects: [], relabelled: 0, unsteady: [] }
  assert.deepEqual(chartLines(none, PLAIN, {}), ['the chart changes none of its 5 objects'])
})

test('a large chart is cut short unless everything is asked for', () => {
  const objects = Array.from({ length: 100 }, (_, n) => ({ id: `A/${n}`, becomes: 'added', changes: [] }) as const)
  const chart = { total: 100, relabelled: 0, unsteady: [], objects }
  assert.deepEqual(chartLines(chart, PLAIN, {}).slice(-1), ['  … and 70 lines more (--calls shows all)'])
  assert.equal(chartLines(chart, PLAIN, { calls: true }).length, 101)
})

test('that there is no Helm is said once for the whole plan, every other lack with its chart', () => {
  const notRendered = (why: 'no-helm' | 'failed'): ChartPreview => ({
    ...CHART,
    objects: [],
    notRendered: { why, message: why },
  })
  assert.deepEqual(chartLines(notRendered('no-helm'), PLAIN, {}), [])
  assert.deepEqual(chartLines(notRendered('failed'), PLAIN, {}), ['its objects are not shown: failed'])
  const entries = ['no-helm', 'no-helm', 'failed'].map((why) => ({
    preview: { changes: [], chart: notRendered(why as 'no-helm') },
  }))
  assert.deepEqual(chartRemarks({ entries } as unknown as Plan), ['no-helm'])
})
