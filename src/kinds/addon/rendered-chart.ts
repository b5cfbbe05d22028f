import { createHash } from 'node:crypto'
import { defined } from '../../lib/defined.ts'
import { isRecord } from '../../lib/is-record.ts'
import { HOOK_RUN, type KubeObject, withData } from '../../model/kube-object.ts'
import { existingCluster } from '../cluster/existing.ts'
import type { FieldProblem, Lookup } from '../kind.ts'
import { readObject } from './read-object.ts'
import type { AddonDeclaration, ChartFields } from './schema.ts'

/* A chart on a cluster without K3s' Helm controller: croft has Helm render it and keeps what comes out, object by object. */

const PREFIX = 'chart+'

/** Everything that decides what comes out of a chart. */
export interface ChartToRender {
  readonly repo?: string
  readonly chart: string
  /** For a chart in a Git repository: `chart` is its directory there. */
  readonly git?: { readonly url: string; readonly commit: string }
  readonly version: string
  readonly release: string
  readonly namespace: string
  readonly values: string
  readonly kubeVersion?: string
  readonly apiVersions?: readonly string[]
  /** Parts of it to include apart from plain objects. Default: definitions and hooks, no tests. */
  readonly output?: { readonly crds: boolean; readonly tests: boolean; readonly hooks: boolean }
}

/** The place at which the objects of a chart are found; undefined where K3s installs it, which finds none in Git. */
export function chartPlace(
  { name, spec }: AddonDeclaration,
  chart: ChartFields,
  namespace: string,
  lookup: Pick<Lookup, 'declaration'>,
): string | undefined {
  const cluster = existingCluster(lookup, spec.cluster)
  if (cluster === undefined && chart.git === undefined) return undefined
  const { kubeVersion = kept(lookup, spec.cluster), apiVersions = [] } = cluster?.spec.charts ?? {}
  const wanted: ChartToRender = {
    ...defined({ repo: chart.name.startsWith('oci://') ? undefined : chart.repo }),
    ...(chart.git === undefined ? {} : { git: { url: chart.git.url, commit: chart.git.commit } }),
    chart: chart.git?.path ?? chart.name,
    version: chart.version,
    release: name,
    namespace,
    values: chart.values === undefined ? '' : JSON.stringify(chart.values),
    ...defined({ kubeVersion: kubeVersion?.replace(/^v/, '') }),
    ...(apiVersions.length === 0 ? {} : { apiVersions }),
  }
  return chartPlaceFor(wanted)
}

/** The version of Kubernetes on a cluster that croft runs: v1.34.3+k3s1 is 1.34.3 to a chart. */
function kept(lookup: Pick<Lookup, 'declaration'>, cluster: string): string | undefined {
  const { version } = (lookup.declaration('Cluster', cluster)?.spec ?? {}) as { readonly version?: unknown }
  return typeof version === 'string' ? version.replace(/\+.*$/, '') : undefined
}

export function chartPlaceFor(wanted: ChartToRender): string {
  return `${PREFIX}${JSON.stringify(wanted)}`
}

/** Returns the chart to render of such a place. */
export function chartAt(place: string): ChartToRender | undefined {
  return place.startsWith(PREFIX) ? (JSON.parse(place.slice(PREFIX.length)) as ChartToRender) : undefined
}

/** When an object of a chart is made: before everything else of it, or after. */
export interface ChartHook {
  readonly phase: 'pre' | 'post'
  readonly weight: number
  /** For jobs: the rendering they belong to. A new one runs them again. */
  readonly run?: string
}

export interface ChartObject {
  readonly object: KubeObject
  readonly hook?: ChartHook
  /** helm.sh/resource-policy: keep. */
  readonly keep?: true
}

/** Returns Helm's rendering of a chart for a cluster without a controller for it, and its problems. */
export function renderedObjects(
  declaration: AddonDeclaration,
  chart: ChartFields,
  place: string,
  lookup: Lookup,
): ChartObjects {
  const { spec } = declaration
  const path = ['spec', spec.chart === undefined ? 'preset' : 'chart']
  const refused = (code: string, at: FieldProblem['path'], message: string, hint: string) => ({
    objects: [],
    problems: [{ code, path: at, message, hint }],
  })
  if (chart.valuesFrom !== undefined)
    return refused(
      'secret-values',
      spec.chart === undefined ? ['spec', 'valuesFrom'] : [...path, 'valuesFrom'],
      'croft has Helm render this chart, and values from a secret would end up in plain objects',
      'put the secret under spec.secrets, and let values of the chart name that Secret',
    )
  const at = lookup.objectsAt?.(place, declaration)
  if (at !== undefined && 'objects' in at) return chartObjects(at.objects, spec, path)
  const message = at?.problem ?? 'the chart was not rendered: its Cluster must be declared in the same source'
  return {
    objects: [],
    problems: [{ code: 'no-objects', path, message, ...(at?.hint === undefined ? {} : { hint: at.hint }) }],
  }
}

