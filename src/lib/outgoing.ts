import { lookup as lookupByCall } from 'node:dns'
import { lookup } from 'node:dns/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { boundedBytes } from './bounded-bytes.ts'
import { defined } from './defined.ts'
import { type Egress, EVERYWHERE, egressOf, isInside, isThisComputer } from './egress.ts'
import { LIMITS } from './limits.ts'

/** Thrown for a place that must not be asked. The message names only the host as written. */
export class PlaceRefused extends Error {
  constructor(host: string, why = 'is not a place that may be asked') {
    super(`${host} ${why}`)
    this.name = 'PlaceRefused'
  }
}

declare const judged: unique symbol
/** A place that may be asked, with the list that holds what it leads to. `permitPlace` alone makes one. */
export interface PermittedPlace {
  readonly url: URL
  readonly egress: Egress
  readonly [judged]: true
}

/** The one way to a place: without it a request does not compile. Throws PlaceRefused. */
export function permitPlace(url: string | URL, egress: Egress): PermittedPlace {
  const at = URL.parse(url)
  if (at === null || !/^https?:$/.test(at.protocol)) throw new PlaceRefused(at?.host ?? 'what is no address')
  if (!egress.mayAsk(hostOf(at), portOf(at))) throw new PlaceRefused(hostOf(at))
  return { url: at, egress } as PermittedPlace
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Uint8Array
}

export interface OutgoingRequest {
  readonly method?: 'GET' | 'HEAD'
  readonly headers?: Readonly<Record<string, string>>
  readonly mostBytes: number
  readonly signal?: AbortSignal | undefined
  /** All addresses of a name. */
  resolve?(host: string): Promise<readonly string[]>
  /** Set if a server on the internet redirected here: it must not lead inside. */
  readonly fromOutside?: boolean
}

/**
 * Asks one address, once, following nothing. The name is resolved here and the connection is made to the very address
 * that was judged, so that a name which answers differently the second time leads nowhere. Bounded in time and size.
 */
export async function askOnce(
  { url, egress }: PermittedPlace,
  { resolve, fromOutside, ...asked }: OutgoingRequest,
): Promise<HttpAnswer & { readonly outside: boolean }> {
  const address = await addressOf(hostOf(url), portOf(url), { egress, ...defined({ resolve, fromOutside }) })
  const pinned: LookupFunction = (_name, options, done) => {
    const family = isIP(address)
    if (options.all === true) done(null, [{ address, family }])
    else done(null, address, family)
  }
  return { ...(await exchange(url, { ...asked, lookup: pinned })), outside: !isInside(address) }
}

export interface Exchange {
  readonly method?: 'GET' | 'HEAD' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** Certificates that sign the server's, in place of the system's. */
  readonly ca?: string | undefined
  readonly lookup?: LookupFunction
  readonly mostBytes: number
  readonly signal?: AbortSignal | undefined
}

/** Makes one request. Follows no redirect, because headers are meant for this server alone. Limits time and size. */
export function exchange(url: URL, { body, mostBytes, signal, ...options }: Exchange): Promise<HttpAnswer> {
  // A module import of node:http also loads Node's fetch: 40 ms and 8 MB for commands that send nothing.
  const { request: send } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
  return new Promise((resolve, reject) => {
    const patience = AbortSignal.timeout(LIMITS.requestTimeoutMs)
    const request = send(url, {
      ...options,
      agent: false,
      signal: signal === undefined ? patience : AbortSignal.any([signal, patience]),
    })
    request.on('error', reject)
    request.on('response', (response) => {
      const body = boundedBytes(mostBytes)
      response.on('data', (part: Buffer) => {
        try {
          body.take(part)
        } catch (error) {
          reject(error as Error)
          request.destroy()
        }
      })
      response.on('error', reject)
      response.on('end', () => {
        const { statusCode = 0, headers } = response
        resolve({ status: statusCode, headers, bytes: body.whole() })
      })
    })
    request.end(body)
  })
}

/**
 * Returns the answer of an address, following redirects; each is judged like the first address. Rejects a forbidden
 * redirect, and an answer that is not a success.
 */
export async function askFollowing(
  place: PermittedPlace,
  { headers = {}, ...asking }: Omit<OutgoingRequest, 'method' | 'fromOutside'>,
): Promise<HttpAnswer> {
  let at = place
  let sent = headers
  let fromOutside = false
  for (let hop = 0; hop <= LIMITS.redirects; hop++) {
    const answer = await askOnce(at, { ...asking, headers: sent, fromOutside })
    const { location } = answer.headers
    if (answer.status < 300 || answer.status > 399 || location === undefined) {
      if (answer.status < 200 || answer.status > 299) throw new Error(`HTTP ${answer.status}`)
      return answer
    }
    const next = URL.parse(location, at.url.href)
    if (next === null || !mayLead(at.url, next))
      throw new Error(`it leads to ${next?.host ?? 'nowhere'}, which is refused`)
    // Credentials for one server must not go to another.
    if (next.origin !== at.url.origin) sent = withoutCredentials(sent)
    at = permitPlace(next, at.egress)
    fromOutside ||= answer.outside
  }
  throw new Error('it leads on and on')
}

/**
 * Reports whether one address may redirect to another. Never out of TLS, and never from outside to this computer or its
 * network: services there trust callers from here. Pure.
 */
export function mayLead(from: URL, to: URL): boolean {
  if (to.protocol !== 'https:' && !(to.protocol === 'http:' && from.protocol === 'http:')) return false
  return !isInside(to.hostname) || isInside(from.hostname)
}

function withoutCredentials(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(?:authorization|cookie)$/i.test(name)))
}

/** The places that the list of a grant allows, seen from this computer. Without a grant there is no list. */
export function egressFromHere(entries: readonly string[] | undefined): Egress {
  if (entries === undefined) return EVERYWHERE
  return egressOf(entries, ownAddresses())
}

/** Resolves a name that a tenant chose, without the addresses of this computer. */
export const lookupElsewhere: LookupFunction = (host, options, done) => {
  lookupByCall(host, { ...options, all: true }, (error, all) => {
    if (error !== null) return done(error, '', 0)
    const own = ownAddresses()
    const found = all.filter(({ address }) => !isThisComputer(address) && !own.includes(address))
    const [first] = found
    if (first === undefined) return done(new PlaceRefused(host), '', 0)
    if (options.all === true) return done(null, found)
    return done(null, first.address, first.family)
  })
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))
}

/** The first address of a host that may be asked and reached. */
export async function addressOf(
  host: string,
  port: number,
  {
    egress,
    fromOutside = false,
    resolve = resolved,
  }: Pick<OutgoingRequest, 'fromOutside' | 'resolve'> & { readonly egress: Egress },
): Promise<string> {
  if (!egress.mayAsk(host, port)) throw new PlaceRefused(host)
  const named = isIP(host) === 0
  // A stranger must not learn whether a name is known inside.
  const addresses = named ? await resolve(host).catch((error: unknown) => (egress.terse ? [] : fail(error))) : [host]
  const found = addresses.find((one) => egress.mayReach(one, port) && !(fromOutside && isInside(one)))
  if (found === undefined) throw new PlaceRefused(host)
  return found
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === 'https:' ? 443 : 80))
}

async function resolved(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

function fail(error: unknown): never {
  throw error
}
