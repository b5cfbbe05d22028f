import { at, type Foreign, isRecord, recordOf, recordsOf, textOf } from '../../kubernetes/objects.ts'
import { inTurns, type Steps } from '../../lib/in-turns.ts'
import type { WantedObject } from '../../model/kube-object.ts'
import type { ChartObjectPreview, ChartPreview } from '../../model/plan.ts'
import type { ObservedResource } from '../../model/resource.ts'
import type { Secret, SecretReference } from '../../model/secret.ts'
import type { Step } from '../../model/step.ts'
import type { ChartRequest, RenderedObject } from '../chart-port.ts'
import type { DriverDeps } from '../port.ts'
import { lookOf } from './marks.ts'
import { previewChanges } from './preview.ts'

/** What else is known where a chart is previewed. */
export interface ChartSurroundings {
  readonly wanted: readonly WantedObject[]
  /** Those of them that a source with a grant declares. */
  readonly held: readonly WantedObject[]
  readonly version: string | undefined
}

/**
 * Compares the rendered templates of a chart's new declaration and of the live one. Undefined: it is no chart, or no
 * input of its templates changes.
 */
export async function chartPreview(
  { charts, clock, resolveSecret }: Pick<DriverDeps, 'charts' | 'clock' | 'resolveSecret'>,
  step: Step,
  observed: ObservedResource | undefined,
  { wanted, held, version }: ChartSurroundings,
  signal: AbortSignal,
): Promise<ChartPreview | undefined> {
  if (charts === undefined || step.lane !== 'object' || step.write.do !== 'apply') return undefined
  const object = step.write.body
  if (!isChart(object)) return undefined
  // Helm would go to any place from here, with secret values that the tenant may not see.
  if (held.some((one) => isObject(one, object)))
    return notRendered('held', 'not rendered: croft fetches no chart for a source with a grant')
  const live = observed === undefined ? undefined : lookOf(observed).object
  const hidden = await hiddenValues(object, wanted, resolveSecret)
  const more = { ...(hidden === undefined ? {} : { hidden }), ...kubeVersion(version) }
  const installed = live !== undefined && isChart(live)
  const next = { ...requestOf(object), ...more, upgrade: installed }
  const before = installed ? { ...requestOf(live), ...more, upgrade: true } : undefined
  if (before !== undefined && isSame(before, next)) return undefined
  // From another place it is another chart, and Git may never have named the place in the cluster.
  const former = before !== undefined && samePlace(before, next) ? before : undefined
  if (former === undefined && !charts.newPlaces)
    return notRendered('new-place', 'not rendered before it is in force: no cluster has this chart from there yet')
  const after = await charts.render(next, signal)
  if (after.is === 'no-helm') return notRendered('no-helm', NO_HELM)
  if (after.is === 'failed') return notRendered('failed', after.message)
  if (former === undefined) return inTurns(compareRenderings(undefined, after.objects, after.again), clock)
  const then = await charts.render(former, signal)
  if (then.is !== 'objects') return notRendered('failed', then.is === 'failed' ? then.message : NO_HELM)
  return inTurns(compareRenderings(then.objects, after.objects, after.again), clock)
}

export const NO_HELM =
  'charts are compared by their values: with helm in PATH (or CROFT_HELM) their objects are shown as well'

type Why = NonNullable<ChartPreview['notRendered']>['why']

export function notRendered(why: Why, message: string): ChartPreview {
  return { objects: [], total: 0, relabelled: 0, unsteady: [], notRendered: { why, message } }
}

function isObject({ object: { apiVersion, kind, metadata } }: WantedObject, found: Foreign): boolean {
  const isSame = apiVersion === found.apiVersion && kind === found.kind
  return (
    isSame &&
    metadata.name === at(found, 'metadata', 'name') &&
    metadata.namespace === at(found, 'metadata', 'namespace')
  )
}

function isChart({ kind, apiVersion }: RenderedObject): boolean {
  return kind === 'HelmChart' && apiVersion === 'helm.cattle.io/v1'
}

/** Returns the inputs that K3s's Helm controller reads from a HelmChart. */
function requestOf(object: Foreign): Omit<ChartRequest, 'upgrade'> {
  const spec = recordOf(object.spec)
  const repo = textOf(spec.repo)
  return {
    chart: textOf(spec.chart) ?? '',
    ...(repo === undefined || repo === '' ? {} : { repo }),
    version: textOf(spec.version) ?? '',
    release: textOf(at(object, 'metadata', 'name')) ?? '',
    namespace: textOf(spec.targetNamespace) ?? textOf(at(object, 'metadata', 'namespace')) ?? '',
    values: textOf(spec.valuesContent) ?? '',
  }
}

