import { LIMITS } from '../lib/limits.ts'

// C0 but line breaks and tabs, DEL, C1, and the marks that turn the direction of writing round.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/** JSON for the page. The last gate: names come from systems that may lie, so every text is bounded and cleaned. */
export function shownJson(value: unknown): string {
  return JSON.stringify(value, (name, one: unknown) => {
    if (typeof one !== 'string') return typeof one === 'number' && !Number.isFinite(one) ? null : one
    return shownText(one, name === 'yaml' ? LIMITS.pageManifestLength : LIMITS.pageTextLength)
  })
}

export function shownText(text: string, max: number = LIMITS.pageTextLength): string {
  const bounded = text.length <= max ? text : `${text.slice(0, max)}… (${text.length - max} more characters)`
  return bounded.toWellFormed().replace(CONTROLS, '\ufffd')
}
