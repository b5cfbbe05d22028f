import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { COMPILED } from '../compiled.ts'
import { childrenOf } from '../process-children.ts'

export const CROFT = process.env.CROFT_TEST_BUILT ?? fileURLToPath(new URL('../../bin/croft', import.meta.url))

/** No command in these tests takes this long; one that does is ended, and its test fails. */
const LONGEST_MS = 120_000
/** A simulator, and a croft with a page, serve until the end of their test. */
export const LONGEST_SERVING_MS = 3_600_000

const alive = new Set<ChildProcess>()
/** Programs behind a launcher that may have outlived it. */
const behind = new Set<number>()
const directories: string[] = []

/** Ends every process that was started here and is still there, and removes every directory. For `after`. */
export async function endAll(): Promise<void> {
  const gone = [...alive].map((child) => new Promise((resolve) => child.once('close', resolve)))
  killAll()
  await Promise.all(gone)
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
  directories.length = 0
}
// Also when the test run itself is cut short in a way that skips its hooks.
process.once('exit', killAll)

function killAll(): void {
  for (const child of alive) signal({ child }, 'SIGKILL')
  for (const pid of behind) if (!hasEnded(pid)) process.kill(pid, 'SIGKILL')
  behind.clear()
}

/** Sends a signal to a process started here, and remembers what stands behind it. Answers what that is. */
export function signal({ child }: Pick<Running, 'child'>, name: NodeJS.Signals): readonly number[] {
  const programs = childrenOf(child.pid ?? 0)
  for (const pid of programs) behind.add(pid)
  child.kill(name)
  return programs
}

/** Makes a scratch directory with a home in it, removed afterwards. */
export function scratch(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'croft-binary-'))
  directories.push(directory)
  mkdirSync(path.join(directory, 'home'))
  return directory
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess
  /** The process has ended, and so has everybody who could write to its output. */
  readonly ended: Promise<Ended>
  /** The process has ended; something that it started may live on. */
  readonly exited: Promise<Ended>
}

export interface StartOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly uid?: number
  /** Run this file as it is, with the Node of the PATH: what a user does. Where that Node is old, it starts another. */
  readonly launcher?: string
  readonly longestMs?: number
  /** Gives it a terminal as input: without it there is none. */
  readonly typing?: boolean
}

/**
 * Starts `croft`. The tests' own Node is new enough to run it without a second process, so unless the launcher is
 * asked for, a signal to the child reaches the program itself.
 */
export function start(args: readonly string[], options: StartOptions): Running {
  const env = { PATH: process.env.PATH ?? '', NO_COLOR: '1', ...COMPILED, ...options.env }
  const [file, before] = options.launcher === undefined ? [process.execPath, [CROFT]] : [options.launcher, []]
  const child = spawn(file, [...before, ...args], {
    cwd: options.cwd,
    env,
    stdio: [options.typing === true ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  })
  alive.add(child)
  const timer = setTimeout(() => signal({ child }, 'SIGKILL'), options.longestMs ?? LONGEST_MS)
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const exited = new Promise<Ended>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', (error) => {
      alive.delete(child)
      clearTimeout(timer)
      reject(error)
    })
    child.once('close', (code, signal) => {
      alive.delete(child)
      clearTimeout(timer)
      resolve({ code, signal, stdout, stderr })
    })
  })
  return { child, ended, exited }
}

/** Reports whether it has ended. A zombie has. */
export function hasEnded(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/, ''))
  } catch {
    return true
  }
}

/** What `croft sim` says in its first line, and its own door. */
export interface Simulator {
  readonly endpoint: string
  readonly fingerprint: string
  readonly token: string
  readonly running: Running
  stats(): Promise<Stats>
  door<T>(method: string, place: string, body?: unknown): Promise<T>
}

export interface Stats {
  readonly calls: number
  readonly writes: number
}

export async function startSimulator(
  args: readonly string[],
  cwd: string,
  options: Partial<StartOptions> = {},
): Promise<Simulator> {
  const defaults = { cwd, env: { HOME: path.join(cwd, 'home') }, longestMs: LONGEST_SERVING_MS }
  const running = start(['sim', '--port', '0', ...args], { ...defaults, ...options })
  const line = await firstLine(running)
  const said = JSON.parse(line) as Pick<Simulator, 'endpoint' | 'fingerprint' | 'token'>
  const door = <T>(method: string, place: string, body?: unknown) =>
    ask(`${said.endpoint}/sim/${place}`, method, body) as Promise<T>
  return { ...said, running, door, stats: () => door<Stats>('GET', 'stats') }
}

/** A directory with a connection to this simulator and these manifests; the token is in the environment. */
export function estateAt(
  directory: string,
  simulator: Pick<Simulator, 'endpoint' | 'fingerprint'>,
  manifests: Readonly<Record<string, string>>,
  connectionName = 'default',
): void {
  mkdirSync(directory, { recursive: true })
  const connection = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: ${connectionName}}
spec:
  endpoint: ${simulator.endpoint}
  fingerprint: "${simulator.fingerprint}"
  token: {env: PROXMOX_TOKEN}
`
  for (const [name, text] of Object.entries({ 'proxmox.yaml': connection, ...manifests }))
    writeFileSync(path.join(directory, name), text)
}

async function firstLine({ child, ended }: Running): Promise<string> {
  let text = ''
  const line = new Promise<string>((resolve) => {
    child.stdout?.on('data', (chunk: string) => {
      text += chunk
      const end = text.indexOf('\n')
      if (end >= 0) resolve(text.slice(0, end))
    })
  })
  const died = ended.then(({ code, stderr }): never => {
    throw new Error(`croft sim ended with ${code}: ${stderr}`)
  })
  return Promise.race([line, died])
}

/** The door needs no token; the certificate is the simulator's own, made a moment ago. */
function ask(url: string, method: string, body: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, rejectUnauthorized: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text))
        else reject(new Error(`${method} ${url} answered ${response.statusCode}: ${text}`))
      })
    })
    sent.on('error', (error) => {
      // The simulator may close a connection that was kept in the very moment in which it is used again.
      const closed = sent.reusedSocket && 'code' in error && error.code === 'ECONNRESET'
      if (closed) ask(url, method, body).then(resolve, reject)
      else reject(error)
    })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
