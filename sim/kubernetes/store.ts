import type { KubeObject, Metadata } from './object.ts'

/** What etcd holds for Kubernetes: objects by resource (`apps/deployments`, `/nodes`) and by `namespace/name`. */
export interface Store {
  revision: number
  readonly tables: Map<string, Map<string, KubeObject>>
  /** The newest changes, oldest first: what a watch may begin from. */
  readonly changes: Change[]
  /** Changes up to this revision are forgotten. */
  compacted: number
  readonly listeners: Set<(change: Change) => void>
}

export interface Change {
  readonly revision: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly resource: string
  readonly object: KubeObject
  readonly before?: KubeObject
}

/** What a snapshot or a member's disk holds: everything as it was at one revision. */
export interface Frozen {
  readonly revision: number
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, KubeObject>>
}

/** etcd compacts every five minutes; here by number, which needs no timer. */
const CHANGES_KEPT = 2000

export function createStore(frozen?: Frozen): Store {
  const tables = new Map<string, Map<string, KubeObject>>()
  for (const [resource, table] of frozen?.tables ?? []) tables.set(resource, new Map(table))
  const revision = frozen?.revision ?? 1
  return { revision, tables, changes: [], compacted: revision, listeners: new Set() }
}

export function freeze(store: Store): Frozen {
  const tables = new Map<string, ReadonlyMap<string, KubeObject>>()
  for (const [resource, table] of store.tables) tables.set(resource, new Map(table))
  return { revision: store.revision, tables }
}

export function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`
}

export function find(store: Store, resource: string, namespace: string | undefined, name: string) {
  return store.tables.get(resource)?.get(keyOf(namespace, name))
}

/** Returns a copy, so that the caller may write while it iterates. */
export function all(store: Store, resource: string): KubeObject[] {
  const table = store.tables.get(resource)
  return table === undefined ? [] : [...table.values()]
}

/** Writes the object with its new resource version, and answers it as it is stored. */
export function put(store: Store, resource: string, object: KubeObject): KubeObject {
  let table = store.tables.get(resource)
  if (table === undefined) {
    table = new Map()
    store.tables.set(resource, table)
  }
  const key = keyOf(object.metadata.namespace, object.metadata.name)
  const before = table.get(key)
  store.revision += 1
  const stored = { ...object, metadata: { ...object.metadata, resourceVersion: `${store.revision}` } }
  table.set(key, stored)
  note(store, {
    revision: store.revision,
    type: before === undefined ? 'ADDED' : 'MODIFIED',
    resource,
    object: stored,
    ...(before === undefined ? {} : { before }),
  })
  return stored
}

export function remove(store: Store, resource: string, namespace: string | undefined, name: string): void {
  const table = store.tables.get(resource)
  const key = keyOf(namespace, name)
  const before = table?.get(key)
  if (table === undefined || before === undefined) return
  table.delete(key)
  store.revision += 1
  const metadata: Metadata = { ...before.metadata, resourceVersion: `${store.revision}` }
  note(store, { revision: store.revision, type: 'DELETED', resource, object: { ...before, metadata }, before })
}

/** Changes an object if it is there. Undefined from `change` leaves it alone. */
export function update(
  store: Store,
  resource: string,
  namespace: string | undefined,
  name: string,
  change: (object: KubeObject) => KubeObject | undefined,
): KubeObject | undefined {
  const before = find(store, resource, namespace, name)
  const after = before === undefined ? undefined : change(before)
  return after === undefined || after === before ? before : put(store, resource, after)
}

function note(store: Store, change: Change): void {
  store.changes.push(change)
  if (store.changes.length > CHANGES_KEPT) {
    const dropped = store.changes.splice(0, CHANGES_KEPT / 2)
    store.compacted = dropped.at(-1)?.revision ?? store.compacted
  }
  for (const listener of store.listeners) listener(change)
}
