import type { ResourceKey } from './declaration.ts'

/**
 * What the objects of one source may name. croft's operator writes it, never the source itself. What is not listed is
 * not granted; a `*` at the end of an entry matches anything.
 */
export interface Grant {
  readonly source: string
  /** The source is this namespace of a cluster: its Secrets are in that namespace. */
  readonly namespace?: string
  readonly kinds: readonly string[]
  readonly names: readonly string[]
  readonly connections: readonly string[]
  readonly hosts: readonly string[]
  /** Unless this is everything, a guest must be in one of them. */
  readonly pools: readonly string[]
  readonly storages: readonly string[]
  /** A bridge for untagged traffic, `vmbr0.30` for its VLAN 30. */
  readonly networks: readonly string[]
  /** Sources of guests: an id, a volume, or the object that brings it (`Image/noble`). */
  readonly templates: readonly string[]
  readonly vmids?: IdRange
  /** `env:NAME` and `file:/path`. */
  readonly secrets: readonly string[]
  /** Places that manifests of its add-ons are fetched from: `ghcr.io:443`. */
  readonly egress: readonly string[]
  /** Limits of all its objects together. Absent limits do not apply. */
  readonly quota: Quota
  /** Whether it may access the hosts themselves: devices, paths, hook scripts, privileged containers. */
  readonly hostAccess: boolean
}

/** An empty grant. */
export const NOTHING_GRANTED: Omit<Grant, 'source' | 'namespace'> = {
  kinds: [],
  names: [],
  connections: [],
  hosts: [],
  pools: [],
  storages: [],
  networks: [],
  templates: [],
  secrets: [],
  egress: [],
  quota: {},
  hostAccess: false,
}

/** The usage of one source, over all its declarations. */
export interface Usage {
  readonly machines: number
  readonly cores: number
  readonly memoryMb: number
  readonly diskGb: number
  /** Fixed addresses of machines. */
  readonly addresses: number
  /** Objects of its add-ons, and their namespaces. */
  readonly objects: number
  readonly namespaces: number
}

export type Quota = Partial<Usage>

export const NO_USAGE: Usage = {
  machines: 0,
  cores: 0,
  memoryMb: 0,
  diskGb: 0,
  addresses: 0,
  objects: 0,
  namespaces: 0,
}

export const QUOTA_WORDS: readonly (readonly [keyof Usage, string])[] = [
  ['machines', 'machines'],
  ['cores', 'cores'],
  ['memoryMb', 'MiB of memory'],
  ['diskGb', 'GiB of disk'],
  ['addresses', 'fixed addresses'],
  ['objects', 'objects of add-ons'],
  ['namespaces', 'namespaces'],
]

/** Reports whether the amount is within the limit. An absent limit allows everything. */
export function atLeast(bound: number | undefined, amount: number): boolean {
  return bound === undefined || amount <= bound
}

export interface IdRange {
  readonly from: number
  readonly to: number
}

/** The part of a grant that is used after its judgement: for chosen ids, and for guests whose name changes. */
export interface Bounds {
  readonly source: string
  readonly names: readonly string[]
  readonly ids?: IdRange
}

/** Returns who holds the grant, for a sentence. */
export function holderOf({ source, namespace }: Pick<Grant, 'source' | 'namespace'>): string {
  return namespace === undefined ? `the source ${source}` : `the namespace ${namespace}`
}

/** Reports whether the list has the value. Only a star at the end of an entry is a wildcard. */
export function listed(value: string, list: readonly string[]): boolean {
  return list.some((entry) => (entry.endsWith('*') ? value.startsWith(entry.slice(0, -1)) : entry === value))
}

/** Reports whether a source may own this key. `EnvironmentVM/prod/web-1` is called `web-1`. */
export function mayBeCalled(key: string, { names }: Pick<Bounds, 'names'>): boolean {
  return listed(key.slice(key.lastIndexOf('/') + 1), names)
}

/** The declared usage of one source's quota. */
export interface SourceQuota {
  readonly source: string
  readonly names: readonly string[]
  readonly quota: Quota
  /** Usage of the accepted resources. */
  readonly used: Usage
  readonly keys: ReadonlySet<ResourceKey>
  /** It declares more than its quota: until that is corrected croft creates nothing new for it. */
  readonly exceeded: boolean
}