function isSame(a: ChartRequest, b: ChartRequest): boolean {
  return samePlace(a, b) && a.version === b.version && a.values === b.values && a.namespace === b.namespace
}

function samePlace(a: ChartRequest, b: ChartRequest): boolean {
  return a.repo === b.repo && a.chart === b.chart
}

/** Returns `v1.34.3+k3s1` as charts know it: 1.34.3. */
function kubeVersion(version: string | undefined): { readonly kubeVersion?: string } {
  const found = /^v?(\d+\.\d+\.\d+)/.exec(version ?? '')?.[1]
  return found === undefined ? {} : { kubeVersion: found }
}

/** Returns the secret values that this chart reads, if they are declared beside it and readable. */
async function hiddenValues(
  object: Foreign,
  wanted: readonly WantedObject[],
  resolveSecret: (reference: SecretReference) => Promise<Secret>,
): Promise<Secret | undefined> {
  const names = recordsOf(at(object, 'spec', 'valuesSecrets')).map(({ name }) => name)
  const namespace = at(object, 'metadata', 'namespace')
  const secret = wanted.find(
    ({ object: { kind, metadata } }) =>
      kind === 'Secret' && metadata.namespace === namespace && names.includes(metadata.name),
  )
  const [reference] = isRecord(secret?.secrets) ? Object.values(secret.secrets) : []
  return reference === undefined ? undefined : resolveSecret(reference).catch(() => undefined)
}

/** Labels with a chart's name and version. On a pod template they matter: the pods are recreated. */
const VERSION_LABELS: ReadonlySet<string> = new Set([
  'metadata.labels.helm.sh/chart',
  'metadata.labels.app.kubernetes.io/version',
])

/**
 * Returns what differs between two renderings of a chart, by object and field. `again` is another run of the second
 * one: what differs between these two is random and says nothing about the change. Pure; one object per step.
 */
export function* compareRenderings(
  before: readonly RenderedObject[] | undefined,
  after: readonly RenderedObject[],
  again: readonly RenderedObject[] | undefined,
): Steps<ChartPreview> {
  const [old, next, other] = [byId(before ?? []), byId(after), byId(again ?? [])]
  const objects: ChartObjectPreview[] = []
  const unsteady: string[] = []
  let relabelled = 0
  for (const [id, object] of next) {
    yield
    // If two renderings are equal, no field is random.
    const shaky = new Set(
      (again === undefined ? [] : previewChanges(object, other.get(id) ?? {})).map(({ path }) => path),
    )
    if (shaky.size > 0) unsteady.push(id)
    const former = old.get(id)
    if (former === undefined) {
      objects.push({ id, becomes: 'added', changes: [] })
      continue
    }
    const changes = previewChanges(former, object).filter(({ path }) => !shaky.has(path))
    if (changes.length === 0) continue
    if (changes.every(({ path }) => VERSION_LABELS.has(path))) relabelled++
    else objects.push({ id, becomes: 'changed', changes: isSecret(object) ? [] : changes })
  }
  for (const id of old.keys()) if (!next.has(id)) objects.push({ id, becomes: 'removed', changes: [] })
  return { objects: objects.toSorted((a, b) => (a.id < b.id ? -1 : 1)), total: next.size, relabelled, unsteady }
}

function isSecret({ kind }: RenderedObject): boolean {
  return kind === 'Secret'
}

/** Indexes by kind, group and name: an object with another API version is the same object. */
function byId(objects: readonly RenderedObject[]): ReadonlyMap<string, RenderedObject> {
  const found = new Map<string, RenderedObject>()
  for (const object of objects) {
    const metadata = isRecord(object.metadata) ? object.metadata : {}
    if (typeof object.kind !== 'string' || typeof metadata.name !== 'string') continue
    const [group, version] = typeof object.apiVersion === 'string' ? object.apiVersion.split('/') : []
    const sort = version === undefined ? object.kind : `${object.kind}.${group}`
    const place = typeof metadata.namespace === 'string' ? `${metadata.namespace}/` : ''
    found.set(`${sort}/${place}${metadata.name}`, object)
  }
  return found
}
