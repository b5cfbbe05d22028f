import { connect } from 'node:net'

/** Longer answers are rejected. */
const MOST_BYTES = 64 * 1024

/**
 * Sends lines over TCP and reads lines until the peer closes, or has answered each. The signal aborts it; rejects
 * without a connection.
 */
export function exchangeLines(
  address: string,
  port: number,
  lines: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port })
    let text = ''
    const stop = () => socket.destroy(new Error(`${address}:${port} did not answer in time`))
    const end = () => {
      signal.removeEventListener('abort', stop)
      socket.destroy()
      resolve(text.split('\n').filter((line) => line !== ''))
    }
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    socket.setEncoding('utf8')
    socket.once('connect', () => socket.write(`${lines.join('\n')}\n`))
    socket.on('data', (chunk: string) => {
      text += chunk
      if (text.length > MOST_BYTES || text.split('\n').length > lines.length) end()
    })
    socket.once('end', end)
    socket.once('error', (error) => {
      signal.removeEventListener('abort', stop)
      reject(error)
    })
  })
}