export interface ChartObjects {
  readonly objects: readonly ChartObject[]
  readonly problems: readonly FieldProblem[]
}

const HOOK = 'helm.sh/hook'
/** Runs to an end, and so is run again with each new rendering. */
const RUNNING: ReadonlySet<string> = new Set(['Job', 'Pod'])

/**
 * Returns the objects of a rendered chart, hooks in order. Helm's records say whether it installs or upgrades; croft
 * has only the cluster, so it runs hooks of an installation, and refuses those only of an upgrade or removal by name
 * until a person says that they need not run. Pure.
 */
export function chartObjects(
  rendered: readonly unknown[],
  { skipHooks }: { readonly skipHooks: readonly string[] },
  path: FieldProblem['path'],
): ChartObjects {
  const problems: FieldProblem[] = []
  const objects: ChartObject[] = []
  const run = createHash('sha256').update(JSON.stringify(rendered)).digest('hex').slice(0, 12)
  for (const raw of rendered) {
    const read = readObject(raw, path, { ofChart: true })
    if ('problems' in read) {
      problems.push(...read.problems)
      continue
    }
    const object = withData(read.object)
    const { annotations = {}, name } = object.metadata
    const events = (annotations[HOOK] ?? '')
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '')
    if (events.length === 0 || events.includes('crd-install')) {
      objects.push({ object, ...(annotations['helm.sh/resource-policy'] === 'keep' ? { keep: true as const } : {}) })
      continue
    }
    if (skipHooks.includes(name)) continue
    const phase = events.includes('pre-install') ? 'pre' : events.includes('post-install') ? 'post' : undefined
    if (phase === undefined) {
      const meant = events.filter((one) => !one.startsWith('test') && !one.endsWith('-rollback'))
      if (meant.length === 0) continue
      problems.push({
        code: 'hook',
        path,
        message: `the chart has a hook for ${meant.join(', ')} (${object.kind} ${name}), which croft does not run on this cluster`,
        hint: `add ${name} to skipHooks if it need not run, or say install: helm`,
      })
      continue
    }
    const again = events.includes(`${phase}-upgrade`)
    const weight = Number.parseInt(annotations['helm.sh/hook-weight'] ?? '0', 10)
    const hook = { phase, weight: Number.isNaN(weight) ? 0 : weight } as const
    if (!RUNNING.has(object.kind)) objects.push({ object, hook })
    else
      objects.push({ object: marked(object, again ? run : 'install'), hook: { ...hook, run: again ? run : 'install' } })
  }
  return { objects, problems }
}

/** Keeps a finished hook as the proof that it ran: without it, the hook would run again. */
function marked(object: KubeObject, run: string): KubeObject {
  const { metadata } = object
  const spec = isRecord(object.spec) ? object.spec : {}
  const { ttlSecondsAfterFinished: _, ...kept } = spec
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, [HOOK_RUN]: run } }, spec: kept }
}

/** The keys of the hooks of a phase as Helm runs them: by weight, then by name. */
export function hooksInOrder<Key>(
  all: readonly { readonly key: Key; readonly object: KubeObject; readonly ofChart?: Omit<ChartObject, 'object'> }[],
  phase: ChartHook['phase'],
): readonly Key[] {
  const name = ({ kind, metadata }: KubeObject) => `${RUNNING.has(kind) ? 1 : 0} ${metadata.name} ${kind}`
  return all
    .filter(({ ofChart }) => ofChart?.hook?.phase === phase)
    .toSorted(
      (a, b) =>
        (a.ofChart?.hook?.weight ?? 0) - (b.ofChart?.hook?.weight ?? 0) || (name(a.object) < name(b.object) ? -1 : 1),
    )
    .map(({ key }) => key)
}
