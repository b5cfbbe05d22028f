import { isFields } from '../manifest.ts'
import type { Fields } from './reading.ts'

/** Fields without a counterpart in an Addon, with advice for the user. */
export type LostMeaning = readonly (readonly [path: string, what: string, isLost?: (value: unknown) => boolean])[]

/** Returns the set fields without a counterpart in the Addon. Pure. */
export function meaningLost(spec: Fields, table: LostMeaning): readonly string[] {
  return table.flatMap(([path, what, isLost = isSaid]) => {
    const value = path.split('.').reduce<unknown>((inner, name) => (isFields(inner) ? inner[name] : undefined), spec)
    return isLost(value) ? [`${path}: ${what}`] : []
  })
}

function isSaid(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return isFields(value) ? Object.keys(value).length > 0 : value !== undefined && value !== null && value !== false
}
