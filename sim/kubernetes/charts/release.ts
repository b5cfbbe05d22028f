import { defined } from '../../../src/lib/defined.ts'
import { yamlLibrary } from '../../../src/lib/yaml-library.ts'
import { type KubeObject, type Tree, text, tree } from '../object.ts'
import { BESIDE_TEMPLATES, DEFINITIONS, type Definition, definitionsIn } from './definitions.ts'
import type { ChartFacts, WorkloadFacts } from './facts.ts'
import { NETWORK_CHARTS } from './network-charts.ts'
import { PLATFORM_CHARTS } from './platform-charts.ts'

/** One chart under its name in one namespace, with its values. */
export interface Release {
  readonly chart: string
  readonly version: string
  readonly name: string
  readonly namespace: string
  readonly values: Tree
}

/** What a HelmChart asks for, over the values that others lay over it. */
export function releaseOf(chart: KubeObject, more: readonly unknown[] = []): Release {
  const spec = tree(chart.spec)
  const { name, namespace = 'kube-system' } = chart.metadata
  const called = text(spec.chart) || name
  const archive = /\/([a-z][a-z0-9-]*?)-(\d[^/]*)\.tgz$/.exec(called)
  const written = [spec.valuesContent, ...more].map((one) =>
    text(one) === '' ? {} : tree(yamlLibrary().parse(text(one))),
  )
  return {
    chart: archive?.[1] ?? called.replace(/^.*\//, ''),
    version: archive?.[2] ?? text(spec.version),
    name,
    namespace: text(spec.targetNamespace) || namespace,
    values: written.reduce((all, one) => laidOver(all, one), {}),
  }
}

function laidOver(under: Tree, over: Tree): Tree {
  const all: Record<string, unknown> = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const both = isTree(all[key]) && isTree(value)
    all[key] = both ? laidOver(tree(all[key]), tree(value)) : value
  }
  return all
}

function isTree(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function valueAt(values: Tree, path: string): unknown {
  return path.split('.').reduce<unknown>((here, key) => tree(here)[key], values)
}

/** Returns undefined for an unknown chart, which brings nothing. */
export function factsOf({ chart }: Pick<Release, 'chart'>): ChartFacts | undefined {
  return NETWORK_CHARTS[chart] ?? PLATFORM_CHARTS[chart]
}

/** Everything that a release puts into a cluster, definitions first. Pure. */
export function objectsOf(release: Release): readonly KubeObject[] {
  const facts = factsOf(release)
  if (facts === undefined) return []
  return [
    ...definitionsOf(release).map((one) => definitionObject(one, release)),
    ...(facts.services ?? []).map((one) => serviceObject(one, release)),
    ...facts.workloads.map((one) => workloadObject(one, release)),
    ...(facts.webhooks ?? []).map((one) => webhookObject(one, release)),
  ]
}

function definitionsOf({ chart, values }: Release): readonly Definition[] {
  if (chart === 'cert-manager' && valueAt(values, 'crds.enabled') !== true) return []
  if (chart === 'flux2' && valueAt(values, 'crds.annotations')) {
    const keep = tree(valueAt(values, 'crds.annotations'))['helm.sh/resource-policy'] === 'keep'
    return definitionsIn(DEFINITIONS.flux2 ?? '').map((one) => ({ ...one, keep }))
  }
  const table = DEFINITIONS[chart]
  return table === undefined ? [] : definitionsIn(table)
}

export function definitionObject(one: Definition, release?: Release): KubeObject {
  const { group, kind, plural, scope, versions, keep } = one
  // What Helm finds beside the templates is no part of the release.
  const inRelease = release !== undefined && !BESIDE_TEMPLATES.has(release.chart)
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      ...(inRelease ? ownership(release, {}, keep ? { 'helm.sh/resource-policy': 'keep' } : {}) : {}),
    },
    spec: {
      group,
      scope,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: versions.map((version, index) => ({
        name: version,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: { type: 'object' } },
      })),
    },
  }
}

/** What Helm writes on everything that is part of a release. */
function ownership({ name, namespace }: Release, labels: Labels, annotations: Labels = {}) {
  return {
    labels: { ...labels, 'app.kubernetes.io/managed-by': 'Helm' },
    annotations: {
      ...annotations,
      'meta.helm.sh/release-name': name,
      'meta.helm.sh/release-namespace': namespace,
    },
  }
}

