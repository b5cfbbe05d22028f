/** An HTTP/1.1 answer, read to its last byte. */
export interface Http1Response {
  readonly status: number
  /** Text of the status line. */
  readonly reason: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** May the connection carry another request? */
  readonly reusable: boolean
}

/** What came is no HTTP/1.1 answer, or more than we are ready to take. */
export class Http1Error extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.name = 'Http1Error'
    this.code = code
  }
}

export interface ResponseReader {
  /**
   * Takes what arrived; returns the answer when it is complete. Throws Http1Error. The bytes are only borrowed: what is
   * still needed after the call has been copied, so that one buffer can serve for all that a connection receives.
   */
  push(chunk: Buffer): Http1Response | undefined
  /** The other side closed: complete only for an answer that is delimited by the close. */
  end(): Http1Response | undefined
}

const HEAD_BYTES = 64 * 1024
const HEAD_END = '\r\n\r\n'
const NOTHING = Buffer.alloc(0)

interface ResponseHead {
  readonly status: number
  readonly reason: string
  readonly headers: Readonly<Record<string, string>>
  readonly keepAlive: boolean
  readonly body:
    | { readonly by: 'length'; readonly bytes: number }
    | { readonly by: 'chunks' }
    | { readonly by: 'close' }
}

/**
 * Reads one answer. Strict: whatever it does not understand is an error, never a guess. With `onPart` the body of a 200
 * is handed on as it comes and not kept: it may go on for ever.
 */
export function readResponse(bodyBytes: number, onPart?: (part: Buffer) => void): ResponseReader {
  let rest: Buffer = NOTHING
  let head: ResponseHead | undefined
  let parts: Buffer[] = []
  let taken = 0
  // Of the parts so many are our own.
  let owned = 0
  // Bytes still to come of the chunk that is being read; undefined between chunks; -1 in the trailer.
  let chunkLeft: number | undefined

  const take = (part: Buffer) => {
    if (onPart !== undefined && head?.status === 200) {
      if (part.length > 0) onPart(part)
      return
    }
    taken += part.length
    if (taken > bodyBytes) throw tooLarge(bodyBytes)
    if (part.length > 0) parts.push(part)
  }
  const complete = (of: ResponseHead, reusable: boolean): Http1Response => {
    const only = parts.length === 1 ? parts[0] : Buffer.concat(parts)
    const body = only === undefined ? '' : only.toString('utf8')
    return { status: of.status, reason: of.reason, headers: of.headers, body, reusable }
  }

  function readByLength(of: ResponseHead, bytes: number): Http1Response | undefined {
    if (bytes > bodyBytes) throw tooLarge(bodyBytes)
    const missing = bytes - taken
    if (rest.length < missing) {
      take(rest)
      rest = NOTHING
      return undefined
    }
    take(rest.subarray(0, missing))
    // More than was announced: the connection is out of step and must not be used again.
    return complete(of, of.keepAlive && rest.length === missing)
  }

  function readByChunks(of: ResponseHead): Http1Response | undefined {
    for (;;) {
      if (chunkLeft === undefined || chunkLeft === -1) {
        const end = rest.indexOf('\r\n')
        if (end === -1) {
          if (rest.length > 1024) throw new Http1Error('ERR_HTTP', 'a chunk of the answer has no size')
          return undefined
        }
        const line = rest.toString('latin1', 0, end)
        rest = rest.subarray(end + 2)
        if (chunkLeft === -1) {
          if (line === '') return complete(of, of.keepAlive && rest.length === 0)
          continue
        }
        const size = /^([0-9a-f]{1,8})\s*(?:;|$)/i.exec(line)?.[1]
        if (size === undefined) throw new Http1Error('ERR_HTTP', 'a chunk of the answer has no size')
        chunkLeft = Number.parseInt(size, 16) || -1
        continue
      }
      const data = Math.min(chunkLeft, rest.length)
      take(rest.subarray(0, data))
      rest = rest.subarray(data)
      chunkLeft -= data
      // With 0 left, the line end after the chunk is still to come.
      if (chunkLeft > 0 || rest.length < 2) return undefined
      if (rest[0] !== 13 || rest[1] !== 10) throw new Http1Error('ERR_HTTP', 'a chunk of the answer has no end')
      rest = rest.subarray(2)
      chunkLeft = undefined
    }
  }

  function advance(): Http1Response | undefined {
    while (head === undefined) {
      const end = rest.indexOf(HEAD_END)
      if (end === -1) {
        if (rest.length > HEAD_BYTES) throw new Http1Error('ERR_HTTP', 'the head of the answer is too long')
        return undefined
      }
      const found = knownHead(rest.toString('utf8', 0, end))
      rest = rest.subarray(end + HEAD_END.length)
      // 100 Continue and its like come before the answer itself.
      if (found.status >= 200) head = found
    }
    if (head.body.by === 'length') return readByLength(head, head.body.bytes)
    if (head.body.by === 'chunks') return readByChunks(head)
    take(rest)
    rest = NOTHING
    return undefined
  }

  function keep(): void {
    rest = rest.length === 0 ? NOTHING : Buffer.from(rest)
    for (; owned < parts.length; owned++) parts[owned] = Buffer.from(parts[owned] as Buffer)
  }

  return {
    push(chunk) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const answer = advance()
      if (answer === undefined) keep()
      return answer
    },
    end() {
      if (head?.body.by !== 'close') return undefined
      const response = complete(head, false)
      parts = []
      return response
    },
  }
}

