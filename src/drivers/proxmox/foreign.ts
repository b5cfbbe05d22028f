import { cleanText } from '../../lib/clean-text.ts'
import { isRecord } from '../../lib/is-record.ts'
import { LIMITS } from '../../lib/limits.ts'

export { cleanText, isRecord }

/**
 * Parses foreign answers without trusting them: wrong types, huge strings, control characters and negative sizes become
 * harmless. No schema library here, since a survey has thousands of entries.
 */
export type ApiFields = Readonly<Record<string, unknown>>

/** Returns a short name (host, storage, guest) as text, or undefined for other values. */
export function nameOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : cleanText(value, LIMITS.foreignNameLength)
  return typeof value === 'number' ? String(value) : undefined
}

/** Returns a finite size or count that is not negative, or undefined. */
export function countOf(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined
}

/** Parses a boolean: Proxmox writes 1, "1", true or, from a person, on or yes. */
export function flagOf(value: unknown): boolean | undefined {
  if (value === undefined || value === null) return undefined
  if (value === 1 || value === true || value === '1') return true
  return typeof value === 'string' && /^(on|yes|true)$/i.test(value)
}

/** Returns the records of a list up to a limit, without other entries. */
export function recordsOf(value: unknown): readonly ApiFields[] {
  if (!Array.isArray(value)) return []
  const list = value.length > LIMITS.surveyEntries ? value.slice(0, LIMITS.surveyEntries) : value
  return list.every(isRecord) ? list : list.filter(isRecord)
}

/** Decodes percent-encoded text; other text stays. */
export function decoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
