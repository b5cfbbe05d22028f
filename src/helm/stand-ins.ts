/** What stands in a rendering where a hidden value would stand. */
export const HIDDEN = 'hidden'

/**
 * Values of the same shape that may be shown: every text and number is another, a yes or no is as it is. Rendered with
 * these, nothing that comes out can give a secret away, whatever a template makes of it.
 */
export function standInsFor(values: unknown): unknown {
  if (Array.isArray(values)) return values.map(standInsFor)
  if (typeof values === 'object' && values !== null)
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, standInsFor(value)]))
  if (typeof values === 'string') return HIDDEN
  return typeof values === 'number' || typeof values === 'bigint' ? 1 : values
}
