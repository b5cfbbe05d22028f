import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as send } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { readAnswer } from './http-answer.ts'
import { LIMITS } from './limits.ts'
import type { WireResponse } from './wire.ts'

interface Read {
  readonly answer: WireResponse | undefined
  readonly code: string
  readonly ms: number
  readonly mb: number
}

const sockets = new Set<Socket>()
after(() => {
  for (const socket of sockets) socket.destroy()
})

/** What the reader makes of these bytes, which a server writes in steps of this size and as fast as they are taken. */
async function read(bytes: Buffer | string, { step = 16_384, onText }: ReadOptions = {}): Promise<Read> {
  const all = Buffer.from(bytes)
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.setNoDelay(true)
    socket.once('data', () => {
      write(socket, all, step).catch(() => {})
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cpu = process.cpuUsage()
  const memory = process.memoryUsage()
  let most = 0
  const watching = setInterval(() => {
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    most = Math.max(most, heapUsed + arrayBuffers - memory.heapUsed - memory.arrayBuffers)
  }, 20)
  const { port } = server.address() as AddressInfo
  const request = send({ port, host: '127.0.0.1', agent: false, joinDuplicateHeaders: true, maxHeaderSize: 64 * 1024 })
  const failed = new Promise<never>((_, reject) => request.on('error', reject))
  request.end()
  const { answer, code } = await Promise.race([readAnswer(request, onText), failed]).then(
    (answer) => ({ answer, code: '' }),
    (error: NodeJS.ErrnoException) => ({ answer: undefined, code: error.code ?? String(error) }),
  )
  request.destroy()
  clearInterval(watching)
  server.close()
  const { user, system } = process.cpuUsage(cpu)
  return { answer, code, ms: (user + system) / 1000, mb: most / 1024 ** 2 }
}

interface ReadOptions {
  readonly step?: number
  readonly onText?: (text: string) => void
}

async function write(socket: Socket, bytes: Buffer, step: number): Promise<void> {
  for (let at = 0; at < bytes.length && !socket.destroyed; at += step) {
    if (!socket.write(bytes.subarray(at, at + step))) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
    else if (step < 16) await turn()
  }
  socket.end()
}

const head = (more: string) => Buffer.from(`HTTP/1.1 200 OK\r\n${more}\r\n\r\n`)
const CHUNKED = head('Transfer-Encoding: chunked')
const MB = 1024 ** 2

describe('readAnswer', () => {
  it('reads status, reason, headers and a body of known length', async () => {
    const { answer } = await read(
      'HTTP/1.1 500 VM is löcked (clone)\r\nContent-Length: 4\r\nX-A: 1\r\nx-a: 2\r\n\r\nbody',
    )
    assert.deepEqual(
      { ...answer, headers: { ...answer?.headers } },
      {
        status: 500,
        reason: 'VM is löcked (clone)',
        headers: { 'content-length': '4', 'x-a': '1, 2' },
        body: 'body',
      },
    )
  })

  it('gives the same text however its bytes are cut, kept or handed on', async () => {
    const body = 'aü€𝄞z'
    const bytes = `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    assert.equal((await read(bytes, { step: 1 })).answer?.body, body)
    let text = ''
    const onText = (part: string) => {
      text += part
    }
    const { answer } = await read(bytes, { step: 1, onText })
    assert.deepEqual([text, answer?.body], [body, ''])
  })

  it('keeps the text of an error that a watch gets in place of events', async () => {
    const { answer } = await read('HTTP/1.1 410 Gone\r\ncontent-length: 4\r\n\r\ngone', { onText: () => assert.fail() })
    assert.deepEqual([answer?.status, answer?.body], [410, 'gone'])
  })

  it('ends with what the reader of the text throws', async () => {
    const refuse = () => {
      throw Object.assign(new Error('an event has no end'), { code: 'ERR_EVENT' })
    }
    assert.equal(
      (await read(Buffer.concat([CHUNKED, Buffer.from('1\r\nx\r\n')]), { onText: refuse })).code,
      'ERR_EVENT',
    )
  })

  for (const [what, text, body] of [
    ['100 Continue comes first', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx', 'x'],
    ['a trailer', `${String(CHUNKED)}1;a=b\r\nx\r\n0\r\nX: y\r\n\r\n`, 'x'],
    ['no body', 'HTTP/1.1 204 No Content\r\n\r\n', ''],
    ['a body that ends with the connection', 'HTTP/1.0 200 OK\r\n\r\nabc', 'abc'],
  ] as const)
    it(`reads: ${what}`, async () => assert.equal((await read(text)).answer?.body, body))

  for (const [why, text] of [
    ['other protocol', 'SSH-2.0-x\r\n\r\n'],
    ['other version', 'HTTP/2.0 200 OK\r\ncontent-length: 1\r\n\r\nx'],
    ['status that is none', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['header without a name', 'HTTP/1.1 200 OK\r\n: x\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx'],
    ['length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
    ['unknown encoding', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nx'],
    ['chunk without a size', `${String(CHUNKED)}xyz\r\n`],
    ['chunk without an end', `${String(CHUNKED)}1\r\nabc\r\n`],
    ['body over the limit', head(`content-length: ${LIMITS.responseBytes + 1}`)],
    [
      'body without a length over the limit',
      Buffer.concat([head('a: b'), Buffer.alloc(LIMITS.responseBytes + 1, 120)]),
    ],
    ['body that is cut short', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab'],
    ['head without an end', Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nX: '), Buffer.alloc(100_000, 120)])],
  ] as const)
    it(`[S-16] refuses: ${why}`, async () => {
      const { answer, code } = await read(text)
      assert.equal(answer, undefined)
      assert.match(code, /^(?:HPE_|ERR_|ECONNRESET)/)
    })

  const repeated = (text: string, count: number) => Buffer.from(text.repeat(count))
  for (const [what, bytes, step, told] of [
    ['a body in chunks of one byte', Buffer.concat([CHUNKED, repeated('1\r\nx\r\n', 2 * MB)]), 16_384, 'ERR_HTTP'],
    [
      'chunks of one byte with long names',
      Buffer.concat([CHUNKED, repeated(`1;${'n'.repeat(200)}\r\nx\r\n`, 50_000)]),
      16_384,
      'ERR_HTTP',
    ],
    ['a head that drips and never ends', head(`X: ${'y'.repeat(70_000)}`), 4, 'HPE_HEADER_OVERFLOW'],
    ['a head of many lines', head('a: b\r\n'.repeat(200_000)), 1_000, 'HPE_HEADER_OVERFLOW'],
    ['heads without end', repeated('HTTP/1.1 100 Continue\r\n\r\n', 100_000), 100, 'ERR_HTTP'],
    [
      'a trailer without end',
      Buffer.concat([CHUNKED, Buffer.from('0\r\n'), repeated('a: b\r\n', 200_000)]),
      1_000,
      'HPE_HEADER_OVERFLOW',
    ],
    ['a body that drips', Buffer.concat([head(`Content-Length: ${MB}`), Buffer.alloc(MB, 120)]), 1, 'ERR_HTTP'],
    [
      'chunks of a line each',
      Buffer.concat([CHUNKED, repeated(`40\r\n${'x'.repeat(64)}\r\n`, 40_000), Buffer.from('0\r\n\r\n')]),
      16_384,
      '',
    ],
  ] as const)
    it(`[S-16] takes little time and memory for ${what}`, async () => {
      const { answer, code, ms, mb } = await read(bytes, { step })
      assert.equal(code, told)
      assert.equal(answer?.body.length, told === '' ? 40_000 * 64 : undefined)
      assert.ok(ms < 5_000, `${ms} ms`)
      assert.ok(mb < 40, `${mb} MB`)
    })
})
