import { type Egress, EVERYWHERE, isInside } from '../lib/egress.ts'
import { LIMITS } from '../lib/limits.ts'
import { askOnce, type HttpAnswer, type OutgoingRequest } from '../lib/outgoing.ts'

/** On whose behalf addresses are asked. */
export interface UrlRequestOptions {
  readonly egress?: Egress
  readonly signal?: AbortSignal | undefined
  readonly resolve?: NonNullable<OutgoingRequest['resolve']>
}

/** What an address answers, followed to where it really is. Rejects where nobody should be led. */
export async function askUrl(
  url: string,
  headers: Readonly<Record<string, string>>,
  { egress = EVERYWHERE, ...asking }: UrlRequestOptions,
): Promise<HttpAnswer> {
  let at = new URL(url)
  let sent = headers
  let fromOutside = false
  for (let hop = 0; hop <= LIMITS.redirects; hop++) {
    const answer = await askOnce(at, { ...asking, egress, headers: sent, mostBytes: LIMITS.addonBytes, fromOutside })
    const { location } = answer.headers
    if (answer.status < 300 || answer.status > 399 || location === undefined) {
      if (answer.status < 200 || answer.status > 299) throw new Error(`HTTP ${answer.status}`)
      return answer
    }
    const next = URL.parse(location, at.href)
    if (next === null || !mayLead(at, next)) throw new Error(`it leads to ${next?.host ?? 'nowhere'}, which is refused`)
    // What was said to one server is not for another.
    if (next.origin !== at.origin) sent = withoutCredentials(sent)
    at = next
    fromOutside ||= answer.outside
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

function withoutCredentials(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(?:authorization|cookie)$/i.test(name)))
}
