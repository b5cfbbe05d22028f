import type { Duplex } from 'node:stream'
import { type Clock, SIM_CLOCK_HEADER } from '../../lib/clock.ts'
import { recordIn } from '../../lib/foreign-json.ts'
import { LIMITS } from '../../lib/limits.ts'
import { createSlots } from '../../lib/slots.ts'
import { type StreamedBody, type Wire, WireFailure, type WireRequest, type WireResponse } from '../../lib/wire.ts'
import type { Secret } from '../../model/secret.ts'
import type { Outcome, Refusal, RestCall } from '../../model/step.ts'
import { ObservationFailed } from '../port.ts'
import { type ForeignError, translate, WORKER_LOST } from './api-errors.ts'
import { type ApiFields, cleanText, isRecord } from './foreign.ts'
import { multipart } from './multipart.ts'
import { parseUpid } from './upid.ts'

const BASE = '/api2/json'
const FORM = 'application/x-www-form-urlencoded'
/** The host loses about one worker in thirty while others end: twice in a row is rare, five times has another cause. */
const WORKER_ATTEMPTS = 5
/** Beyond this, a rejected login is probably due to clocks. */
const SKEW_MS = 60_000

export interface ApiDeps {
  readonly wire: Wire
  readonly clock: Clock
  /** Limit of parallel reads: Proxmox serves three calls at a time and queues the rest. */
  readonly reads: number
  token(): Promise<Secret>
  /** Called after the token was rejected, so that the next call fetches a new one. */
  forgetToken(): void
}

/** The subject of a call, for its error. */
export interface CallSubject {
  readonly doing: string
  readonly host?: string
  readonly guest?: string
}

export interface UploadedFile {
  readonly name: string
  readonly bytes: Uint8Array
}

/** Proxmox's HTTP API: token, form encoding, lenient parsing, and translated errors. */
export interface Api {
  /** Returns the `data` of an answer. Throws ObservationFailed. */
  read(path: string, about: CallSubject, signal: AbortSignal): Promise<unknown>
  /** Reads the whole answer, for the few with fields beside `data`. Throws ObservationFailed. */
  readAnswer(path: string, about: CallSubject, signal: AbortSignal): Promise<ApiFields>
  /**
   * Makes one write. Never throws. `secrets` are revealed into the parameters of this one request; a `file` is sent
   * with them and may contain secrets.
   */
  write(
    call: RestCall,
    secrets: ReadonlyMap<string, Secret>,
    about: CallSubject,
    signal: AbortSignal,
    file?: UploadedFile,
  ): Promise<Outcome>
  /** Makes one write whose body is read while it is sent. Never throws. */
  upload(
    path: string,
    contentType: string,
    body: StreamedBody,
    about: CallSubject,
    signal: AbortSignal,
  ): Promise<Outcome>
  /** Makes one write and returns its answer. Never throws. */
  ask(
    call: RestCall,
    secrets: ReadonlyMap<string, Secret>,
    about: CallSubject,
    signal: AbortSignal,
  ): Promise<ApiOutcome>
  /** Opens a web socket. `secrets` are in its path. Throws ObservationFailed. */
  socket(path: string, about: CallSubject, secrets: readonly Secret[], signal: AbortSignal): Promise<Duplex>
}

export type ApiOutcome =
  | { readonly result: 'answered'; readonly data: unknown }
  | Exclude<Outcome, { result: 'done' | 'started' }>

