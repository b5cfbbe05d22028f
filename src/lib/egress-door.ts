import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Egress } from './egress.ts'
import { addressOf, type OutgoingRequest } from './outgoing.ts'

/** An HTTP proxy on this computer that passes TLS through, for other programs such as git. */
export interface EgressDoor extends AsyncDisposable {
  readonly url: string
}

/** Connects to places of the list only, each to the very address that was judged. */
export async function openEgressDoor(
  egress: Egress,
  resolve?: NonNullable<OutgoingRequest['resolve']>,
): Promise<EgressDoor> {
  const open = new Set<Socket>()
  const server = createServer((_request, response) => response.writeHead(403).end())
  server.on('connection', (socket) => void open.add(socket))
  server.on('connect', (request, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    const asked = /^(\[[0-9a-f:.]+\]|[^:]+):(\d{1,5})$/i.exec(request.url ?? '')
    const [host, port] = [(asked?.[1] ?? '').replace(/^\[|\]$/g, ''), Number(asked?.[2])]
    const refuse = () => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    if (asked === null) {
      refuse()
      return
    }
    addressOf(host, port, { egress, ...(resolve === undefined ? {} : { resolve }) }).then((address) => {
      const there = connect(port, address, () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
        there.pipe(socket)
        socket.pipe(there)
      })
      open.add(there)
      there.on('error', refuse)
      socket.on('close', () => there.destroy())
      there.on('close', () => socket.destroy())
    }, refuse)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await new Promise<void>((done) => server.close(() => done()))
    },
  }
}
