import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'

const CROFT = join(import.meta.dirname, '../../bin/croft')

/** One program that must succeed; what it printed. */
export function run(command: string, ...args: readonly string[]): string {
  const ran = spawnSync(command, args, { encoding: 'utf8', timeout: 120_000 })
  assert.equal(ran.status, 0, `${command} ${args.join(' ')}: ${ran.stderr}${ran.error?.message ?? ''}`)
  return ran.stdout
}

export interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The real binary, as a person calls it. What it prints is shown as it comes. */
export function croft(
  words: readonly string[],
  options: { readonly env: NodeJS.ProcessEnv; readonly timeoutMs: number; onLine?(line: string): void },
): Promise<Said> {
  return new Promise((done, fail) => {
    const child = spawn(CROFT, words, { env: options.env, timeout: options.timeoutMs, killSignal: 'SIGKILL' })
    const said = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        said[name] += text
        for (const line of text.split('\n')) if (line.trim() !== '') options.onLine?.(line)
      })
    }
    child.stdin.end()
    child.on('error', fail)
    child.on('exit', (code) => done({ code: code ?? -1, ...said }))
  })
}
