import { isIP } from 'node:net'
import { LIMITS } from '../lib/limits.ts'

/** What an address answers, followed to where it really is. Rejects where nobody should be led. */
export async function askUrl(
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<Response> {
  let at = new URL(url)
  let sent = headers
  for (let hop = 0; hop <= LIMITS.redirects; hop++) {
    const response = await fetch(at, { headers: sent, redirect: 'manual', ...within(signal) })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || location === null) {
      if (!response.ok) throw new Error(`HTTP ${response.status}`)
      return response
    }
    await response.body?.cancel()
    const next = URL.parse(location, at.href)
    if (next === null || !mayLead(at, next)) throw new Error(`it leads to ${next?.host ?? 'nowhere'}, which is refused`)
    // What was said to one server is not for another.
    if (next.origin !== at.origin) sent = withoutCredentials(sent)
    at = next
  }
  throw new Error('it leads on and on')
}

/**
 * May an answer of one address send us to another? Never out of TLS, and never from the world into this computer or the
 * network beside it: what listens there takes whoever comes from here for a friend. Pure.
 */
export function mayLead(from: URL, to: URL): boolean {
  if (to.protocol !== 'https:' && !(to.protocol === 'http:' && from.protocol === 'http:')) return false
  return !isInside(to.hostname) || isInside(from.hostname)
}

export function within(signal: AbortSignal | undefined): { readonly signal: AbortSignal } {
  const timeout = AbortSignal.timeout(LIMITS.requestTimeoutMs)
  return { signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]) }
}

/** Addresses that mean another computer to everybody who says them. */
function isInside(host: string): boolean {
  const bare = host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
  if (bare === 'localhost' || /\.(?:localhost|local|internal)$/.test(bare)) return true
  if (isIP(bare) === 4)
    return /^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./.test(
      bare,
    )
  return isIP(bare) === 6 && /^(?:::|f[cd]|fe[89ab])/.test(bare)
}

function withoutCredentials(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(?:authorization|cookie)$/i.test(name)))
}
