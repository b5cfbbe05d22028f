import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { WireRequest, WireResponse } from '../../../../lib/wire.ts'

/** Runs Proxmox's calls of the agent lane on this computer, so that the scripts meet a real shell. */
export function realAgent(): { answer(request: WireRequest): Promise<Partial<WireResponse>>; calls: string[] } {
  const ended = new Map<number, Record<string, unknown>>()
  const calls: string[] = []
  let nextPid = 1
  const answer = async ({ path, body }: WireRequest): Promise<Partial<WireResponse>> => {
    const url = new URL(path, 'http://agent')
    const verb = url.pathname.split('/').at(-1) ?? ''
    calls.push(verb)
    if (verb === 'exec') {
      const form = new URLSearchParams(String(body ?? ''))
      const pid = nextPid++
      ended.set(pid, { exited: 0 })
      run(form.getAll('command'), form.get('input-data') ?? '', (status) => ended.set(pid, status))
      return data({ pid })
    }
    if (verb === 'exec-status') {
      const pid = Number(url.searchParams.get('pid'))
      const status = ended.get(pid)
      if (status === undefined) return refused("Agent error: Invalid parameter 'pid'")
      if (status.exited === 1) ended.delete(pid)
      return data(status)
    }
    try {
      return data({ content: readFileSync(url.searchParams.get('file') ?? '').toString('latin1') })
    } catch {
      return refused(`Agent error: failed to open file (mode: 'r'): No such file or directory`)
    }
  }
  return { answer, calls }
}

function run(argv: readonly string[], input: string, done: (status: Record<string, unknown>) => void): void {
  const [program = '', ...words] = argv
  const child = spawn(program, words, { env: { PATH: process.env.PATH ?? '' } })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  child.stdin.on('error', () => undefined)
  child.stdin.end(Buffer.from(input, 'latin1'))
  child.on('close', (code, signal) =>
    done({
      exited: 1,
      ...(signal === null ? { exitcode: code ?? 0 } : { signal: 9 }),
      'out-data': Buffer.concat(out).toString('latin1'),
      'err-data': Buffer.concat(err).toString('latin1'),
    }),
  )
}

const data = (value: unknown): Partial<WireResponse> => ({ body: JSON.stringify({ data: value }) })
const refused = (reason: string): Partial<WireResponse> => ({
  status: 500,
  reason,
  body: JSON.stringify({ data: null }),
})
