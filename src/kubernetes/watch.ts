import { cleanText } from '../lib/clean-text.ts'
import { parseForeignJson } from '../lib/foreign-json.ts'
import { LIMITS } from '../lib/limits.ts'
import { type Wire, WireFailure } from '../lib/wire.ts'
import { translate } from './api-errors.ts'
import type { Asked } from './client.ts'
import { at, type Foreign, isRecord, nameOf } from './objects.ts'

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: Foreign
  /** Characters that it came in. */
  readonly length: number
}

interface WatchOptions {
  /** The start: the version of a list, or the one at which an earlier watch ended. */
  readonly resourceVersion: string
  readonly labelSelector?: string
  /** The server ends the watch after this time. */
  readonly timeoutSeconds?: number
}

/** `gone`: the server dropped the changes since, so list again. The version is where to go on, even after errors. */
type Watched = { readonly resourceVersion: string } & (
  | { readonly is: 'ended' }
  | { readonly is: 'gone' }
  | Exclude<Asked<never>, { readonly is: 'answer' }>
)

/**
 * Watches a list until the server or the signal ends it. Bookmarks advance the version without changes, so that the
 * next watch starts from a version that the server still has.
 */
export async function watch(
  wire: Wire,
  path: string,
  options: WatchOptions,
  onEvent: (event: WatchEvent) => void,
  signal: AbortSignal,
): Promise<Watched> {
  const query = new URLSearchParams({
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: options.resourceVersion,
    timeoutSeconds: String(options.timeoutSeconds ?? LIMITS.watchSeconds),
    ...(options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector }),
  })
  const request = { method: 'GET', path: `${path}?${query.toString()}`, headers: { accept: 'application/json' } }
  let { resourceVersion } = options
  /** The pieces of an unfinished event: joined once, to avoid quadratic time. */
  let begun: string[] = []
  let begunLength = 0
  let ended: Watched | undefined

  const line = (text: string) => {
    const value = parse(text)
    if (!isRecord(value) || !isRecord(value.object) || ended !== undefined) return
    const { type, object } = value
    if (type === 'ERROR') {
      const status = Number(at(object, 'code')) || 500
      ended =
        status === 410
          ? { is: 'gone', resourceVersion }
          : {
              is: 'error',
              resourceVersion,
              status,
              body: object,
              refusal: translate({ status, body: object, doing: `watch ${path}` }),
            }
      return
    }
    resourceVersion = nameOf(at(object, 'metadata', 'resourceVersion')) ?? resourceVersion
    if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') onEvent({ type, object, length: text.length })
  }
  const take = (text: string) => {
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      line(begun.join('') + text.slice(from, end))
      begun = []
      begunLength = 0
      from = end + 1
    }
    if (from === text.length) return
    begun.push(from === 0 ? text : text.slice(from))
    begunLength += text.length - from
    if (begunLength > LIMITS.responseBytes) throw new WireFailure('maybe', 'ERR_BODY_TOO_LARGE', 'an event has no end')
  }

  try {
    const answer =
      wire.stream === undefined ? await wire.send(request, signal) : await wire.stream(request, take, signal)
    if (answer.status !== 200) {
      const body = parse(answer.body)
      if (answer.status === 410) return { is: 'gone', resourceVersion }
      const refusal = translate({ status: answer.status, body, doing: `watch ${path}` })
      return { is: 'error', resourceVersion, status: answer.status, body, refusal }
    }
    if (answer.body !== '') take(answer.body)
    if (begunLength > 0) line(begun.join(''))
    return ended ?? { is: 'ended', resourceVersion }
  } catch (error) {
    if (!(error instanceof WireFailure)) throw error
    // A watch that we ended is complete.
    if (signal.aborted) return { is: 'ended', resourceVersion }
    return { is: 'silence', resourceVersion, sent: error.sent, code: error.code, message: cleanText(error.message) }
  }
}

function parse(text: string): unknown {
  try {
    return parseForeignJson(text)
  } catch {
    return text
  }
}
