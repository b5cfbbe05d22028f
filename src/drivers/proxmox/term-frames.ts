import type { TerminalSize } from '../../lib/remote-terminal.ts'

/*
 * The frames that Proxmox's termproxy reads from a terminal: `0:LENGTH:` before input of that many bytes,
 * `1:COLUMNS:ROWS:` for a new size, `2` as a keepalive. Its output has no frames. It reads a message only when it is
 * complete, so each frame goes into one message of the web socket.
 */

/** pveproxy accepts no message above 128 KiB, and termproxy's buffer is half of that. */
const PIECE_BYTES = 16 * 1024

export const PING = '2'

export function resizeFrame({ columns, rows }: TerminalSize): string {
  return `1:${columns}:${rows}:`
}

export function dataFrames(bytes: Uint8Array): readonly Buffer[] {
  const frames: Buffer[] = []
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const piece = bytes.subarray(at, at + PIECE_BYTES)
    frames.push(Buffer.concat([Buffer.from(`0:${piece.length}:`), piece]))
  }
  return frames
}

/** The first line is the login. It is the only one that ends with a line break. */
export function loginLine(user: string, ticket: string): string {
  return `${user}:${ticket}\n`
}

/** termproxy first answers OK. Undefined: incomplete. */
export function afterGreeting(received: Buffer): Buffer | 'refused' | undefined {
  const said = received.subarray(0, 2).toString('latin1')
  if (!'OK'.startsWith(said)) return 'refused'
  return received.length < 2 ? undefined : received.subarray(2)
}
