/** A text or a number as text. Lists, blocks and nothing have none: they would only print as what they are not. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
