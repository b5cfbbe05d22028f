import { WebSocket } from 'ws'

/** A page that has joined a console, as a browser would. */
export interface JoinedConsole {
  type(text: string | Uint8Array): void
  tell(message: unknown): void
  /** All that came of the terminal so far. */
  shown(): string
  bytes(): number
  /** Resolves when what came matches; rejects when it ends before. */
  shows(pattern: RegExp): Promise<void>
  /** Resolves when so many bytes came. */
  reaches(bytes: number): Promise<void>
  /** Confirms everything that came, as a page does that has drawn it. */
  draws(): void
  /** The closing message of croft. */
  readonly ended: Promise<string | undefined>
  leave(): void
}

/** The status with which the web socket was refused, or the console. */
export function joinConsole(
  host: string,
  protocols: readonly string[],
  headers: Readonly<Record<string, string>>,
  path = '/api/console',
): Promise<number | JoinedConsole> {
  return new Promise((resolve, reject) => {
    const web = new WebSocket(`ws://${host}${path}`, protocols, { headers: { ...headers }, perMessageDeflate: false })
    let shown = Buffer.alloc(0)
    let undrawn = 0
    let look = () => {}
    let said: string | undefined
    const ended = new Promise<string | undefined>((over) => web.on('close', () => over(said)))
    web.on('message', (data, isBinary) => {
      if (isBinary) {
        shown = Buffer.concat([shown, data])
        undrawn += data.length
        look()
      } else said = (JSON.parse(data.toString('utf8')) as { readonly ended: string }).ended
    })
    web.on('error', reject)
    web.once('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0)
      web.on('error', () => {})
      web.terminate()
    })
    const console: JoinedConsole = {
      type: (text) => web.send(Buffer.from(text)),
      tell: (message) => web.send(JSON.stringify(message)),
      shown: () => shown.toString('utf8'),
      bytes: () => shown.length,
      shows: (pattern) =>
        new Promise((seen, failed) => {
          look = () => (pattern.test(shown.toString('utf8')) ? seen() : undefined)
          void ended.then((why) => failed(new Error(`it ended before ${pattern}: ${why}; ${shown.toString('utf8')}`)))
          look()
        }),
      reaches: (bytes) =>
        new Promise((seen) => {
          look = () => (shown.length >= bytes ? seen() : undefined)
          look()
        }),
      draws() {
        if (undrawn > 0) web.send(JSON.stringify({ drawn: undrawn }))
        undrawn = 0
      },
      ended,
      leave: () => web.close(),
    }
    web.once('open', () => resolve(console))
  })
}
