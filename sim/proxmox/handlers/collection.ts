import { createHash } from 'node:crypto'
import { type ApiError, failed } from '../api-error.ts'
import { type Call, type Handler, param, type Routes } from '../call.ts'
import { findOperation } from '../validate/index.ts'
import { fields, shelf, type Thing } from './shelf.ts'

export type Verb = 'read' | 'update' | 'delete'

/** Things with an id and fields that are listed, made, read, changed and removed alike: most of the settings API. */
export interface Collection {
  /** The list's path. A thing's own is below it. */
  readonly at: string
  /** The parameter that names a thing. */
  readonly key: string
  readonly shelf: string | ((call: Call) => string)
  /** Things are made on their own path rather than on the list. */
  readonly madeInPlace?: boolean
  /** `written` is the name as the call has it. */
  readonly exists: (id: string, written: string) => ApiError
  /** Undefined: what is not there is removed without complaint. */
  readonly missing: (id: string, verb: Verb) => ApiError | undefined
  readonly stale?: ApiError
  readonly hash?: 'sha1' | 'sha256'
  /** The digest is of a file that holds more than these things. */
  readonly digest?: (call: Call) => string
  /** Ids are written in more than one way. */
  readonly idOf?: (call: Call) => string
  readonly sees?: (call: Call, id: string, thing: Thing) => boolean
  /** Says no to a new thing before anything else is looked at. */
  readonly refuseNew?: (call: Call, id: string) => void
  /** Says no to a change before it is known whether there is such a thing. */
  readonly refuseChange?: (call: Call) => void
  /** It is a section of a file: `delete` must name one of its options. This stands before the refusal. */
  readonly sections?: string
  /** Says no to a change of a thing that is there, before it is known what it deletes. */
  readonly beforeDeletions?: (call: Call) => void
  /** What a change both deletes and sets is set; elsewhere that is refused, or deleted. */
  readonly setWins?: boolean
  /** Checks and completes what will be kept. `old` is what was there before. */
  readonly prepare?: (call: Call, thing: Thing, id: string, old: Thing | undefined) => Thing
  readonly refuseRemoval?: (call: Call, id: string, thing: Thing) => void
  readonly removed?: (call: Call, id: string, thing: Thing) => void
  readonly row?: (call: Call, thing: Thing, id: string) => Thing
  readonly one?: (call: Call, thing: Thing, id: string, digest: string) => Thing
  readonly listed?: (call: Call, thing: Thing, id: string, digest: string) => Thing
}

export const STALE = 'detected modified configuration - file changed by other user? Try again.'

export function collectionRoutes(spec: Collection): Routes {
  const one = `${spec.at}/{${spec.key}}`
  return {
    [`GET ${spec.at}`]: (call) => list(spec, call),
    [`POST ${spec.madeInPlace ? one : spec.at}`]: create(spec),
    [`GET ${one}`]: (call) => {
      const id = idOf(spec, call)
      const thing = need(spec, call, id, 'read')
      const shown = spec.row?.(call, thing, id) ?? { ...thing }
      const digest = digestOfAll(spec, call)
      return spec.one?.(call, shown, id, digest) ?? { ...shown, digest }
    },
    [`PUT ${one}`]: updateIn(spec),
    [`DELETE ${one}`]: remove(spec),
  }
}

export function list(spec: Collection, call: Call): Thing[] {
  const digest = digestOfAll(spec, call)
  return [...things(spec, call)]
    .filter(([id, thing]) => spec.sees?.(call, id, thing) ?? true)
    .map(([id, thing]) => {
      const shown = spec.row?.(call, thing, id) ?? { ...thing }
      return spec.listed?.(call, shown, id, digest) ?? { ...shown, [spec.key]: id, digest }
    })
}

export function things(spec: Collection, call: Call): Map<string, Thing> {
  return shelf(call.world, typeof spec.shelf === 'string' ? spec.shelf : spec.shelf(call))
}

