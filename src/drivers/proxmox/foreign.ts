import { LIMITS } from '../../lib/limits.ts'

/**
 * Reading what an outside system says without believing it: wrong types, huge strings, control characters and
 * negative sizes become something harmless. No schema library here, because a survey has thousands of entries.
 */
export type Foreign = Readonly<Record<string, unknown>>

const ESCAPE_SEQUENCE = /\u001b(?:\[[0-9;:<=>?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g
// Control characters, and the invisible ones that turn the direction of the text around on a terminal.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/
const CONTROLS = new RegExp(CONTROL.source, 'g')

/** Text that may reach a terminal: one line, no control characters, not longer than `most`. */
export function cleanText(text: string, most: number = LIMITS.foreignTextLength): string {
  const cut = text.length > most * 4 ? text.slice(0, most * 4) : text
  const clean = CONTROL.test(cut) ? cut.replace(ESCAPE_SEQUENCE, '').replace(CONTROLS, ' ').trim() : cut
  return clean.length > most ? `${clean.slice(0, most - 1)}…` : clean
}

/** A short name (host, storage, guest) as text, or undefined when it is no such thing. */
export function nameOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : cleanText(value, LIMITS.foreignNameLength)
  return typeof value === 'number' ? String(value) : undefined
}

/** A size or a count: finite and not negative, or undefined. */
export function countOf(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined
}

/** Proxmox writes a boolean as 1, "1", true or, where a person typed it, as on or yes. */
export function flagOf(value: unknown): boolean | undefined {
  if (value === undefined || value === null) return undefined
  if (value === 1 || value === true || value === '1') return true
  return typeof value === 'string' && /^(on|yes|true)$/i.test(value)
}

export function isRecord(value: unknown): value is Foreign {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The records in a list, at most as many as we are ready to hold. Anything else in it is passed over. */
export function recordsOf(value: unknown): readonly Foreign[] {
  if (!Array.isArray(value)) return []
  const list = value.length > LIMITS.surveyEntries ? value.slice(0, LIMITS.surveyEntries) : value
  return list.every(isRecord) ? list : list.filter(isRecord)
}
