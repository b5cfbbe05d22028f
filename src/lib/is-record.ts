/** Is it an object with fields, as JSON and YAML have them: no list, no null? */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
