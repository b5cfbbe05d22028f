import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectsOf } from '../sim/kubernetes/charts/release.ts'
import { at, recordsOf } from '../src/kubernetes/objects.ts'
import type { KubeObject } from '../src/model/kube-object.ts'
import { readOfOthers, WITHOUT_EVIDENCE } from './evidence/of-others.ts'
import { renderedChart } from './real-charts.ts'

/* What the simulated Helm makes of a chart is what the real one makes of it, as far as anybody notices. */

/** As `## coredns 1.46.2` and the lines below it say: version, release, namespace and the values that were given. */
function toldOf(chart: string) {
  const text = readOfOthers('charts/README.md')
  const [, version = '', rest = ''] = new RegExp(`^## ${chart} (\\S+)[^\\n]*\\n([\\s\\S]*?)^## `, 'm').exec(text) ?? []
  const [, name = '', namespace = ''] = /release `([^`]*)`, namespace `([^`]*)`/.exec(rest) ?? []
  const values = /values of croft: `(.*)`$/m.exec(rest)?.[1] ?? '{}'
  return { chart, version, name, namespace, values: JSON.parse(values) as Record<string, unknown> }
}

const VERSIONS = new Set(['helm.sh/chart', 'app.kubernetes.io/version'])

function labels(value: unknown): Record<string, unknown> {
  const all = Object.entries((value ?? {}) as Record<string, unknown>)
  return Object.fromEntries(all.filter(([key]) => !VERSIONS.has(key)).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** What is compared of an object; undefined for kinds that are not compared. */
function seen(object: KubeObject, namespace: string): unknown {
  const pod = at(object, 'spec', 'template', 'spec') as Record<string, unknown> | undefined
  switch (object.kind) {
    case 'Deployment':
    case 'DaemonSet':
    case 'StatefulSet':
      return {
        namespace: object.metadata.namespace ?? namespace,
        // Helm adds it to every object when it installs; what a template renders may lack it.
        labels: { ...labels(object.metadata.labels), 'app.kubernetes.io/managed-by': 'Helm' },
        replicas: at(object, 'spec', 'replicas') ?? (object.kind === 'DaemonSet' ? undefined : 1),
        selector: labels(at(object, 'spec', 'selector', 'matchLabels')),
        podLabels: labels(at(object, 'spec', 'template', 'metadata', 'labels')),
        priority: pod?.priorityClassName,
        tolerations: pod?.tolerations ?? [],
        hostNetwork: pod?.hostNetwork === true,
        nodeSelector: pod?.nodeSelector,
        apart: at(pod, 'affinity', 'podAntiAffinity', 'requiredDuringSchedulingIgnoredDuringExecution'),
        containers: recordsOf(pod?.containers).map(({ name }) => name),
      }
    case 'CustomResourceDefinition': {
      const spec = object.spec as { group: string; scope: string; names: { kind: string; plural: string } }
      const versions = at(object, 'spec', 'versions') as readonly { name: string; served: boolean }[]
      return {
        group: spec.group,
        scope: spec.scope,
        kind: spec.names.kind,
        plural: spec.names.plural,
        versions: versions
          .filter(({ served }) => served)
          .map(({ name }) => name)
          .sort(),
        keep: object.metadata.annotations?.['helm.sh/resource-policy'] === 'keep',
      }
    }
    case 'ValidatingWebhookConfiguration':
    case 'MutatingWebhookConfiguration':
      return (object.webhooks as readonly Record<string, unknown>[]).map(
        ({ name, rules, failurePolicy, clientConfig }) => [
          name,
          failurePolicy,
          at(clientConfig, 'service', 'name'),
          at(clientConfig, 'service', 'namespace'),
          JSON.parse(JSON.stringify(rules), (key, value: unknown) => (key === 'scope' ? undefined : value)),
        ],
      )
    case 'Service':
      return {
        type: at(object, 'spec', 'type') ?? 'ClusterIP',
        selector: labels(at(object, 'spec', 'selector')),
        clusterIP: at(object, 'spec', 'clusterIP'),
        loadBalancerIP: at(object, 'spec', 'loadBalancerIP'),
        ports: (at(object, 'spec', 'ports') as readonly { readonly port: number }[]).map(({ port }) => port),
      }
    default:
      return undefined
  }
}

function compared(objects: readonly KubeObject[], namespace: string): Record<string, unknown> {
  const found = objects
    .map((one) => [`${one.kind} ${one.metadata.name}`, seen(one, namespace)] as const)
    .filter(([, what]) => what !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.parse(JSON.stringify(Object.fromEntries(found))) as Record<string, unknown>
}

const COUNTS = { workloads: 0, definitions: 0, webhooks: 0 }

for (const chart of [
  'argo-cd',
  'cert-manager',
  'cilium',
  'coredns',
  'flux2',
  'kube-vip',
  'kube-vip-cloud-provider',
  'metallb',
  'rook-ceph',
  'traefik',
]) {
  test(`the simulated chart ${chart} is what the real one renders`, { skip: WITHOUT_EVIDENCE }, () => {
    const release = toldOf(chart)
    const real = renderedChart(chart)
    const made = compared(objectsOf(release) as unknown as readonly KubeObject[], release.namespace)
    assert.deepEqual(made, compared(real, release.namespace))
    for (const name of Object.keys(made)) {
      if (name.startsWith('CustomResource')) COUNTS.definitions++
      else if (name.includes('Webhook')) COUNTS.webhooks++
      else if (!name.startsWith('Service ')) COUNTS.workloads++
    }
  })
}

test('nothing of them is left out', { skip: WITHOUT_EVIDENCE }, () => {
  // Two more workloads, those of garage and local-path, are no charts: presets write them out.
  assert.deepEqual(COUNTS, { workloads: 26, definitions: 82, webhooks: 3 })
})