export function createApi(deps: ApiDeps): Api {
  const slots = createSlots(Math.max(1, deps.reads))

  async function send(
    method: string,
    path: string,
    body: string | Uint8Array | undefined,
    signal: AbortSignal,
    contentType = FORM,
  ): Promise<{ response: WireResponse; token: Secret }> {
    const token = await deps.token()
    const own = headersOf(token)
    // Proxmox refuses a DELETE with a body, even an empty one with a type, with 501.
    const request =
      body === undefined
        ? { method, path: `${BASE}${path}`, headers: own }
        : { method, path: `${BASE}${path}`, headers: { ...own, 'content-type': contentType }, body }
    return { response: await deps.wire.send(request, signal), token }
  }

  function refuse(response: WireResponse, about: CallSubject, secrets: readonly Secret[]): Refusal {
    if (response.status === 401) deps.forgetToken()
    return translate(readError(response, about, secrets, deps.clock.now()))
  }

  function judged(response: WireResponse, about: CallSubject, hidden: readonly Secret[]): ApiOutcome {
    if (response.status === 595) return { result: 'not-sent', message: saidBy(response, about, hidden) }
    if (isProxyFailure(response)) return { result: 'unclear', message: saidBy(response, about, hidden) }
    if (response.status !== 200) return { result: 'refused', refusal: refuse(response, about, hidden) }
    return { result: 'answered', data: answerOf(response.body)?.data }
  }

  async function readAnswer(path: string, about: CallSubject, signal: AbortSignal): Promise<ApiFields> {
    const release = await new Promise<() => void>(slots.take)
    try {
      const { response, token } = await send('GET', path, undefined, signal)
      if (isProxyFailure(response)) throw new ObservationFailed(proxyRefusal(response, about, token))
      if (response.status !== 200) throw new ObservationFailed(refuse(response, about, [token]))
      const answer = answerOf(response.body)
      if (answer?.data === undefined) throw new ObservationFailed(unreadable(about))
      return answer
    } catch (error) {
      throw error instanceof ObservationFailed ? error : new ObservationFailed(unreachable(error, about))
    } finally {
      release()
    }
  }

  return {
    readAnswer,
    read: async (path, about, signal) => (await readAnswer(path, about, signal)).data,

    ask,
    async socket(path, about, secrets, signal) {
      const token = await deps.token()
      const headers = { authorization: `PVEAPIToken=${token.reveal()}` }
      try {
        const { openWebSocket } = await import('../../lib/web-socket.ts')
        const dialed = await deps.wire.dial?.(signal)
        if (dialed === undefined) throw new WireFailure('no', 'ERR_NO_LINE', 'this way carries no web socket')
        const { line, host } = dialed
        const timeoutMs = LIMITS.requestTimeoutMs
        const request = { host, path: `${BASE}${path}`, headers, protocol: 'binary', timeoutMs }
        return await openWebSocket(line, request, signal)
      } catch (error) {
        if (!(error instanceof Error && 'status' in error && typeof error.status === 'number'))
          throw new ObservationFailed(unreachable(error, about))
        const response = { status: error.status, reason: error.message, headers: {}, body: '' }
        throw new ObservationFailed(refuse(response, about, [token, ...secrets]))
      }
    },
    async upload(path, contentType, body, about, signal) {
      try {
        const token = await deps.token()
        const headers = { ...headersOf(token), 'content-type': contentType }
        const sent = deps.wire.upload?.({ method: 'POST', path: `${BASE}${path}`, headers }, body, signal)
        if (sent === undefined)
          return { result: 'not-sent', message: `could not ${about.doing}: this way takes no files` }
        const answer = judged(await sent, about, [token])
        return answer.result === 'answered' ? outcomeOf(answer.data, about) : answer
      } catch (error) {
        return failureOf(error, about)
      }
    },
    async write(call, secrets, about, signal, file) {
      const answer = await ask(call, secrets, about, signal, file)
      return answer.result === 'answered' ? outcomeOf(answer.data, about) : answer
    },
  }

  async function ask(
    call: RestCall,
    secrets: ReadonlyMap<string, Secret>,
    about: CallSubject,
    signal: AbortSignal,
    file?: UploadedFile,
  ): Promise<ApiOutcome> {
    const form = file === undefined ? undefined : multipart(call.params, file)
    const params = formOf(call.params, secrets)
    const inQuery = call.method === 'GET' || call.method === 'DELETE'
    const path = inQuery && params !== '' ? `${call.path}?${params}` : call.path
    try {
      const body = form?.body ?? (inQuery ? undefined : params)
      for (let attempt = 1; ; attempt++) {
        const { response, token } = await send(call.method, path, body, signal, form?.contentType)
        if (attempt < WORKER_ATTEMPTS && workerWasLost(response) && !reservesGuest(call) && !signal.aborted) continue
        return judged(response, about, [token, ...secrets.values()])
      }
    } catch (error) {
      return failureOf(error, about)
    }
  }
}

