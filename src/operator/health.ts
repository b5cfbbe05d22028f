import { createServer } from 'node:http'

/** Serves /healthz and /readyz, for the kubelet. A blocked loop does not answer, which counts as unhealthy. */
export async function serveHealth(
  address: string,
  isReady: () => boolean,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const place = /^(?:\[([0-9a-fA-F:]+)\]|([0-9A-Za-z.-]+)):([0-9]{1,5})$/.exec(address)
  if (place === null) throw new Error(`${address} is not an address like 0.0.0.0:8081`)
  const server = createServer((request, response) => {
    const known = request.url === '/healthz' || request.url === '/readyz'
    const ok = request.url === '/healthz' || isReady()
    response.writeHead(known ? (ok ? 200 : 503) : 404, { 'content-type': 'text/plain' })
    response.end(known ? (ok ? 'ok\n' : 'not ready\n') : 'not found\n')
  })
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(Number(place[3]), place[1] ?? place[2], done)
  })
  const bound = server.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : 0,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
