import { createHash } from 'node:crypto'
import type { World } from '../../world/types.ts'
import type { Call } from '../call.ts'

export type Thing = Record<string, unknown>

/** A named list of small things: what most of the configuration API is. */
export function shelf(world: World, name: string): Map<string, Thing> {
  let things = world.shelves.get(name)
  if (things === undefined) {
    things = new Map()
    world.shelves.set(name, things)
  }
  return things
}

export function digestOf(value: unknown): string {
  return createHash('sha1').update(JSON.stringify(value)).digest('hex')
}

/** The digest of an empty file: what an unset configuration shows. */
export const EMPTY_DIGEST = createHash('sha1').digest('hex')

/** The parameters of a call without those that belong to the call itself. Whole numbers become numbers. */
export function fields(call: Call, ...not: readonly string[]): Thing {
  const skip = new Set(['node', 'vmid', 'digest', 'delete', ...not])
  const result: Thing = {}
  for (const [key, value] of Object.entries(call.params)) if (!skip.has(key)) result[key] = call.raw[key] ?? value
  return result
}

/** A field as text; empty for what is no text and no number. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? `${value}` : ''
}

/** A field that may be one text or a list of them. */
export function listOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(textOf)
  return value === undefined ? [] : [textOf(value)]
}
