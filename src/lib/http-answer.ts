import type { ClientRequest, IncomingMessage } from 'node:http'
import { LIMITS } from './limits.ts'
import { WireFailure, type WireResponse } from './wire.ts'

/** Interim answers, such as 100 Continue, before the answer itself. */
const MOST_INTERIM = 20
/** A server may write a line at a time, but not a letter at a time: each part costs a call. */
const MOST_PARTS = 20_000
const LEAST_PART_BYTES = 16

/**
 * Resolves when the whole answer was read. With `onText`, hands on the text of a 200 answer as it comes and keeps none of
 * it, so that such an answer may last for days.
 */
export function readAnswer(request: ClientRequest, onText?: (text: string) => void): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    let interim = 0
    request.on('information', () => {
      if (++interim > MOST_INTERIM) reject(notHttp('the answer has too many heads'))
    })
    request.once('response', (answer) => {
      const refused = refusalOfHead(answer)
      if (refused !== undefined) return reject(refused)
      const { statusCode: status = 0, statusMessage = '' } = answer
      const bounded = boundedText()
      answer.setEncoding('utf8')
      answer.on('data', (text: string) => {
        try {
          if (onText !== undefined && status === 200) onText(text)
          else bounded.add(text)
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      })
      answer.on('error', reject)
      answer.once('end', () => {
        // The server did not wait for the whole request: the rest of it would be read as the next one.
        if (!request.writableFinished) request.destroy()
        // Node reads heads as Latin-1.
        const reason = Buffer.from(statusMessage, 'latin1').toString('utf8').trim()
        resolve({ status, reason, headers: headersOf(answer), body: bounded.text() })
      })
    })
  })
}

function refusalOfHead({ httpVersionMajor, headers }: IncomingMessage): WireFailure | undefined {
  if (httpVersionMajor !== 1) return notHttp('the answer is not HTTP/1.1')
  const encoding = headers['transfer-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    return notHttp(`the answer is encoded as ${encoding.slice(0, 40)}`)
  return Number(headers['content-length'] ?? 0) > LIMITS.responseBytes ? tooLarge() : undefined
}

/** Text that refuses to grow beyond the bound of an answer, or letter by letter. */
function boundedText() {
  let text = ''
  let bytes = 0
  let parts = 0
  return {
    add(part: string) {
      text += part
      bytes += Buffer.byteLength(part)
      parts++
      if (bytes > LIMITS.responseBytes) throw tooLarge()
      if (parts > MOST_PARTS && bytes / parts < LEAST_PART_BYTES)
        throw notHttp(`the answer comes in more than ${MOST_PARTS} tiny parts`)
    },
    text: () => text,
  }
}

function headersOf({ headers }: IncomingMessage): WireResponse['headers'] {
  const all: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(headers))
    all[name] = Array.isArray(value) ? value.join(', ') : (value ?? '')
  return all
}

function tooLarge(): WireFailure {
  return new WireFailure('maybe', 'ERR_BODY_TOO_LARGE', `the answer is larger than ${LIMITS.responseBytes} bytes`)
}

function notHttp(message: string): WireFailure {
  return new WireFailure('maybe', 'ERR_HTTP', message)
}
