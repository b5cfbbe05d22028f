import type { Keyboard } from '../cli/runtime.ts'
import type { RemoteTerminal, TerminalSize } from '../lib/remote-terminal.ts'

/** Ctrl and ], as telnet and virsh have it. */
const LEAVE = 0x1d

/** This terminal, lent to one on another computer: every key goes there, every byte from there is shown as it is. */
export const keyboard: Keyboard = {
  size: () => sizeOf(process.stdout),
  attach(terminal, signal) {
    const { stdin, stdout } = process
    return new Promise((resolve) => {
      const wasRaw = stdin.isRaw === true
      const end = (how: 'left' | 'ended') => {
        stdin.off('data', typed).off('end', left).pause()
        stdout.off('resize', resized)
        signal.removeEventListener('abort', left)
        if (stdin.isTTY) stdin.setRawMode(wasRaw)
        terminal.stream.off('close', ended).destroy()
        resolve(how)
      }
      const left = () => end('left')
      const ended = () => end('ended')
      const resized = () => terminal.resize(sizeOf(stdout))
      const typed = (chunk: Buffer) => {
        const at = chunk.indexOf(LEAVE)
        const keys = at === -1 ? chunk : chunk.subarray(0, at)
        if (keys.length > 0 && !terminal.stream.write(keys)) {
          stdin.pause()
          terminal.stream.once('drain', () => stdin.resume())
        }
        if (at !== -1) left()
      }
      // An error closes the stream: the program has shown the cause, or it is unknown.
      terminal.stream.on('error', () => {})
      terminal.stream.once('close', ended)
      show(terminal, stdout)
      if (stdin.isTTY) stdin.setRawMode(true)
      stdin.on('data', typed).once('end', left).resume()
      stdout.on('resize', resized)
      signal.addEventListener('abort', left, { once: true })
      if (signal.aborted) left()
    })
  },
}

function show({ stream }: RemoteTerminal, stdout: NodeJS.WriteStream): void {
  stream.on('data', (chunk: Buffer) => {
    if (stdout.write(chunk)) return
    stream.pause()
    stdout.once('drain', () => stream.resume())
  })
}

function sizeOf(stdout: NodeJS.WriteStream): TerminalSize {
  return { columns: stdout.columns || 80, rows: stdout.rows || 24 }
}
