/**
 * The written form of the tables in this folder: what each operation of the Proxmox VE API takes, gives and demands.
 * Shapes, returns and permissions that repeat are written once per area and referred to by their number.
 */
export interface AreaTable {
  readonly version: string
  readonly shapes: readonly WrittenShape[]
  readonly returns: readonly string[]
  readonly permissions: readonly string[]
  /** By path, then by method. */
  readonly operations: Readonly<Record<string, Readonly<Record<string, WrittenOperation>>>>
}

/**
 * A name says how the value is taken: `name` must be there, `name?` may be missing, `name[32]?` means name0 to
 * name31. The number points into the area's shapes.
 */
export type WrittenNames = Readonly<Record<string, number>>

export interface WrittenOperation {
  readonly takes?: WrittenNames
  /** 1: names that are not listed are taken as they come. */
  readonly open?: 1
  /** Points into the area's returns. */
  readonly gives: number
  /** Points into the area's permissions. */
  readonly may: number
  /** Which parameter names the node that must serve the call. */
  readonly on?: string
  /** 1: served by the privileged daemon. */
  readonly root?: 1
  /** 1: an API token is refused, a login ticket is needed. */
  readonly ticket?: 1
}

export interface WrittenShape {
  /** Absent: text. */
  readonly is?: 'integer' | 'number' | 'boolean' | 'array'
  /** A named format. */
  readonly as?: string
  readonly in?: readonly string[]
  /** A regular expression, in JavaScript's notation, held against the value as `^…$`. */
  readonly like?: string
  readonly from?: number
  readonly to?: number
  readonly short?: number
  readonly long?: number
  /** The shape of an array's elements. */
  readonly of?: number
  /** Another parameter that must be there too. */
  readonly needs?: string
  /** A comma-separated list of key=value. `key=` may stand without its key; a text value names the key it is short for. */
  readonly keys?: Readonly<Record<string, number | string>>
  /** Which values of another parameter this one goes with, each with its own shape where that differs. */
  readonly when?: {
    readonly by: string
    readonly cases: readonly (readonly [readonly string[], number?])[]
    /** 1: each value has its own branch, and errors name the branch. */
    readonly branch?: 1
  }
}

export const AREAS = [
  'access',
  'cluster',
  'nodes-lxc',
  'nodes-other',
  'nodes-qemu',
  'nodes-storage',
  'pools',
  'storage',
  'version',
] as const
export type Area = (typeof AREAS)[number]

/** The file that holds a path's operations. Works for templates (`/nodes/{node}/qemu`) and for real paths alike. */
export function areaOf(path: string): Area | undefined {
  const [, top, , third] = path.split('/')
  if (top === 'nodes') {
    if (third === 'qemu') return 'nodes-qemu'
    if (third === 'lxc') return 'nodes-lxc'
    if (third === 'storage') return 'nodes-storage'
    return 'nodes-other'
  }
  return AREAS.find((area) => area === top)
}
