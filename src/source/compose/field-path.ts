import { isFields } from '../manifest.ts'
import { ANYTHING, type ValueShape } from './shape.ts'
import { TransformMistake } from './transforms.ts'

export type PathSegment = string | number

/** Entries of a list that a path may name: those before it are made as well. */
const HIGHEST = 1024

/** `spec.disk[0].size`, `metadata.labels[example.org/zone]`: as Crossplane writes the way to a field. */
export function fieldPath(text: string): readonly PathSegment[] | undefined {
  const segments: PathSegment[] = []
  const step = /\.?([^.[\]]+)|\[(?:'([^']*)'|"([^"]*)"|([^\]]+))\]/gy
  let end = 0
  for (let match = step.exec(text); match !== null; match = step.exec(text)) {
    const [, plain, single, double, bare] = match
    const name = plain ?? single ?? double ?? bare ?? ''
    const place = bare !== undefined && /^\d+$/.test(bare) ? Number(bare) : undefined
    if (place !== undefined && place > HIGHEST) return undefined
    segments.push(place ?? name)
    end = step.lastIndex
  }
  return end === text.length && segments.length > 0 && !text.startsWith('.') ? segments : undefined
}

/** `force`: what is put wins. `append`: entries of lists that are not there yet come after those that are. */
export interface MergePolicy {
  readonly force: boolean
  readonly append: boolean
}

/** Returns the value at a path, or undefined. Throws `TransformMistake` if a step does not fit the value. */
export function valueAt(value: unknown, path: readonly PathSegment[]): unknown {
  let at = value
  for (const [index, step] of path.entries()) {
    if (at === undefined || at === null) return undefined
    mustLead(at, path, index)
    if (Array.isArray(at)) at = at[Number(step)]
    else at = isFields(at) && Object.hasOwn(at, step) ? at[step] : undefined
  }
  return at
}

/** A number is a step into a list, a name one into a block of fields. */
function mustLead(at: unknown, path: readonly PathSegment[], index: number): void {
  const step = path[index]
  if (typeof step === 'number' ? Array.isArray(at) : isFields(at)) return
  const where = path.slice(0, index).join('.')
  throw new TransformMistake(`${where} is ${typeof step === 'number' ? 'not a list' : 'not a block of fields'}`)
}

/**
 * Returns the value with a change at a path. Creates missing steps; `*` changes all existing entries; undefined removes
 * a field.
 */
export function withValue(
  value: unknown,
  path: readonly PathSegment[],
  put: unknown,
  merge?: MergePolicy,
  from = 0,
): unknown {
  const step = path[from]
  const within = (inner: unknown) => withValue(inner, path, put, merge, from + 1)
  if (step === undefined) return merge === undefined ? put : mergedAt(value, put, merge)
  if (step === '*') {
    if (isEmpty(value) || !(Array.isArray(value) || isFields(value)))
      throw new TransformMistake(`${path.slice(0, from).join('.')} has no entries that * could stand for`)
    if (Array.isArray(value)) return value.map(within)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, within(one)]))
  }
  if (value !== undefined && value !== null) mustLead(value, path, from)
  if (typeof step === 'number') {
    const list: unknown[] = Array.isArray(value) ? [...value] : []
    list[step] = within(list[step])
    return list
  }
  const fields = isFields(value) ? value : {}
  const inner = within(Object.hasOwn(fields, step) ? fields[step] : undefined)
  if (inner !== undefined) return { ...fields, [step]: inner }
  const { [step]: _, ...others } = fields
  return others
}

/** Reports whether a value counts as unset. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true
  return Array.isArray(value) ? value.length === 0 : isFields(value) && Object.keys(value).length === 0
}

/** Merges at the path itself: existing entries are not appended twice, and null removes the value. */
function mergedAt(there: unknown, put: unknown, policy: MergePolicy): unknown {
  if (!policy.append || !Array.isArray(put) || there === undefined || there === null)
    return put === null ? null : merged(there, put, policy)
  if (!Array.isArray(there))
    throw new TransformMistake(`a list cannot be appended to ${JSON.stringify(there).slice(0, 60)}`)
  const known = new Set(there.map((one) => JSON.stringify(one)))
  return [...there, ...put.filter((one) => !known.has(JSON.stringify(one)))]
}

function merged(there: unknown, put: unknown, policy: MergePolicy): unknown {
  if (isEmpty(there)) return put
  if (isFields(there) && isFields(put)) {
    const fields: Record<string, unknown> = { ...there }
    for (const [name, one] of Object.entries(put))
      fields[name] = Object.hasOwn(there, name) ? merged(there[name], one, policy) : one
    return fields
  }
  if (Array.isArray(there) && Array.isArray(put) && policy.append) return [...there, ...put]
  return policy.force ? put : there
}

/** Returns the shape at a path; undefined if the shape has no such field. */
export function shapeAt(shape: ValueShape, path: readonly PathSegment[]): ValueShape | undefined {
  let at = shape
  for (const step of path) {
    const { type, properties = {}, additionalProperties, items } = at
    if (type === undefined) return ANYTHING
    if (type === 'array' && (typeof step === 'number' || step === '*')) at = items ?? ANYTHING
    else if (type !== 'object') return undefined
    else if (Object.hasOwn(properties, step)) at = properties[step] ?? ANYTHING
    else if (additionalProperties === undefined) return undefined
    else at = additionalProperties === true ? ANYTHING : additionalProperties
  }
  return at
}
