import { readFileSync } from 'node:fs'
import { type Area, type AreaTable, areaOf, type WrittenOperation } from '../facts/form.ts'
import { type Field, requiredOf, type Shape, shapeReader } from './shape.ts'

export interface Operation {
  readonly method: string
  /** The path with its placeholders: `/nodes/{node}/qemu/{vmid}`. */
  readonly path: string
  /** By name, those of the path among them; numbered ones (`net0` … `net31`) each on their own. */
  readonly parameters: ReadonlyMap<string, Field>
  /** Those of them that must be given. */
  readonly required: readonly Field[]
  /** Names that are not listed are taken as they come. */
  readonly open: boolean
  /** `null`, `s`, `{name:s,vmid?:i}`, `[{…}]`. */
  readonly returns: string
  /** The permission as written in the tables; `permissionOf` parses it. */
  readonly permission: string
  /** The parameter that names the node which must serve the call. */
  readonly proxyTo?: string
  /** Served by the privileged daemon. */
  readonly privileged: boolean
  readonly tokenAllowed: boolean
}

/** Path without `/api2/json` and without a query. Undefined when there is no such path or it has no such method. */
export function findOperation(
  method: string,
  path: string,
): { operation: Operation; pathParams: Record<string, string> } | undefined {
  const found = match(path)
  const operation = found?.methods.get(method)?.()
  return found && operation ? { operation, pathParams: found.pathParams } : undefined
}

/** The methods of a path; empty when there is no such path. */
export function operationsOfPath(path: string): Operation[] {
  return [...(match(path)?.methods.values() ?? [])].map((operation) => operation())
}

/** Every operation there is. Reads all tables: for tests and listings, not for the way of a request. */
export function allOperations(areas: readonly Area[]): Operation[] {
  return areas.flatMap((area) =>
    [...loadArea(area).all.values()].flatMap((methods) => [...methods.values()].map((one) => one())),
  )
}

type Methods = ReadonlyMap<string, () => Operation>

interface Segment {
  readonly literal: Map<string, Segment>
  placeholder?: { readonly name: string; readonly next: Segment }
  methods?: Methods
}

interface LoadedArea {
  readonly root: Segment
  readonly all: ReadonlyMap<string, Methods>
}

const loaded = new Map<Area, LoadedArea>()

function match(path: string): { methods: Methods; pathParams: Record<string, string> } | undefined {
  const area = areaOf(path)
  if (area === undefined) return undefined
  const segments = path.split('/').filter((segment) => segment !== '')
  const pathParams: Record<string, string> = {}
  const methods = descend(loadArea(area).root, segments, 0, pathParams)
  return methods ? { methods, pathParams } : undefined
}

/** Literal segments win; a volume (`local:iso/x.iso`) or a network (`10.0.0.0/8`) takes the rest: it holds slashes itself. */
function descend(
  at: Segment,
  segments: readonly string[],
  index: number,
  params: Record<string, string>,
): Methods | undefined {
  const segment = segments[index]
  if (segment === undefined) return at.methods
  const literal = at.literal.get(segment)
  if (literal) {
    const found = descend(literal, segments, index + 1, params)
    if (found) return found
  }
  // A part of a path has no white space in it.
  if (!at.placeholder || /\s/.test(segment)) return undefined
  const { name, next } = at.placeholder
  if (TAKES_THE_REST.has(name)) {
    params[name] = segments.slice(index).join('/')
    return next.methods
  }
  params[name] = segment
  return descend(next, segments, index + 1, params)
}

const TAKES_THE_REST: ReadonlySet<string> = new Set(['volume', 'cidr'])

function loadArea(area: Area): LoadedArea {
  const known = loaded.get(area)
  if (known) return known
  const table: AreaTable = JSON.parse(readFileSync(new URL(`../facts/${area}.json`, import.meta.url), 'utf8'))
  const read = shapeReader(table.shapes)
  const root: Segment = { literal: new Map() }
  const all = new Map<string, Methods>()
  for (const [path, written] of Object.entries(table.operations)) {
    const methods = new Map(
      Object.entries(written).map(([method, one]) => [method, once(() => unpack(table, read, path, method, one))]),
    )
    all.set(path, methods)
    place(root, path).methods = methods
  }
  const result = { root, all }
  loaded.set(area, result)
  return result
}

function place(root: Segment, path: string): Segment {
  let at = root
  for (const segment of path.split('/').filter((one) => one !== '')) {
    if (segment.startsWith('{')) {
      at.placeholder ??= { name: segment.slice(1, -1), next: { literal: new Map() } }
      at = at.placeholder.next
      continue
    }
    const next = at.literal.get(segment) ?? { literal: new Map() }
    at.literal.set(segment, next)
    at = next
  }
  return at
}

function unpack(
  table: AreaTable,
  read: (number: number) => Shape,
  path: string,
  method: string,
  written: WrittenOperation,
): Operation {
  const parameters = new Map<string, Field>()
  for (const [text, number] of Object.entries(written.takes ?? {})) {
    const [, base = text, count, optional] = /^(.*?)(?:\[(\d+)\])?(\?)?$/.exec(text) ?? []
    const names = count === undefined ? [base] : Array.from({ length: Number(count) }, (_, at) => `${base}${at}`)
    for (const name of names) parameters.set(name, { name, optional: optional !== undefined, shape: read(number) })
  }
  return {
    method,
    path,
    parameters,
    required: requiredOf(parameters),
    open: written.open === 1,
    returns: table.returns[written.gives] ?? 'any',
    permission: table.permissions[written.may] ?? 'root',
    ...(written.on === undefined ? {} : { proxyTo: written.on }),
    privileged: written.root === 1,
    tokenAllowed: written.ticket !== 1,
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