function tooLarge(bodyBytes: number): Http1Error {
  return new Http1Error('ERR_BODY_TOO_LARGE', `the answer is larger than ${bodyBytes} bytes`)
}

/** The last ones that came. */
const heads = new Map<string, ResponseHead>()
const KNOWN_HEADS = 32

/** Of a thousand answers within a second most have the very same head: the same date, type and length. */
function knownHead(text: string): ResponseHead {
  const known = heads.get(text)
  if (known !== undefined) return known
  const head = parseHead(text)
  if (heads.size >= KNOWN_HEADS) heads.clear()
  heads.set(text, head)
  return head
}

function parseHead(text: string): ResponseHead {
  const first = text.indexOf('\r\n')
  const status = /^HTTP\/1\.([01]) (\d{3})(?: (.*))?$/.exec(first === -1 ? text : text.slice(0, first))
  if (status === null) throw new Http1Error('ERR_HTTP', 'the answer is not HTTP/1.1')
  const headers: Record<string, string> = Object.create(null)
  // Line by line without a list of lines: this may be done for each of thousands of answers.
  for (let at = first === -1 ? text.length : first + 2; at < text.length; ) {
    const found = text.indexOf('\r\n', at)
    const end = found === -1 ? text.length : found
    const colon = text.indexOf(':', at)
    if (colon <= at || colon >= end) throw new Http1Error('ERR_HTTP', 'the answer has a header without a name')
    const name = text.slice(at, colon).toLowerCase()
    const value = text.slice(colon + 1, end).trim()
    at = end + 2
    const before = headers[name]
    if (before !== undefined && name === 'content-length' && before !== value)
      throw new Http1Error('ERR_HTTP', 'the answer has two lengths')
    headers[name] = before === undefined || name === 'content-length' ? value : `${before}, ${value}`
  }
  const code = Number(status[2])
  const connection = headers.connection?.toLowerCase() ?? ''
  const keepAlive = status[1] === '1' ? !connection.includes('close') : connection.includes('keep-alive')
  return { status: code, reason: (status[3] ?? '').trim(), headers, keepAlive, body: bodyOf(code, headers) }
}

function bodyOf(status: number, headers: Readonly<Record<string, string>>): ResponseHead['body'] {
  if (status < 200 || status === 204 || status === 304) return { by: 'length', bytes: 0 }
  const encoding = headers['transfer-encoding']?.toLowerCase()
  if (encoding === 'chunked') return { by: 'chunks' }
  if (encoding !== undefined) throw new Http1Error('ERR_HTTP', `the answer is encoded as ${encoding.slice(0, 40)}`)
  const length = headers['content-length']
  if (length === undefined) return { by: 'close' }
  if (!/^\d{1,15}$/.test(length)) throw new Http1Error('ERR_HTTP', 'the length of the answer is not a number')
  return { by: 'length', bytes: Number(length) }
}
