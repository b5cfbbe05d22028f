import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChartToRender } from '../src/kinds/addon/rendered-chart.ts'
import { findKind } from '../src/kinds/registry.ts'
import { EVERYWHERE } from '../src/lib/egress.ts'
import type { Estate } from '../src/model/estate.ts'
import { link } from '../src/plan/link.ts'
import { withFetched } from '../src/source/files/fetched.ts'
import { readFiles } from '../src/source/files/read-files.ts'

/* `examples/existing-cluster`, with what Helm makes of its charts. These charts only have the shape of the real ones. */

const EXAMPLE = join(import.meta.dirname, '../examples/existing-cluster')

/** The example as it stands in Git. `charts` renders each of them; `change` is what a reader of it would change. */
export async function platformExample(
  charts: (wanted: ChartToRender) => readonly unknown[],
  change: (text: string) => string = (text) => text,
): Promise<Estate> {
  const files = globSync('**/*.yaml', { cwd: EXAMPLE })
    .toSorted()
    .map((path) => ({ path, bytes: Buffer.from(change(readFileSync(join(EXAMPLE, path), 'utf8'))) }))
  const read = readFiles({ files, links: [] })
  const revision = await withFetched(read, {
    fetched: new Map(),
    egress: EVERYWHERE,
    chart: async (wanted) => ({ objects: charts(wanted) }),
  })
  const estate = link(revision, { findKind, problemAt: revision.problemAt })
  const errors = estate.problems.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(errors.map(({ message, field }) => `${field}: ${message}`).join('\n'))
  return estate
}

/** Only the objects of one existing cluster, reached as a test reaches it. */
export function onlyProd(text: string): string {
  return text
    .split(/^---\n/m)
    .filter((document) => !document.includes('croft.dev/') || /name: prod\}|cluster: prod\b/.test(document))
    .join('---\n')
    .replace(/kubeconfig: \{file: [^}]*\}\n {2}context: .*/, 'kubeconfig: {env: PROD_KUBECONFIG}')
}

export function standInCharts(wanted: ChartToRender): readonly unknown[] {
  if (wanted.git !== undefined) return bigBang(wanted)
  return wanted.chart === 'flux2' ? FLUX : PODINFO
}

const PODINFO = [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'podinfo' },
    spec: { selector: { app: 'podinfo' }, ports: [{ port: 9898 }] },
  },
]

const open = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
const definition = (group: string, version: string, kind: string, plural: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [{ name: version, served: true, storage: true, schema: open }],
  },
})

/** What Big Bang needs of Flux: its definitions, and one of its controllers. */
const FLUX = [
  definition('source.toolkit.fluxcd.io', 'v1', 'GitRepository', 'gitrepositories'),
  definition('helm.toolkit.fluxcd.io', 'v2', 'HelmRelease', 'helmreleases'),
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'helm-controller' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'helm-controller' } },
      template: {
        metadata: { labels: { app: 'helm-controller' } },
        spec: { containers: [{ name: 'manager', image: 'helm-controller:1' }] },
      },
    },
  },
]

const PACKAGES = ['kyverno', 'monitoring'] as const

/** The umbrella: for each package a namespace, a Secret with its values, its repository and its release. */
function bigBang({ values, namespace }: ChartToRender): readonly unknown[] {
  const { domain } = JSON.parse(values) as { readonly domain: string }
  return PACKAGES.flatMap((name, index) => [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `bigbang-${name}-values` },
      stringData: { common: `domain: ${domain}\n`, defaults: '', overlays: '' },
    },
    {
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'GitRepository',
      metadata: { name },
      spec: { interval: '2m', url: `https://git.example.org/${name}.git`, ref: { tag: '1.0.0' } },
    },
    {
      apiVersion: 'helm.toolkit.fluxcd.io/v2',
      kind: 'HelmRelease',
      metadata: { name },
      spec: {
        interval: '2m',
        targetNamespace: name,
        chart: { spec: { chart: 'chart', sourceRef: { kind: 'GitRepository', name, namespace } } },
        valuesFrom: [{ kind: 'Secret', name: `bigbang-${name}-values`, valuesKey: 'common' }],
        ...(index === 0 ? {} : { dependsOn: [{ name: PACKAGES[0], namespace }] }),
      },
    },
  ])
}
