import { defined } from '../lib/defined.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { ResourceRow } from './render/resources.ts'
import type { LoadedEstate } from './runtime.ts'

/** Joins what Git declares with what the store remembers. Records whose declaration is gone are rows of their own. */
export function rowsOf(loaded: LoadedEstate | undefined, records: readonly ResourceRecord[]): readonly ResourceRow[] {
  const recordOf = new Map(records.map((record) => [record.key, record]))
  const kept = new Set(loaded?.estate.resources.map((resource) => resource.key))
  const rows: ResourceRow[] = []
  for (const declaration of loaded?.declarations ?? []) {
    const record = recordOf.get(declaration.key)
    recordOf.delete(declaration.key)
    rows.push({
      key: declaration.key,
      kind: declaration.kind,
      name: declaration.name,
      ...defined({ namespace: declaration.namespace }),
      apiVersion: declaration.apiVersion,
      labels: declaration.labels,
      annotations: declaration.annotations,
      spec: declaration.spec,
      origin: declaration.origin,
      ...defined({ record }),
      passive: record === undefined && !kept.has(declaration.key),
    })
  }
  // A declaration may expand into resources with keys of their own (an Image into one file per host).
  const declared = new Set(rows.map((row) => row.key))
  for (const resource of loaded?.estate.resources ?? []) {
    if (declared.has(resource.key)) continue
    const record = recordOf.get(resource.key)
    // Skip it: no resource needs it so far.
    if (record === undefined && resource.justInCase === true) continue
    recordOf.delete(resource.key)
    rows.push({
      ...partsOf(resource.key),
      key: resource.key,
      labels: {},
      origin: resource.origin,
      ...defined({ record }),
      passive: false,
    })
  }
  // Resources with observed values: the files alone do not show whether they are declared.
  const waiting = loaded?.estate.later?.waiting ?? []
  const later = ({ key, composedBy }: ResourceRecord) =>
    waiting.find((one) => (one.key === undefined ? one.instance === composedBy?.instance : one.key === key))
  for (const record of recordOf.values()) {
    const instance = later(record)?.instance
    rows.push({ ...partsOf(record.key), key: record.key, labels: {}, record, passive: false, ...defined({ instance }) })
  }
  return rows.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}

function partsOf(key: string): { readonly kind: string; readonly name: string; readonly namespace?: string } {
  const [kind = '', first = '', ...rest] = key.split('/')
  return rest.length === 0 ? { kind, name: first } : { kind, namespace: first, name: rest.join('/') }
}
