/**
 * What the objects of one source may name. Written by whoever runs croft, never by the source itself. What is not listed
 * is not granted; `*` at the end of an entry stands for anything.
 */
export interface Grant {
  readonly source: string
  readonly kinds: readonly string[]
  readonly names: readonly string[]
  readonly connections: readonly string[]
  readonly hosts: readonly string[]
  /** Where this is not everything, a guest must be in one of them. */
  readonly pools: readonly string[]
  readonly storages: readonly string[]
  /** A bridge for what is not tagged, `vmbr0.30` for a VLAN of it. */
  readonly networks: readonly string[]
  /** What guests are made from: an id, a volume, or the object that brings it (`Image/noble`). */
  readonly templates: readonly string[]
  readonly vmids?: IdRange
  /** `env:NAME` and `file:/path`. */
  readonly secrets: readonly string[]
  /** Places that manifests of its add-ons are fetched from: `ghcr.io:443`. */
  readonly egress: readonly string[]
  /** May reach into the hosts themselves: devices, paths, hook scripts, privileged containers. */
  readonly hostAccess: boolean
}

export interface IdRange {
  readonly from: number
  readonly to: number
}

/** What of a grant counts after it was judged: for ids that are chosen, and for guests whose name changes. */
export interface Bounds {
  readonly source: string
  readonly names: readonly string[]
  readonly ids?: IdRange
}

/** Is it in the list? Only a star at the end of an entry has a meaning of its own. */
export function listed(value: string, list: readonly string[]): boolean {
  return list.some((entry) => (entry.endsWith('*') ? value.startsWith(entry.slice(0, -1)) : entry === value))
}

/** May a thing with this key be theirs? `EnvironmentVM/prod/web-1` is called `web-1`. */
export function mayBeCalled(key: string, { names }: Pick<Bounds, 'names'>): boolean {
  return listed(key.slice(key.lastIndexOf('/') + 1), names)
}
