import { spawn, spawnSync } from 'node:child_process'
import type { Clock } from '../lib/clock.ts'
import { defined } from '../lib/defined.ts'

export interface ChildOptions {
  readonly env: Readonly<Record<string, string>>
  readonly input: readonly Uint8Array[]
  readonly timeoutMs: number
  readonly maxBytes: number
  /** End the whole family of the program, not only the program: for what runs on this computer. */
  readonly group: boolean
  readonly clock: Clock
  readonly signal?: AbortSignal
}

export interface Ended {
  /** Why we ended it; undefined if it ended by itself. */
  readonly cut?: 'timeout' | 'aborted' | 'too-large'
  /** It could not be started: `ENOENT`. */
  readonly unstarted?: string
  readonly code: number
  readonly stdout: Buffer
  readonly stderr: string
}

/** Runs one program of this computer until it ends, takes too long, prints too much or is aborted. */
export async function runChild(argv: readonly string[], options: ChildOptions): Promise<Ended> {
  const { env, clock, maxBytes, group } = options
  const [program = '', ...args] = argv
  if (options.signal?.aborted === true)
    return { cut: 'aborted', code: -1, stdout: Buffer.alloc(0), stderr: '', unstarted: 'ABORTED' }
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'], detached: group })
  const output: Buffer[] = []
  const errors: Buffer[] = []
  let bytes = 0
  let cut: Ended['cut']
  const end = (why: NonNullable<Ended['cut']>) => {
    if (cut !== undefined) return
    cut = why
    kill(child, group)
  }
  const take = (into: Buffer[]) => (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxBytes) end('too-large')
    else into.push(chunk)
  }
  child.stdout.on('data', take(output))
  child.stderr.on('data', take(errors))
  // A program that ends without reading its input is no failure of ours.
  child.stdin.on('error', () => {})
  for (const part of options.input) child.stdin.write(part)
  child.stdin.end()

  const over = new AbortController()
  const aborted = () => end('aborted')
  options.signal?.addEventListener('abort', aborted, { once: true })
  void clock.sleep(options.timeoutMs, over.signal).then(() => {
    if (!over.signal.aborted) end('timeout')
  })
  try {
    const [code, unstarted] = await new Promise<[number, string | undefined]>((resolve) => {
      child.once('error', (error: NodeJS.ErrnoException) => resolve([-1, error.code ?? 'ERROR']))
      child.once('close', (status) => resolve([status ?? -1, undefined]))
    })
    return {
      code,
      stdout: Buffer.concat(output),
      stderr: Buffer.concat(errors).toString('utf8'),
      ...defined({ cut, unstarted }),
    }
  } finally {
    over.abort()
    options.signal?.removeEventListener('abort', aborted)
  }
}

function kill(child: ReturnType<typeof spawn>, group: boolean): void {
  try {
    if (group && child.pid !== undefined) {
      process.kill(-child.pid, 'SIGKILL')
      // `timeout` has left the group with all that it runs; the session is still the same.
      spawnSync('pkill', ['-KILL', '-s', String(child.pid)], { stdio: 'ignore' })
    } else child.kill('SIGKILL')
  } catch {
    // It has already ended.
  }
  // Processes it left running may hold the pipes open: stop reading them.
  child.stdout?.destroy()
  child.stderr?.destroy()
}
