/** Converts a text or a number. Lists, blocks and undefined have no text form. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
