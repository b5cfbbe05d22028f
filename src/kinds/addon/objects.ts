import { defined } from '../../lib/defined.ts'
import { isRecord } from '../../lib/is-record.ts'
import { type KubeObject, likelyKind } from '../../model/kube-object.ts'
import type { SecretReference } from '../../model/secret.ts'
import { existingCluster } from '../cluster/existing.ts'
import { secretReferenceOf } from '../fields/ssh.ts'
import type { FieldProblem, Lookup } from '../kind.ts'
import { chartConfigObject, chartObject, valuesSecret } from './chart.ts'
import { clusterFacts } from './cluster-facts.ts'
import { agentSecret, keepersOf } from './handover.ts'
import type { ClusterFacts } from './presets/preset.ts'
import { PRESETS } from './presets/registry.ts'
import { readObject } from './read-object.ts'
import { installOf, releaseObject, releaseProblems } from './release.ts'
import { type ChartObject, chartPlace, renderedObjects } from './rendered-chart.ts'
import type { AddonDeclaration, AddonSpec, ChartFields } from './schema.ts'

/** One object of an add-on, before its dependencies are resolved. */
export interface AddonObject {
  readonly object: KubeObject
  readonly plural: string
  readonly namespaced: boolean
  readonly secrets?: Readonly<Record<string, SecretReference>>
  /** The one by which another is to keep the rest. */
  readonly keeper?: true
  /** Set for objects of a chart that croft renders itself. */
  readonly ofChart?: Omit<ChartObject, 'object'>
}

export interface AddonObjects {
  readonly objects: readonly AddonObject[]
  /** The objects that show whether another tool keeps the chart, and the objects beside it. */
  readonly keptBy: { readonly chart?: KubeObject; readonly objects?: KubeObject }
  readonly problems: readonly FieldProblem[]
}

/** Cached results: each add-on asks for those of all others, and they depend on nothing else. */
const known = new WeakMap<Lookup, Map<AddonDeclaration, AddonObjects>>()

/** Everything that an add-on puts on its cluster, its namespace aside. The same text, the same objects. */
export function objectsOf(declaration: AddonDeclaration, lookup: Lookup): AddonObjects {
  const before = known.get(lookup) ?? new Map<AddonDeclaration, AddonObjects>()
  known.set(lookup, before)
  const objects = before.get(declaration) ?? workOut(declaration, lookup)
  before.set(declaration, objects)
  return objects
}

/** Estimates the number of objects without expanding them. */
export function sizeOf(declaration: AddonDeclaration, lookup: Lookup): number {
  const { spec } = declaration
  return placesOf(spec).reduce(
    (sum, { place }) => {
      const at = lookup.objectsAt?.(place, declaration)
      return sum + (at !== undefined && 'objects' in at ? at.objects.length : 0)
    },
    1 + (spec.objects ?? []).length + (spec.secrets ?? []).length,
  )
}

