import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Http1Error, type Http1Response, readResponse } from './http1-response.ts'

function readAll(text: string, cuts: readonly number[] = [], limit = 1_000_000): Http1Response | undefined {
  const bytes = Buffer.from(text, 'utf8')
  const reader = readResponse(limit)
  const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  let answer: Http1Response | undefined
  let from = 0
  for (const to of [...at, bytes.length]) {
    // As a connection does it: the next bytes come into the same buffer.
    const borrowed = Buffer.from(bytes.subarray(from, to))
    if (to > from) answer = reader.push(borrowed) ?? answer
    borrowed.fill('#')
    from = to
  }
  return answer
}

const chunked = (parts: readonly string[]) =>
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${parts
    .filter((part) => part !== '')
    .map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`)
    .join('')}0\r\n\r\n`

describe('readResponse', () => {
  it('reads status, reason, headers and a body of known length', () => {
    const answer = readAll('HTTP/1.1 500 VM is locked (clone)\r\nContent-Length: 4\r\nX-A: 1\r\nx-a: 2\r\n\r\nbody')
    assert.deepEqual(
      { ...answer, headers: { ...answer?.headers } },
      {
        status: 500,
        reason: 'VM is locked (clone)',
        headers: { 'content-length': '4', 'x-a': '1, 2' },
        body: 'body',
        reusable: true,
      },
    )
  })

  it('gives the same answer however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' })),
        fc.array(fc.nat()),
        fc.boolean(),
        (parts, cuts, byLength) => {
          const body = parts.join('')
          const text = byLength
            ? `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
            : chunked(parts)
          const answer = readAll(text, cuts)
          assert.equal(answer?.body, body)
          assert.equal(answer?.reusable, true)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('passes over 100 Continue, takes a trailer, and reads no body where there can be none', () => {
    assert.equal(readAll('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx')?.body, 'x')
    assert.equal(
      readAll('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;a=b\r\nx\r\n0\r\nX: y\r\n\r\n')?.body,
      'x',
    )
    assert.equal(readAll('HTTP/1.1 204 No Content\r\n\r\n')?.body, '')
  })

  it('an answer without a length ends with the connection', () => {
    const reader = readResponse(100)
    assert.equal(reader.push(Buffer.from('HTTP/1.0 200 OK\r\n\r\nab')), undefined)
    assert.equal(reader.push(Buffer.from('c')), undefined)
    assert.deepEqual([reader.end()?.body, readResponse(1).end()], ['abc', undefined])
  })

  it('an answer that is cut short is none', () => {
    const reader = readResponse(100)
    assert.equal(reader.push(Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab')), undefined)
    assert.equal(reader.end(), undefined)
  })

  for (const [why, text, reusable] of [
    ['HTTP/1.1 by itself', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', true],
    ['Connection: close', 'HTTP/1.1 200 OK\r\nConnection: close\r\ncontent-length: 0\r\n\r\n', false],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n', false],
    ['HTTP/1.0 with keep-alive', 'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\ncontent-length: 0\r\n\r\n', true],
    ['more bytes than announced', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nxHTTP/1.1 200 OK', false],
    ['more bytes after the last chunk', `${chunked(['a'])}x`, false],
  ] as const) {
    it(`may the connection be used again? ${why}: ${reusable}`, () => assert.equal(readAll(text)?.reusable, reusable))
  }

  for (const [why, text] of [
    ['other protocol', 'SSH-2.0-x\r\n\r\n'],
    ['status that is none', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['header without a name', 'HTTP/1.1 200 OK\r\n: x\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
    ['length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
    ['unknown encoding', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n'],
    ['chunk without a size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n'],
    ['chunk without an end', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n'],
    ['body over the limit', 'HTTP/1.1 200 OK\r\ncontent-length: 2000000\r\n\r\n'.padEnd(1_100_000, 'x')],
    ['head without an end', 'HTTP/1.1 200 OK\r\n'.padEnd(100_000, 'x')],
  ] as const) {
    it(`[S-16] refuses: ${why}`, () => assert.throws(() => readAll(text), Http1Error))
  }

  const fed = (bytes: Buffer, step: number, limit = 8 * 1024 * 1024) => {
    const reader = readResponse(limit)
    const before = process.cpuUsage()
    const memory = process.memoryUsage()
    let most = 0
    let answer: Http1Response | undefined
    let error = ''
    try {
      for (let at = 0; at < bytes.length && answer === undefined; at += step) {
        answer = reader.push(bytes.subarray(at, at + step))
        if (at % (step * 500) < step) {
          const { heapUsed, arrayBuffers } = process.memoryUsage()
          most = Math.max(most, heapUsed + arrayBuffers - memory.heapUsed - memory.arrayBuffers)
        }
      }
    } catch (caught) {
      error = caught instanceof Http1Error ? caught.message : String(caught)
    }
    const { user, system } = process.cpuUsage(before)
    return { answer, error, ms: (user + system) / 1000, mb: most / 1024 ** 2 }
  }
  const head = (more: string) => Buffer.from(`HTTP/1.1 200 OK\r\n${more}\r\n\r\n`)
  const MB = 1024 ** 2

  for (const [what, bytes, step, told] of [
    [
      'a body in chunks of one byte',
      Buffer.concat([head('Transfer-Encoding: chunked'), Buffer.from('1\r\nx\r\n'.repeat(2 * MB))]),
      16_384,
      /more than 20000 tiny chunks/,
    ],
    [
      'chunks of one byte with long names',
      Buffer.concat([head('Transfer-Encoding: chunked'), Buffer.from(`1;${'n'.repeat(200)}\r\nx\r\n`.repeat(50_000))]),
      16_384,
      /more than 20000 tiny chunks/,
    ],
    ['a head that drips and never ends', head(`X: ${'y'.repeat(70_000)}`), 1, /head of the answer is too long/],
    ['a head of many lines that drips', head('a: b\r\n'.repeat(12_000)), 1, /head of the answer is too long/],
    ['heads without end', Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(10_000)), 100, /too many heads/],
    [
      'a trailer without end',
      Buffer.concat([head('Transfer-Encoding: chunked'), Buffer.from(`0\r\n${'a: b\r\n'.repeat(20_000)}`)]),
      1_000,
      /what follows the answer is too long/,
    ],
    ['a body that drips', Buffer.concat([head(`Content-Length: ${MB}`), Buffer.alloc(MB, 120)]), 1, undefined],
    ['a body without a length that drips', Buffer.concat([head('A: b'), Buffer.alloc(MB / 2, 120)]), 1, undefined],
    [
      'chunks of a line each',
      Buffer.concat([
        head('Transfer-Encoding: chunked'),
        Buffer.from(`40\r\n${'x'.repeat(64)}\r\n`.repeat(40_000)),
        Buffer.from('0\r\n\r\n'),
      ]),
      16_384,
      undefined,
    ],
  ] as const)
    it(`[S-31] takes little time and memory for ${what}`, () => {
      const { answer, error, ms, mb } = fed(bytes, step)
      if (told !== undefined) assert.match(error, told)
      else assert.equal(error, '')
      if (answer !== undefined) assert.equal(answer.body.length, 40_000 * 64 === answer.body.length ? 2_560_000 : MB)
      assert.ok(ms < 5_000, `${ms} ms`)
      assert.ok(mb < 30, `${mb} MB`)
    })
})