type Labels = Readonly<Record<string, string>>

function filled(labels: Labels, { name, namespace }: Release): Labels {
  return Object.fromEntries(
    Object.entries(labels).map(([key, value]) => [
      key,
      value.replaceAll('{release}', name).replaceAll('{namespace}', namespace),
    ]),
  )
}

function workloadObject(one: WorkloadFacts, release: Release): KubeObject {
  const { chart, version, values } = release
  const selector = filled(one.selector, release)
  const plain = { ...selector, ...filled(one.podLabels ?? {}, release) }
  const own = one.labels === undefined ? plain : filled(one.labels, release)
  const versionLabels = { 'helm.sh/chart': `${chart}-${version}`.replace('+', '_') }
  const podLabels = {
    ...plain,
    ...(one.podsSayVersion === undefined ? {} : versionLabels),
    ...(one.podsSayVersion === 'all' ? { 'app.kubernetes.io/managed-by': 'Helm' } : {}),
  }
  const [path, otherwise = 1] = one.replicas ?? []
  const asked = path === undefined ? undefined : valueAt(values, path)
  // Only the chart of CoreDNS is told by presets where it may run.
  const given = chart === 'coredns' || chart === 'traefik' ? values : {}
  const tolerations = given.tolerations ?? one.tolerations
  const priority = text(given.priorityClassName) || one.priority
  return {
    apiVersion: 'apps/v1',
    kind: one.kind,
    metadata: { name: one.name, namespace: release.namespace, ...ownership(release, { ...own, ...versionLabels }) },
    spec: {
      ...(one.kind === 'DaemonSet' ? {} : { replicas: asked === undefined ? otherwise : Number(asked) }),
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: podLabels },
        spec: {
          ...(one.hostNetwork === undefined ? {} : { hostNetwork: true }),
          ...defined({ priorityClassName: priority, tolerations, nodeSelector: one.nodeSelector }),
          ...(one.apart === undefined ? {} : { affinity: apart(one.apart) }),
          containers: one.containers.map((name) => ({
            name,
            image: `registry.example/${name}:sim`,
            ...wayToApi(release),
          })),
        },
      },
    },
    status: {},
  }
}

/** Cilium is told where the API is when no Service works yet. */
function wayToApi({ chart, values }: Release): Tree {
  const { k8sServiceHost: host, k8sServicePort: port } = values
  if (chart !== 'cilium' || host === undefined) return {}
  const named = { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port ?? 6443 }
  return {
    env: Object.entries(named).map(([name, value]) => ({
      name,
      value: typeof value === 'string' ? value : JSON.stringify(value),
    })),
  }
}

function apart(matchLabels: Labels): Tree {
  const term = { labelSelector: { matchLabels }, topologyKey: 'kubernetes.io/hostname' }
  return { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } }
}

function serviceObject(one: NonNullable<ChartFacts['services']>[number], release: Release): KubeObject {
  const { values } = release
  const called = release.chart === 'coredns' ? text(valueAt(values, 'service.name')) || one.name : one.name
  const clusterIP = one.headless ? 'None' : valueAt(values, 'service.clusterIP')
  const loadBalancerIP = valueAt(values, 'service.spec.loadBalancerIP')
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: called, namespace: release.namespace, ...ownership(release, {}) },
    spec: {
      type: one.type ?? 'ClusterIP',
      selector: filled(one.selector, release),
      ports: one.ports.map((port) => ({ port, protocol: 'TCP', targetPort: port })),
      ...defined({ clusterIP }),
      ...(loadBalancerIP === undefined || one.type === undefined ? {} : { loadBalancerIP }),
    },
    status: { loadBalancer: {} },
  }
}

function webhookObject(one: NonNullable<ChartFacts['webhooks']>[number], release: Release): KubeObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: one.kind,
    metadata: { name: one.name, ...ownership(release, {}) },
    webhooks: one.hooks.map(({ name, service, rules }) => ({
      name,
      rules,
      failurePolicy: 'Fail',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      clientConfig: { service: { name: service, namespace: release.namespace, port: 443 } },
    })),
  }
}
