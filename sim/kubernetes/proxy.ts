import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttps, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { LIMITS } from '../../src/lib/limits.ts'
import { issueLeaf } from '../k3s/authorities.ts'
import { serverAt } from '../k3s/network.ts'
import type { K3sProcess, World } from '../world/types.ts'
import { callServer } from './api.ts'
import { servedNames } from './wire.ts'

export interface ClusterProxy {
  /** `http://127.0.0.1:3128`, for HTTPS_PROXY or a kubeconfig's proxy-url. */
  readonly url: string
  close(): Promise<void>
}

/**
 * A proxy through which the addresses of simulated machines are reached: a connection to 10.0.0.5:6443 ends at the K3s
 * that listens there in the simulation, over real TLS with the certificate that its CA made.
 */
export async function serveClusters(
  world: World,
  options: { readonly host?: string; readonly port?: number } = {},
): Promise<ClusterProxy> {
  const host = options.host ?? '127.0.0.1'
  const sockets = new Set<Duplex>()
  const doors = new WeakMap<K3sProcess, Server>()
  const front = createHttp((_, response) => {
    response.writeHead(405, { 'Content-Type': 'text/plain' })
    response.end('only CONNECT is served here\n')
  })
  front.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  front.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    const target = /^\[?([^\]]+?)\]?:(\d+)$/.exec(request.url ?? '')
    const process = target?.[2] === '6443' ? serverAt(world, target[1] ?? '') : undefined
    if (process === undefined) {
      socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
      return
    }
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (head.length > 0) socket.unshift(head)
    const door = doors.get(process) ?? doorOf(process)
    doors.set(process, door)
    door.emit('connection', socket)
  })
  await new Promise<void>((resolve, reject) => {
    front.once('error', reject)
    front.listen(options.port ?? 0, host, () => {
      front.off('error', reject)
      resolve()
    })
  })
  const { port } = front.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        front.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** Port 6443 of one server. */
function doorOf(process: K3sProcess): Server {
  const leaf = issueLeaf(
    process.files,
    'server-ca',
    { commonName: 'k3s', organizations: ['k3s'], altNames: servedNames(process), usages: ['serverAuth'] },
    process.computer.world.clock.now(),
  )
  const chain = `${leaf.certificate.pem}${process.files.get('server-ca.crt') ?? ''}`
  const tls = { key: leaf.keyPem, cert: chain, requestCert: true, rejectUnauthorized: false }
  const server = createHttps(tls, (request, response) => {
    void exchange(process, request, response)
  })
  server.on('tlsClientError', (_, socket) => socket.destroy())
  return server
}

async function exchange(process: K3sProcess, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    if (!process.alive || !process.computer.isUp()) throw new Error('nobody listens any more')
    const body = await readBody(request)
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(request.headers))
      headers[name] = Array.isArray(value) ? value.join(', ') : (value ?? '')
    const certificatePem = (request.socket as TLSSocket).getPeerX509Certificate()?.toString()
    const method = request.method ?? 'GET'
    const answer = await callServer(
      process,
      { method, path: request.url ?? '/', headers, ...(body.length > 0 ? { body } : {}) },
      certificatePem === undefined ? {} : { certificatePem },
    )
    if (answer === undefined) {
      await hangUntilEnd(process, request)
      return
    }
    if ('response' in answer) {
      response.writeHead(answer.response.status, answer.response.headers)
      response.end(answer.response.body)
      return
    }
    const { clock } = process.computer.world
    response.writeHead(200, {
      'Content-Type': answer.watch.type ?? 'application/json',
      'Cache-Control': 'no-cache, private',
    })
    response.flushHeaders()
    const end = () => {
      timer.cancel()
      stop()
      response.end()
    }
    const timer = clock.schedule(clock.now() + answer.watch.timeoutMs, end)
    const stop = answer.watch.start((line) => response.write(line), end)
    response.once('close', end)
  } catch {
    request.socket.destroy()
  }
}

/** No answer comes; when the process ends, the connection breaks. */
async function hangUntilEnd(process: K3sProcess, request: IncomingMessage): Promise<void> {
  while (process.alive && !request.socket.destroyed) await process.computer.world.clock.sleep(1_000)
  request.socket.destroy()
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > LIMITS.shellFileBytes) throw new Error('the body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