function workOut(declaration: AddonDeclaration, lookup: Lookup): AddonObjects {
  const { spec, name } = declaration
  const problems: FieldProblem[] = []
  const namespace = namespaceOf(declaration)
  const found: Omit<AddonObject, 'plural' | 'namespaced'>[] = []

  const facts = clusterFacts(lookup, spec.cluster)
  problems.push(...presetProblems(declaration, facts))
  const chart = chartOf(declaration, facts)
  const byHelm = chart !== undefined && installOf(spec) === 'helm'
  const place = chart === undefined || byHelm ? undefined : chartPlace(declaration, chart, namespace, lookup)
  if (chart !== undefined && byHelm) {
    problems.push(...releaseProblems(declaration, chart, lookup))
    found.push(releaseObject(name, namespace, chart))
  } else if (chart !== undefined && place !== undefined) {
    const made = renderedObjects(declaration, chart, place, lookup)
    problems.push(...made.problems)
    found.push(...made.objects.map(({ object, ...ofChart }) => ({ object, ofChart })))
  } else if (chart !== undefined) {
    const values = valuesSecret(name, chart)
    if (values !== undefined) found.push(values)
    const forAgent = agentSecret(declaration, chart)
    if (forAgent !== undefined) found.push(forAgent)
    found.push({ object: chartObject(name, namespace, chart) })
  }
  if (spec.chartConfig !== undefined && existingCluster(lookup, spec.cluster) !== undefined)
    problems.push({
      code: 'no-chart-config',
      path: ['spec', 'chartConfig'],
      message: `chartConfig is for charts that K3s brings, and Cluster ${spec.cluster} is of type existing`,
    })
  else if (spec.chartConfig !== undefined) found.push({ object: chartConfigObject(spec.chartConfig) })
  if (spec.preset !== undefined) found.push(...presetObjects(declaration, facts).map((object) => ({ object })))
  const written: readonly { readonly raw: unknown; readonly path: FieldProblem['path'] }[] = [
    ...(spec.objects ?? []).map((raw, index) => ({ raw, path: ['spec', 'objects', index] })),
    ...placesOf(spec).flatMap(({ place, path }) => {
      const at = lookup.objectsAt?.(place, declaration)
      if (at !== undefined && 'objects' in at) return at.objects.map((raw) => ({ raw, path }))
      const message = at?.problem ?? `${place} could not be looked into here`
      problems.push({ code: 'no-objects', path, message, ...(at?.hint === undefined ? {} : { hint: at.hint }) })
      return []
    }),
  ]
  for (const { raw, path } of written) {
    const read = readObject(raw, path)
    if ('problems' in read) problems.push(...read.problems)
    else found.push({ object: read.object })
  }
  for (const one of spec.secrets ?? []) {
    const data: Record<string, SecretReference> = {}
    for (const [key, reference] of Object.entries(one.data)) data[key] = secretReferenceOf(reference)
    const metadata = {
      name: one.name,
      namespace: one.namespace ?? namespace,
      ...defined({ labels: one.labels, annotations: one.annotations }),
    }
    found.push({ object: { apiVersion: 'v1', kind: 'Secret', metadata, type: one.type }, secrets: data })
  }
  const scopes = definedScopes(found.map(({ object }) => object))
  const own = found.map((one): AddonObject => {
    const kind = scopes.get(`${groupOf(one.object)} ${one.object.kind}`) ?? likelyKind(one.object)
    return { ...one, object: placed(one.object, kind.namespaced, namespace), ...kind }
  })
  const keepers = keepersOf(
    declaration,
    chart,
    namespace,
    own.map(({ object }) => object),
    place !== undefined,
  )
  const [chartKeeper, objectsKeeper] = [keepers.chart.at(-1), keepers.objects.at(-1)]
  return {
    objects: [
      ...own,
      ...[...keepers.chart, ...keepers.objects].map(
        (object): AddonObject => ({ object, keeper: true, ...likelyKind(object) }),
      ),
    ],
    keptBy: {
      ...defined({ chart: chartKeeper, objects: objectsKeeper }),
    },
    problems,
  }
}

/** The place of the chart of an add-on, where croft renders it: what must be rendered before it is linked. */
export function chartPlaceOf(declaration: AddonDeclaration, lookup: Pick<Lookup, 'declaration'>): string | undefined {
  const chart = chartOf(declaration, clusterFacts(lookup, declaration.spec.cluster))
  return chart === undefined || installOf(declaration.spec) === 'helm'
    ? undefined
    : chartPlace(declaration, chart, namespaceOf(declaration), lookup)
}

/** The namespace of an add-on: its own, its preset's, or the default one. */
export function namespaceOf({ spec }: AddonDeclaration): string {
  return spec.namespace ?? (spec.preset === undefined ? undefined : PRESETS[spec.preset].namespace) ?? 'default'
}

export function groupOf({ apiVersion }: Pick<KubeObject, 'apiVersion'>): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
}

