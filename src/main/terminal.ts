import type { Terminal } from '../cli/runtime.ts'

export function terminal(stream: NodeJS.WriteStream): Terminal {
  return {
    write: (text) => void stream.write(text),
    isTty: stream.isTTY === true,
    get columns() {
      // A terminal with an unknown width reports 0.
      return stream.columns || 80
    },
  }
}

/** Undefined when the person ended the input or pressed Ctrl-C instead of answering. */
export async function ask(question: string, signal: AbortSignal): Promise<string | undefined> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  // While readline reads a line, Ctrl-C is a key: turn it into the signal.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    return (await lines.question(question, { signal })).trim()
  } catch {
    return undefined
  } finally {
    lines.close()
  }
}

/** Asks without echo. Undefined without a terminal. */
export async function askSecret(question: string, signal: AbortSignal): Promise<string | undefined> {
  if (process.stdin.isTTY !== true) return undefined
  const { createInterface } = await import('node:readline/promises')
  const { Writable } = await import('node:stream')
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true })
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    return await lines.question('', { signal })
  } catch {
    return undefined
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
