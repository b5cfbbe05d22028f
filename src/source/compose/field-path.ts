import { isFields } from '../manifest.ts'
import { ANYTHING, type ValueShape } from './shape.ts'
import { TransformMistake } from './transforms.ts'

export type PathSegment = string | number

/** `spec.disk[0].size`, `metadata.labels[example.org/zone]`: as Crossplane writes the way to a field. */
export function fieldPath(text: string): readonly PathSegment[] | undefined {
  const segments: PathSegment[] = []
  const step = /\.?([^.[\]]+)|\[(?:'([^']*)'|"([^"]*)"|([^\]]+))\]/gy
  let end = 0
  for (let match = step.exec(text); match !== null; match = step.exec(text)) {
    const [, plain, single, double, bare] = match
    const name = plain ?? single ?? double ?? bare ?? ''
    segments.push(bare !== undefined && /^\d+$/.test(bare) ? Number(bare) : name)
    end = step.lastIndex
  }
  return end === text.length && segments.length > 0 && !text.startsWith('.') ? segments : undefined
}

/** `force`: what is put wins. `append`: entries of lists that are not there yet come after those that are. */
export interface MergePolicy {
  readonly force: boolean
  readonly append: boolean
}

/** What stands at a path; undefined where it leads nowhere. */
export function valueAt(value: unknown, path: readonly PathSegment[]): unknown {
  let at = value
  for (const step of path) {
    if (Array.isArray(at) && typeof step === 'number') at = at[step]
    else if (isFields(at) && Object.hasOwn(at, step)) at = at[step]
    else return undefined
  }
  return at
}

/**
 * The same value with something else at a path. What is missing on the way is made; `*` is every entry that is there; undefined
 * takes a field away.
 */
export function withValue(value: unknown, path: readonly PathSegment[], put: unknown, merge?: MergePolicy): unknown {
  const [step, ...rest] = path
  if (step === undefined) return merge === undefined ? put : mergedAt(value, put, merge)
  if (step === '*') {
    if (Array.isArray(value)) return value.map((one: unknown) => withValue(one, rest, put, merge))
    if (!isFields(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withValue(one, rest, put, merge)]))
  }
  if (typeof step === 'number') {
    const list: unknown[] = Array.isArray(value) ? [...value] : []
    list[step] = withValue(list[step], rest, put, merge)
    return list
  }
  const fields = isFields(value) ? value : {}
  const within = withValue(Object.hasOwn(fields, step) ? fields[step] : undefined, rest, put, merge)
  if (within !== undefined) return { ...fields, [step]: within }
  const { [step]: _, ...others } = fields
  return others
}

/** What is empty counts as not set. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true
  return Array.isArray(value) ? value.length === 0 : isFields(value) && Object.keys(value).length === 0
}

/** The value at the path itself: entries that are there already are not appended once more, and null takes away what is there. */
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

/** The shape at a path; undefined: the shape says that there is no such field. */
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
