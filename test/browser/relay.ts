import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A wire between the browser and the server that can be cut and mended; the server itself notices nothing but that. */
export async function startRelay(target: number) {
  const sockets = new Set<Socket>()
  let whole = true
  let silent = false
  const relay = createServer((near) => {
    if (!whole) return void near.destroy()
    const far = connect(target, '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (chunk) => void (silent || far.write(chunk)))
    far.on('data', (chunk) => void (silent || near.write(chunk)))
    near.on('end', () => far.end())
    far.on('end', () => near.end())
  })
  await new Promise<void>((done) => relay.listen(0, '127.0.0.1', done))
  const cut = () => {
    whole = false
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    cut,
    /** Drops all bytes without closing a connection. */
    swallow() {
      silent = true
    },
    mend() {
      whole = true
      silent = false
    },
    async close() {
      cut()
      await new Promise<void>((done) => relay.close(() => done()))
    },
  }
}
