import type { Recorded } from '../../sim/recordings/testing/replay.ts'

/** Pairs of a form in their order, a JSON document, or the text where it was neither. */
type Sent = readonly (readonly [string, string])[] | { readonly json: unknown } | string

/** An exchange as it is kept: no headers but the names of those that sign in, and contents instead of their spelling. */
export type PackedExchange = readonly [
  label: string,
  method: string,
  path: string,
  auth: string,
  status: number,
  reason: string,
  /** `{"json": …}`, or the text where it was none. */
  answer: { readonly json: unknown } | string,
  sent?: Sent | null,
  type?: string | null,
  headers?: readonly string[],
]

const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'
const SIGN_IN = ['Cookie', 'CSRFPreventionToken']

export function packExchange(one: Recorded): PackedExchange {
  const head = [one.label, one.method, one.path, one.auth, one.status, one.reason, packText(one.body)] as const
  const headers = SIGN_IN.filter((name) => name in one.req_headers)
  if (headers.length > 0) return [...head, packSent(one), one.req_ctype, headers]
  if (one.req_ctype !== null) return [...head, packSent(one), one.req_ctype]
  return one.req_body === null ? head : [...head, packSent(one)]
}

export function unpackExchange(packed: PackedExchange): Recorded {
  const [label, method, path, auth, status, reason, answer, sent = null, type = null, headers = []] = packed
  return {
    label,
    method,
    path,
    req_body: sent === null ? null : unpackSent(sent),
    req_ctype: type,
    req_headers: Object.fromEntries(headers.map((name) => [name, ''])),
    auth,
    status,
    reason,
    body: typeof answer === 'string' ? answer : JSON.stringify(answer.json),
  }
}

function packText(text: string): { readonly json: unknown } | string {
  try {
    const json = JSON.parse(text)
    // A document whose spelling says more than its content (a number written otherwise) stays a text.
    return JSON.stringify(json).length === text.length ? { json } : text
  } catch {
    return text
  }
}

function packSent({ req_body: body, req_ctype: type }: Recorded): Sent | null {
  if (body === null) return null
  if (type === JSON_TYPE) return packText(body)
  const pairs = [...new URLSearchParams(body)]
  return type === FORM && formOf(pairs) === body ? pairs : body
}

function unpackSent(sent: Sent): string {
  if (typeof sent === 'string') return sent
  return 'json' in sent ? JSON.stringify(sent.json) : formOf(sent)
}

function formOf(pairs: readonly (readonly [string, string])[]): string {
  return new URLSearchParams(pairs.map(([name, value]) => [name, value])).toString()
}
