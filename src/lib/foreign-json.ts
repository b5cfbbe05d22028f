import { isRecord } from './is-record.ts'
import { LIMITS } from './limits.ts'

/**
 * JSON that another program sent. What a usual answer of that size never has, millions of tiny values, takes a second to
 * read, in which nobody else is answered: it is refused like any other text that is no answer. Throws SyntaxError.
 */
export function parseForeignJson(text: string): unknown {
  if (text.length > LIMITS.jsonUncounted && isTooDense(text))
    throw new SyntaxError(`the answer has more than ${LIMITS.jsonBrackets} lists and maps, or too many values`)
  return JSON.parse(text)
}

/** What a text holds that may be no JSON at all: undefined then. */
export function jsonIn(text: string): unknown {
  try {
    return parseForeignJson(text)
  } catch {
    return undefined
  }
}

/** The same where it has to be an object with fields. */
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
