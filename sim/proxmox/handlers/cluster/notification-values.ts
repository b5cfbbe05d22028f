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

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}