export function digestOfAll(spec: Collection, call: Call): string {
  if (spec.digest !== undefined) return spec.digest(call)
  return createHash(spec.hash ?? 'sha1')
    .update(JSON.stringify([...things(spec, call)]))
    .digest('hex')
}

/** What `delete` names, whether it came as one text or as a list. */
export function deletions(call: Call): string[] {
  const raw = call.raw.delete
  const texts = Array.isArray(raw) ? raw.map(String) : [call.params.delete ?? '']
  return texts.flatMap((text) => text.split(/[,;\s\0]+/)).filter((name) => name !== '')
}

/** Refuses a write that was made from an older state. */
export function refuseStale(call: Call, digest: string, error: ApiError = failed(STALE)): void {
  if (call.params.digest !== undefined && call.params.digest !== digest) throw error
}

/** What a section needs, what it fixes when it is made, and what it does not know cannot be deleted. */
export function refuseDeletions(call: Call, one: string, madeInPlace: boolean, before: string, setWins = false): void {
  const names = deletions(call)
  if (names.length === 0) return
  const make = findOperation('POST', madeInPlace ? one : one.slice(0, one.lastIndexOf('/')))?.operation
  const change = findOperation('PUT', one)?.operation
  const own = /\{([^}]+)\}$/.exec(one)?.[1]
  for (const name of names) {
    const refuse = (text: string) => failed(`${before}${text}`)
    const known = change?.parameters.has(name) === true && !['digest', 'delete', own].includes(name)
    const made = make?.parameters.get(name)
    if ((made === undefined && !known) || name === own) throw refuse(`no such option '${name}'`)
    if (made !== undefined && make?.required.includes(made)) throw refuse(`unable to delete required option '${name}'`)
    if (!known) throw refuse(`unable to delete fixed option '${name}'`)
    if (!setWins && call.params[name] !== undefined)
      throw refuse(`cannot set and delete property '${name}' at the same time!`)
  }
}

function idOf(spec: Collection, call: Call): string {
  return spec.idOf?.(call) ?? param(call, spec.key)
}

function need(spec: Collection, call: Call, id: string, verb: Verb): Thing {
  const thing = things(spec, call).get(id)
  if (thing === undefined) throw spec.missing(id, verb) ?? failed(`'${id}' does not exist`)
  return thing
}

function create(spec: Collection): Handler {
  return (call) => {
    const id = idOf(spec, call)
    spec.refuseNew?.(call, id)
    if (things(spec, call).has(id)) throw spec.exists(id, param(call, spec.key))
    const wanted = fields(call, spec.key)
    things(spec, call).set(id, spec.prepare?.(call, wanted, id, undefined) ?? wanted)
    return null
  }
}

export function updateIn(spec: Collection): Handler {
  return (call) => {
    const id = idOf(spec, call)
    spec.refuseChange?.(call)
    refuseStale(call, digestOfAll(spec, call), spec.stale)
    const old = need(spec, call, id, 'update')
    const given = fields(call, spec.key)
    const wanted: Thing = { ...old, ...given }
    spec.beforeDeletions?.(call)
    if (spec.sections !== undefined)
      refuseDeletions(call, `${spec.at}/{${spec.key}}`, spec.madeInPlace === true, spec.sections, spec.setWins === true)
    for (const name of deletions(call)) if (spec.setWins !== true || given[name] === undefined) delete wanted[name]
    things(spec, call).set(id, spec.prepare?.(call, wanted, id, old) ?? wanted)
    return null
  }
}

function remove(spec: Collection): Handler {
  return (call) => {
    const id = idOf(spec, call)
    const thing = things(spec, call).get(id)
    if (thing === undefined) {
      const refusal = spec.missing(id, 'delete')
      if (refusal !== undefined) throw refusal
      return null
    }
    refuseStale(call, digestOfAll(spec, call), spec.stale)
    spec.refuseRemoval?.(call, id, thing)
    things(spec, call).delete(id)
    spec.removed?.(call, id, thing)
    return null
  }
}
