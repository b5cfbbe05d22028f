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
/** Answers like 100 Continue before the answer itself. */
const MOST_HEADS = 20
/** A server may write a line at a time, and does not write a letter at a time. */
const MOST_CHUNKS = 20_000
const LEAST_CHUNK_BYTES = 16
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
  const tail = createBytes()
  let head: ResponseHead | undefined
  // So much of the head was looked through for its end, and so many answers came before the answer itself.
  let searched = 0
  let heads = 0
  // Parts of the last arrival are borrowed; what came before them is in one buffer, however small its pieces were.
  let parts: Buffer[] = []
  const body = createBytes()
  let taken = 0
  let chunks = 0
  let trailer = 0
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
    const first = parts[0]
    const { status, reason, headers } = of
    if (body.view().length === 0 && parts.length === 1 && first !== undefined)
      return { status, reason, headers, body: first.toString('utf8'), reusable }
    gather()
    return { status, reason, headers, body: body.view().toString('utf8'), reusable }
  }

  function gather(): void {
    for (const part of parts) body.append(part)
    parts = []
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
          trailer += line.length + 2
          if (trailer > HEAD_BYTES) throw new Http1Error('ERR_HTTP', 'what follows the answer is too long')
          if (line === '') return complete(of, of.keepAlive && rest.length === 0)
          continue
        }
        const size = /^([0-9a-f]{1,8})\s*(?:;|$)/i.exec(line)?.[1]
        if (size === undefined) throw new Http1Error('ERR_HTTP', 'a chunk of the answer has no size')
        chunkLeft = Number.parseInt(size, 16) || -1
        chunks += 1
        if (onPart === undefined && chunks > MOST_CHUNKS && taken / chunks < LEAST_CHUNK_BYTES)
          throw new Http1Error('ERR_HTTP', `the answer comes in more than ${MOST_CHUNKS} tiny chunks`)
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
      const end = rest.indexOf(HEAD_END, Math.max(0, searched - HEAD_END.length))
      if (end === -1) {
        if (rest.length > HEAD_BYTES) throw new Http1Error('ERR_HTTP', 'the head of the answer is too long')
        searched = rest.length
        return undefined
      }
      searched = 0
      heads += 1
      if (heads > MOST_HEADS) throw new Http1Error('ERR_HTTP', 'the answer has too many heads')
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

  return {
    push(chunk) {
      const waited = tail.view().length
      if (waited > 0) tail.append(chunk)
      rest = waited > 0 ? tail.view() : chunk
      const before = rest.length
      const answer = advance()
      if (answer !== undefined) return answer
      gather()
      if (waited > 0) tail.drop(before - rest.length)
      else tail.append(rest)
      rest = NOTHING
      return undefined
    },
    end() {
      if (head?.body.by !== 'close') return undefined
      return complete(head, false)
    },
  }
}

/** Bytes that become more: to append costs what is appended, however small the pieces are. */
interface GrowingBytes {
  view(): Buffer
  append(bytes: Buffer): void
  /** Drops so many from the beginning. */
  drop(count: number): void
}

function createBytes(): GrowingBytes {
  let room = NOTHING
  let [from, to] = [0, 0]
  return {
    view: () => room.subarray(from, to),
    append(bytes) {
      if (bytes.length === 0) return
      if (to + bytes.length > room.length) {
        const larger = Buffer.allocUnsafe(Math.max(256, 2 * (to - from + bytes.length)))
        room.copy(larger, 0, from, to)
        to -= from
        from = 0
        room = larger
      }
      bytes.copy(room, to)
      to += bytes.length
    },
    drop(count) {
      from += count
      if (from === to) [from, to] = [0, 0]
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
