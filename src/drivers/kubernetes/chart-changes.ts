import { isRecord } from '../../kubernetes/objects.ts'
import type { Steps } from '../../lib/in-turns.ts'
import type { Change } from '../../model/change.ts'
import type { ChartObjectPreview, ChartPreview } from '../../model/plan.ts'
import type { RenderedObject } from '../chart-port.ts'
import { previewChanges } from './preview.ts'

/** Labels that a chart puts on everything to name itself and its version. On a pod they matter: it is made anew. */
const VERSION_LABELS: ReadonlySet<string> = new Set([
  'metadata.labels.helm.sh/chart',
  'metadata.labels.app.kubernetes.io/version',
])

/**
 * What differs between two renderings of a chart, object by object and field by field. `again` is the second one once
 * more: what differs there differs by itself, and says nothing about the change. Pure; one object in a step.
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
    // Rendered alike both times, nothing of it is unsteady.
    const shaky = new Set((again === undefined ? [] : changesOf(object, other.get(id) ?? {})).map(({ path }) => path))
    if (shaky.size > 0) unsteady.push(id)
    const former = old.get(id)
    if (former === undefined) {
      objects.push({ id, becomes: 'added', changes: [] })
      continue
    }
    const changes = changesOf(former, object).filter(({ path }) => !shaky.has(path))
    if (changes.length === 0) continue
    if (changes.every(({ path }) => VERSION_LABELS.has(path))) relabelled++
    else objects.push({ id, becomes: 'changed', changes: isSecret(object) ? [] : changes })
  }
  for (const id of old.keys()) if (!next.has(id)) objects.push({ id, becomes: 'removed', changes: [] })
  return { objects: objects.toSorted((a, b) => (a.id < b.id ? -1 : 1)), total: next.size, relabelled, unsteady }
}

function changesOf(from: RenderedObject, to: RenderedObject): readonly Change[] {
  return previewChanges(from, to)
}

function isSecret({ kind }: RenderedObject): boolean {
  return kind === 'Secret'
}

/** By kind, group and name: an object of which the version of its API changes is the same object. */
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
