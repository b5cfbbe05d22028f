import { isUtf8 } from 'node:buffer'
import { ApiError, failed } from '../../api-error.ts'
import type { Call } from '../../call.ts'
import { deletions } from '../collection.ts'
import { listOf, type Thing } from '../shelf.ts'

/** What can be taken away from each kind, in the order in which a refusal names them. The rest is needed or fixed. */
const DELETABLE: Readonly<Record<string, readonly string[]>> = {
  gotify: ['comment', 'disable'],
  sendmail: ['author', 'comment', 'disable', 'from-address', 'mailto', 'mailto-user'],
  smtp: ['author', 'comment', 'disable', 'mailto', 'mailto-user', 'password', 'port', 'username'],
  webhook: ['comment', 'disable', 'header', 'body', 'secret'],
  matchers: ['comment', 'disable', 'invert-match', 'match-calendar', 'match-field', 'match-severity', 'mode', 'target'],
}

/** The names in `delete` are read before anything is looked up. */
export function refuseUndeletable(call: Call, kind: string): void {
  const known = DELETABLE[kind] ?? []
  for (const name of deletions(call)) {
    if (known.includes(name)) continue
    const quoted = known.map((one) => `\`${one}\``)
    const expected = quoted.length === 2 ? quoted.join(' or ') : `one of ${quoted.join(', ')}`
    throw failed(`error: unknown variant \`${name}\`, expected ${expected}`)
  }
}

const NAMED = /^name=([^,]*)(?:,value=(.*))?$/s

/** Headers and secrets come as a name and, in base64, a value. A secret without one stays as it is. */
export function withNamedValues(call: Call, thing: Thing, old: Thing | undefined): Thing {
  if (old === undefined) return thing
  if (call.params.header !== undefined) for (const text of listOf(thing.header)) checkHeader(text)
  if (call.params.secret === undefined) return thing
  const kept = new Map(listOf(old.secret).map((text) => [NAMED.exec(text)?.[1], text]))
  const secret = new Map<string, string>()
  for (const text of listOf(thing.secret)) {
    const [, name = '', value] = NAMED.exec(text) ?? []
    const next = value === undefined ? kept.get(name) : text
    if (next === undefined) throw new ApiError(400, `secret '${name}' not known`)
    if (value !== undefined && !isBase64(value))
      throw new ApiError(400, `secret '${name}' does not have valid base64 encoded data`)
    if (secret.has(name)) throw new ApiError(400, `secret '${name}' defined multiple times`)
    secret.set(name, next)
  }
  return { ...thing, secret: [...secret.values()] }
}

function checkHeader(text: string): void {
  const [, name = '', value] = NAMED.exec(text) ?? []
  if (value === undefined) throw new ApiError(400, `header '${name}' has empty value`)
  if (!isBase64(value)) throw new ApiError(400, `header '${name}' does not have valid base64 encoded data`)
}

/** Text in base64, with or without what fills it up. */
function isBase64(text: string): boolean {
  const letters = text.replace(/={0,2}$/, '')
  return /^[A-Za-z0-9+/]*$/.test(letters) && letters.length % 4 !== 1 && isUtf8(Buffer.from(letters, 'base64'))
}

const LARGEST_PORT = 65_535

/** A port is read before anything is looked up, too. */
export function refusePort(call: Call): void {
  const { port } = call.params
  if (port !== undefined && (Number(port) < 0 || Number(port) > LARGEST_PORT))
    throw failed(`error: invalid value: integer \`${Number(port)}\`, expected u16`)
}

/** A digest is read after everything else: it is written in hexadecimal digits, two for each byte. */
export function refuseUnreadableDigest(call: Call): void {
  const { digest } = call.params
  if (digest === undefined) return
  if (digest.length % 2 === 1) throw new ApiError(400, 'invalid digest: Odd number of digits')
  const at = digest.search(/[^0-9a-fA-F]/)
  if (at >= 0) throw new ApiError(400, `invalid digest: Invalid character '${digest[at]}' at position ${at}`)
}
