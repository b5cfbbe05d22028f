import { shopChart } from '../src/kinds/addon/testing/shop-chart.ts'
import { findKind } from '../src/kinds/registry.ts'
import { EVERYWHERE } from '../src/lib/egress.ts'
import type { Estate } from '../src/model/estate.ts'
import { link } from '../src/plan/link.ts'
import { withFetched } from '../src/source/files/fetched.ts'
import { readFiles } from '../src/source/files/read-files.ts'

/* A repository whose add-ons go to a cluster that croft does not run. */

/** What stands in Git. `rendered`: what Helm makes of its only chart. */
export async function existingEstate(manifests: string, rendered: readonly unknown[] = shopChart()): Promise<Estate> {
  const bytes = Buffer.from(manifests)
  const read = readFiles({ files: [{ path: 'estate.yaml', bytes }], links: [] })
  const revision = await withFetched(read, {
    fetched: new Map(),
    egress: EVERYWHERE,
    chart: async () => ({ objects: rendered }),
  })
  const estate = link(revision, { findKind, problemAt: revision.problemAt })
  const errors = estate.problems.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(errors.map(({ message, field }) => `${field}: ${message}`).join('\n'))
  return estate
}

export const PROD = `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: prod}
spec: {type: existing, kubeconfig: {env: PROD_KUBECONFIG}}
`

/** An add-on with a chart and one with manifests and a Secret, for a cluster. */
export const addonsFor = (cluster: string, colour = 'blue') => `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: shop}
spec:
  cluster: ${cluster}
  namespace: shop
  chart: {repo: https://charts.example.org, name: shop, version: 1.0.0}
---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: settings}
spec:
  cluster: ${cluster}
  namespace: shop
  secrets: [{name: door, data: {key: {env: KEY}}}]
  objects:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: colours}, data: {front: ${colour}}}
`
