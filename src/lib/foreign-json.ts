import { isRecord } from './is-record.ts'
import { LIMITS } from './limits.ts'

/**
 * Parses JSON of another program. Refuses texts with millions of tiny values, which no usual answer has: parsing them
 * would block all other requests for a second. Throws SyntaxError.
 */
export function parseForeignJson(text: string): unknown {
  if (text.length > LIMITS.jsonUncounted && isTooDense(text))
    throw new SyntaxError(`the answer has more than ${LIMITS.jsonBrackets} lists and maps, or too many values`)
  return JSON.parse(text)
}

/** Parses a text; undefined if it is no JSON. */
export function jsonIn(text: string): unknown {
  try {
    return parseForeignJson(text)
  } catch {
    return undefined
  }
}

/** Parses a text; undefined unless it is an object with fields. */
export function recordIn(text: string): Record<string, unknown> | undefined {
  const value = jsonIn(text)
  return isRecord(value) ? value : undefined
}

function isTooDense(text: string): boolean {
  let [brackets, commas] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x2c) commas++
    else if (code === 0x7b || code === 0x5b) brackets++
  }
  return brackets > LIMITS.jsonBrackets || commas > LIMITS.jsonCommas
}