/** The chart of an add-on, its own or its preset's. */
export function chartOf(declaration: AddonDeclaration, cluster: ClusterFacts): ChartFields | undefined {
  const { spec, name } = declaration
  if (spec.chart !== undefined) return namedChart(spec.chart)
  if (spec.preset === undefined) return undefined
  const preset = PRESETS[spec.preset]
  const fields = preset.fields.safeParse(spec.with ?? {})
  const version = spec.version ?? preset.version
  const asked = fields.success
    ? preset.chart?.(fields.data, { name, namespace: namespaceOf(declaration), version, cluster })
    : undefined
  if (asked === undefined) return undefined
  const { repo, bootstrap = false } = asked
  return {
    name: asked.name,
    version,
    bootstrap,
    values: merged(asked.values, spec.values ?? {}),
    failurePolicy: spec.failurePolicy ?? 'abort',
    ...defined({ valuesFrom: spec.valuesFrom, repo }),
  }
}

/** A chart in Git is called by its directory, and its commit is the version. */
function namedChart(chart: NonNullable<AddonSpec['chart']>): ChartFields {
  const { git, name = git?.path.replace(/^.*\//, '') ?? '', version = git?.commit ?? '' } = chart
  return { ...chart, name, version }
}

type Values = Readonly<Record<string, unknown>>

/** A person's values over the preset's own, as Helm lays one file of values over another: lists are taken whole. */
function merged(own: Values, over: Values): Record<string, unknown> {
  const all: Record<string, unknown> = { ...own }
  for (const [name, value] of Object.entries(over)) {
    const before = Object.hasOwn(all, name) ? all[name] : undefined
    all[name] = isRecord(before) && isRecord(value) ? merged(before, value) : value
  }
  return all
}

function presetProblems({ spec }: AddonDeclaration, cluster: ClusterFacts): readonly FieldProblem[] {
  if (spec.preset === undefined) return []
  const preset = PRESETS[spec.preset]
  const fields = preset.fields.safeParse(spec.with ?? {})
  if (!fields.success) return []
  return (preset.problems?.(fields.data, cluster) ?? []).map(({ path, ...rest }) => ({
    code: 'bad-value',
    path: ['spec', 'with', ...path],
    ...rest,
  }))
}

function presetObjects(declaration: AddonDeclaration, cluster: ClusterFacts): readonly KubeObject[] {
  const { spec, name } = declaration
  if (spec.preset === undefined) return []
  const preset = PRESETS[spec.preset]
  const fields = preset.fields.safeParse(spec.with ?? {})
  if (!fields.success) return []
  const context = { name, namespace: namespaceOf(declaration), version: spec.version ?? preset.version, cluster }
  return preset.objects?.(fields.data, context) ?? []
}

/** Returns the places of manifests outside the declaration. */
export function placesOf(spec: AddonSpec): readonly { readonly place: string; readonly path: FieldProblem['path'] }[] {
  return [
    ...(spec.path === undefined ? [] : [{ place: spec.path, path: ['spec', 'path'] }]),
    ...(spec.url === undefined ? [] : [{ place: `${spec.url.url}#${spec.url.sha256}`, path: ['spec', 'url'] }]),
    ...(spec.oci === undefined ? [] : [{ place: `oci://${spec.oci}`, path: ['spec', 'oci'] }]),
    ...(spec.git === undefined
      ? []
      : [{ place: `git+${spec.git.url}#${spec.git.commit}:${spec.git.path}`, path: ['spec', 'git'] }]),
  ]
}

function placed(object: KubeObject, namespaced: boolean, namespace: string): KubeObject {
  const { namespace: own, ...metadata } = object.metadata
  const meant = { ...metadata, ...(namespaced ? { namespace: own ?? namespace } : {}) } as KubeObject['metadata']
  return { ...object, metadata: meant }
}

/** Returns names and scopes of the kinds that the add-on itself defines. */
function definedScopes(objects: readonly KubeObject[]): ReadonlyMap<string, { plural: string; namespaced: boolean }> {
  const scopes = new Map<string, { plural: string; namespaced: boolean }>()
  for (const { kind, spec } of objects) {
    if (kind !== 'CustomResourceDefinition') continue
    const { group, scope, names } = (spec ?? {}) as {
      group?: unknown
      scope?: unknown
      names?: { kind?: unknown; plural?: unknown }
    }
    if (typeof names?.kind !== 'string' || typeof names.plural !== 'string') continue
    scopes.set(`${String(group)} ${names.kind}`, { plural: names.plural, namespaced: scope === 'Namespaced' })
  }
  return scopes
}
