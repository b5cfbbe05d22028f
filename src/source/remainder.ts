import { knownFields } from '../kinds/fields/explain.ts'
import type { FieldProblem, Kind, RawManifest } from '../kinds/kind.ts'
import { nearest } from '../lib/nearest.ts'
import { isFields } from './manifest.ts'

type Path = FieldProblem['path']
type JsonMap = Record<string, unknown>

/** A manifest without its wrong fields, so that the rest can be judged as well. */
export interface Remainder {
  readonly spec: unknown
  /** Paths of wrong fields in the remainder: ignore problems there. */
  readonly touched: readonly Path[]
  /** No value was lost, so problems of other objects that follow from it are real. */
  readonly whole: boolean
}

/** Values for required fields, simplest first: they replace missing or wrong ones. */
const TEXTS = ['stand-in', '1Gi', '192.0.2.1', '192.0.2.0/24', 'https://stand-in.invalid']
const STAND_INS: readonly unknown[] = [...TEXTS, 1, true, {}, []]

const ROUNDS = 4

/** Returns the remainder; undefined if too much is wrong. `wrong` are the paths of the errors. */
export function remainderOf(kind: Kind, manifest: RawManifest, wrong: readonly Path[]): Remainder | undefined {
  const spec = structuredCloneOf(manifest.spec ?? {})
  const touched: Path[] = []
  let whole = true
  for (const path of wrong) {
    if (path[0] !== 'spec' || path.length === 1) continue
    const own = path.slice(1)
    const known = knownFields(kind.schema, own.slice(0, -1))
    const name = own.at(-1)
    const isUnknown = known.length > 0 && typeof name === 'string' && !known.includes(name)
    if (!isUnknown) whole = false
    touched.push(path, ...withoutField(spec, own, isUnknown ? known : []))
  }
  for (let round = 0; round < ROUNDS; round++) {
    const parsed = kind.schema.safeParse(spec)
    if (parsed.success) return { spec: parsed.data, touched, whole }
    whole = false
    for (const issue of parsed.error.issues) {
      const own = issue.path.filter((step) => typeof step !== 'symbol')
      if (issue.code === 'unrecognized_keys')
        for (const name of issue.keys) touched.push(['spec', ...own, name], ...withoutField(spec, [...own, name], []))
      else if (own.length === 0) return undefined
      else {
        touched.push(['spec', ...own])
        standIn(spec, own, kind)
      }
    }
  }
  return undefined
}

/** Reports whether a problem is about a wrong field, its parent, a part of it, or its replacement. */
export function isTouched({ path, message }: FieldProblem, touched: readonly Path[]): boolean {
  if (TEXTS.some((text) => message.includes(text))) return true
  return touched.some((one) => one.every((step, index) => index >= path.length || path[index] === step))
}

/** Takes a field out; one that is nearly called like another, and means that one, is called so. Returns the new names. */
function withoutField(spec: unknown, path: Path, known: readonly string[]): readonly Path[] {
  const parent = valueAt(spec, path.slice(0, -1))
  const name = path.at(-1)
  if (!isJsonMap(parent) || typeof name !== 'string' || !Object.hasOwn(parent, name)) return []
  const value = parent[name]
  delete parent[name]
  const meant = nearest(name, known)
  if (meant === undefined || Object.hasOwn(parent, meant)) return []
  parent[meant] = value
  return [['spec', ...path.slice(0, -1), meant]]
}

/** Puts the first value there that the schema takes. */
function standIn(spec: unknown, path: Path, kind: Kind): void {
  const parent = valueAt(spec, path.slice(0, -1))
  const name = path.at(-1)
  if (name === undefined || (!isJsonMap(parent) && !Array.isArray(parent))) return
  const holder = parent as Record<string | number, unknown>
  for (const value of [undefined, ...STAND_INS]) {
    if (value === undefined) delete holder[name]
    else holder[name] = structuredClone(value)
    const { error } = kind.schema.safeParse(spec)
    if (error?.issues.some((issue) => path.every((step, index) => issue.path[index] === step)) !== true) return
  }
}

function valueAt(value: unknown, path: Path): unknown {
  let at = value
  for (const step of path) {
    if (Array.isArray(at)) at = at[Number(step)]
    else if (isJsonMap(at) && Object.hasOwn(at, step)) at = at[step]
    else return undefined
  }
  return at
}

function isJsonMap(value: unknown): value is JsonMap {
  return isFields(value)
}

/** Returns a mutable copy; maps keep no prototype, which structuredClone would add. */
function structuredCloneOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(structuredCloneOf)
  if (!isFields(value)) return value
  const copy: JsonMap = Object.create(null)
  for (const [name, entry] of Object.entries(value)) copy[name] = structuredCloneOf(entry)
  return copy
}
