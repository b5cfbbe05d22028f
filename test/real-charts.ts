import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../src/model/kube-object.ts'
import { ofOthers } from './evidence/of-others.ts'

/** Everything that a chart renders: by itself, or with the values that a preset's example gives it. */
export function renderedChart(chart: string, values: 'default' | 'croft' = 'croft'): readonly KubeObject[] {
  const packed = readFileSync(ofOthers(`charts/${chart}.${values}.yaml.gz`))
  return parseAllDocuments(gunzipSync(packed).toString('utf8')).map((one) => one.toJS() as KubeObject)
}
