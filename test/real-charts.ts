import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../src/model/kube-object.ts'

export const CHARTS_HERE = fileURLToPath(new URL('../../shared/charts', import.meta.url))

/** Why the tests that need what real charts render are skipped; never in CI, where it must be there. */
export const WITHOUT_CHARTS =
  existsSync(CHARTS_HERE) || process.env.CI ? false : 'what the real charts render (../shared/charts) is not here'

/** Everything that a chart renders: by itself, or with the values that a preset's example gives it. */
export function renderedChart(chart: string, values: 'default' | 'croft' = 'croft'): readonly KubeObject[] {
  const packed = readFileSync(`${CHARTS_HERE}/${chart}.${values}.yaml.gz`)
  return parseAllDocuments(gunzipSync(packed).toString('utf8')).map((one) => one.toJS() as KubeObject)
}
