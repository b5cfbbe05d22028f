import type { PageTerminal } from './port.ts'

/** Maximum of one message: croft accepts this much. */
const TYPED_BYTES = 8 * 1024
/** Bytes drawn between two reports: seldom enough to cost nothing, and far below what croft sends ahead. */
const DRAWN_BYTES = 32 * 1024

/** The web socket of a console. */
export interface ConsoleLine {
  type(bytes: Uint8Array): void
  resize(size: { readonly columns: number; readonly rows: number }): void
  close(): void
}

/** Connects a terminal to the console of this ticket. Calls `ended` once, with croft's reason if there is one. */
export function joinConsole(ticket: string, terminal: PageTerminal, ended: (why: string) => void): ConsoleLine {
  const web = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/api/console`, ['croft-console', ticket])
  web.binaryType = 'arraybuffer'
  let why = 'The connection to croft is lost.'
  let drawn = 0
  const send = (data: string | Uint8Array<ArrayBuffer>) => {
    if (web.readyState === WebSocket.OPEN) web.send(data)
  }
  const resize = (size: { readonly columns: number; readonly rows: number }) => send(JSON.stringify(size))
  web.addEventListener('open', () => resize(terminal.size()))
  web.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
    if (typeof data === 'string') {
      const said = JSON.parse(data) as { readonly ended?: string }
      why = said.ended ?? why
      return
    }
    terminal.write(new Uint8Array(data), () => {
      drawn += data.byteLength
      if (drawn < DRAWN_BYTES) return
      send(JSON.stringify({ drawn }))
      drawn = 0
    })
  })
  web.addEventListener('close', () => ended(why))
  return {
    type(bytes) {
      for (let at = 0; at < bytes.length; at += TYPED_BYTES) send(bytes.slice(at, at + TYPED_BYTES))
    },
    resize,
    close: () => web.close(),
  }
}