function headersOf(token: Secret): WireRequest['headers'] {
  return { authorization: `PVEAPIToken=${token.reveal()}`, accept: 'application/json' }
}

/** Encodes `a=b&c=d` with everything escaped: Proxmox splits at every `=`, and in some places does not decode `+`. */
export function formOf(
  params: Readonly<Record<string, string>>,
  secrets: ReadonlyMap<string, Secret> = new Map(),
): string {
  const pairs: string[] = []
  for (const [name, value] of Object.entries(params)) {
    // A list parameter is sent once per value.
    for (const one of secrets.has(name) ? [secrets.get(name)?.reveal() ?? ''] : value.split('\0'))
      pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(one)}`)
  }
  return pairs.join('&')
}

/** Returns an answer with its `data`, even null; undefined if malformed. */
function answerOf(body: string): ApiFields | undefined {
  // A truncated answer, a proxy's HTML page or an empty one is no JSON object.
  return body.charCodeAt(0) === 0x7b ? recordIn(body) : undefined
}

function outcomeOf(data: unknown, about: CallSubject): Outcome {
  if (data === undefined)
    return { result: 'unclear', message: `the answer to "${about.doing}" could not be read; it may have happened` }
  return typeof data === 'string' && parseUpid(data) !== undefined
    ? { result: 'started', taskId: data }
    : { result: 'done' }
}

/** Reports whether a proxy answered, not Proxmox itself. Only 595 proves that nothing was passed on. */
function isProxyFailure({ status, body, reason }: WireResponse): boolean {
  if (status >= 595 && status <= 599) return true
  if (status === 502 || status === 503 || status === 504) return true
  if (status !== 500) return false
  if (body.charCodeAt(0) === 0x3c) return true
  if (/timed? ?out|broken pipe|connection (?:reset|refused|closed)|proxy/i.test(reason) && !/got timeout/.test(reason))
    return true
  return body === '' && (reason === '' || reason === 'Internal Server Error')
}

/**
 * The end of an earlier task interrupts the daemon while it waits for this task's process; it considers that process
 * dead and ends it before it does anything. So nothing has happened, and the same call works the next moment.
 */
function workerWasLost({ status, reason, body }: WireResponse): boolean {
  return status === 500 && (WORKER_LOST.test(reason) || WORKER_LOST.test(body))
}

/** Calls that reserve an id, with a lock that only root can lift, before their process starts: a second one fails. */
function reservesGuest({ method, path }: RestCall): boolean {
  return method === 'POST' && /\/(?:qemu|lxc)(?:\/\d+\/clone)?$/.test(path)
}

function readError(
  response: WireResponse,
  about: CallSubject,
  secrets: readonly Secret[],
  nowMs: number,
): ForeignError {
  const { message, parameters } = parseErrorBody(response.body)
  // Older versions report it only in the status line; HTTP/2 proxies drop that line.
  const texts = [response.reason, message].filter((text, at, all) => text !== '' && all.indexOf(text) === at)
  // A simulated datacentre has its own time, while the Date of its answers is the real computer's.
  const compared = response.status === 401 && response.headers[SIM_CLOCK_HEADER] === undefined
  const skew = compared ? clockSkew(response.headers.date, nowMs) : undefined
  if (skew !== undefined) texts.push(`clock skew ${skew} s`)
  return {
    ...about,
    status: response.status,
    text: mask(texts.join(' '), secrets),
    ...(parameters === undefined
      ? {}
      : {
          parameters: Object.fromEntries(parameters.map(([name, text]) => [cleanText(name, 80), mask(text, secrets)])),
        }),
  }
}

function parseErrorBody(body: string): { message: string; parameters?: [string, string][] } {
  const answer = answerOf(body)
  const message = typeof answer?.message === 'string' ? answer.message.trim() : ''
  if (!isRecord(answer?.errors)) return { message }
  const parameters = Object.entries(answer.errors).slice(0, LIMITS.problemsShown)
  return { message, parameters: parameters.map(([name, text]) => [name, cleanText(String(text))]) }
}

function clockSkew(date: string | undefined, nowMs: number): number | undefined {
  const theirs = date === undefined ? Number.NaN : Date.parse(date)
  return Math.abs(theirs - nowMs) > SKEW_MS ? Math.round((theirs - nowMs) / 1000) : undefined
}

function failureOf(error: unknown, about: CallSubject): Exclude<ApiOutcome, { result: 'answered' }> {
  if (error instanceof ObservationFailed) return { result: 'refused', refusal: error.refusal }
  const message = `could not ${about.doing}: ${textOfError(error)}`
  return { result: error instanceof WireFailure && error.sent === 'no' ? 'not-sent' : 'unclear', message }
}

function unreachable(error: unknown, about: CallSubject): Refusal {
  const certificate = error instanceof WireFailure && error.code === 'ERR_CERT_FINGERPRINT'
  return {
    reason: certificate ? 'WrongCertificate' : 'Unreachable',
    meaning: certificate ? 'stalled' : 'backoff',
    message: `could not ${about.doing}: ${whyUnreachable(error)}`,
    connectionWide: true,
  }
}

function unreadable(about: CallSubject): Refusal {
  return {
    reason: 'UnreadableAnswer',
    meaning: 'backoff',
    message: `could not ${about.doing}: the answer is not what Proxmox sends`,
  }
}

function proxyRefusal(response: WireResponse, about: CallSubject, token: Secret): Refusal {
  return {
    reason: 'HostUnreachable',
    meaning: 'backoff',
    message: saidBy(response, about, [token]),
    // Without a host in the call, the API itself does not answer.
    ...(about.host === undefined ? { connectionWide: true } : {}),
  }
}

function saidBy(response: WireResponse, about: CallSubject, secrets: readonly Secret[]): string {
  const reason = cleanText(mask(response.reason, secrets))
  return `could not ${about.doing}: status ${response.status}${reason === '' ? '' : ` (${reason})`}`
}

/** Network errors are hard to read: their meaning comes first. */
function whyUnreachable(error: unknown): string {
  const text = textOfError(error)
  if (!(error instanceof WireFailure)) return text
  const { code } = error
  const there = /(\S+)$/.exec(text)?.[1] ?? ''
  switch (code) {
    case 'ERR_CERT_FINGERPRINT':
      return `${text}; if the host has a new certificate, compare it with pvenode cert info there and write it under spec.fingerprint`
    case 'ECONNREFUSED':
      return `nothing listens on ${there} (${code}): correct spec.endpoint (Proxmox listens on 8006), or start pveproxy there`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name ${there} cannot be resolved (${code}): correct spec.endpoint, or write the address there`
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return `${there} does not answer (${code}): is the host on, and does the firewall let the port pass?`
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'EPROTO':
      return `what answers at spec.endpoint does not speak HTTPS (${code}): correct the port (Proxmox listens on 8006)`
    default:
      return text
  }
}

function textOfError(error: unknown): string {
  return cleanText(error instanceof Error ? error.message : String(error))
}

/** A foreign text may repeat sent secrets. */
function mask(text: string, secrets: readonly Secret[]): string {
  let masked = text
  for (const secret of secrets) {
    const value = secret.word()
    const lines = value.split(/\r?\n/)
    // A foreign text is a single line, so mask each line of a key separately.
    for (const part of [value, value.slice(value.indexOf('=') + 1), ...(lines.length > 1 ? lines : [])])
      if (part.length >= 4) masked = masked.replaceAll(part, '***')
  }
  return masked
}
