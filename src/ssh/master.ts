import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import { ShellFailure } from '../lib/shell.ts'
import type { Secret, SecretReference, SshTarget } from '../model/secret.ts'
import { plainText } from './answer.ts'
import { runChild } from './child.ts'
import { channelConfig, type Hop, type HopKey, hopsOf, knownHosts, masterConfig } from './config.ts'
import { connectFailure } from './failures.ts'

export interface MasterOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  resolveSecret(reference: SecretReference): Promise<Secret>
}

/** One open connection, shared by many programs. */
export interface Master {
  /** The words before the line that is to run. */
  readonly channel: readonly string[]
  readonly env: Readonly<Record<string, string>>
  isUp(): boolean
  close(): Promise<void>
}

/** The remote program that holds the connection. It ends with our end of the pipe. */
const HOLD = "exec sh -c 'echo croft-up; exec cat >/dev/null'"

/** Connects, and reports success only after the pinned key is proved. Rejects with a ShellFailure. */
export async function openMaster(target: SshTarget, options: MasterOptions, signal?: AbortSignal): Promise<Master> {
  const hops = hopsOf(target)
  const directory = privateDirectory(options.env)
  let agent: KeyAgent | undefined
  let held: ChildProcess | undefined
  const release = () => {
    agent?.close()
    held?.stdin?.destroy()
    rmSync(directory, { recursive: true, force: true })
    process.off('exit', release)
  }
  process.on('exit', release)
  try {
    const env = sshEnvironment(options.env)
    const { secrets, keys } = await keysOf(hops, join(directory, 'agent'), options)
    if (secrets.length > 0) agent = await startKeyAgent(join(directory, 'agent'), secrets, env, options.clock)
    const files = { knownHosts: join(directory, 'known_hosts'), control: join(directory, 'c') }
    write(files.knownHosts, knownHosts(hops))
    write(join(directory, 'master'), masterConfig(hops, keys, files))
    write(join(directory, 'channel'), channelConfig(files))
    const alias = hops.at(-1)?.alias ?? ''
    const words = ['-F', join(directory, 'master'), '-M', '-S', files.control, '-o', 'ControlPersist=no', alias, HOLD]
    const master = spawn('ssh', words, { env, stdio: ['pipe', 'pipe', 'pipe'] })
    held = master
    await untilUp(master, hops, options.clock, signal)
    return {
      channel: ['ssh', '-F', join(directory, 'channel'), alias],
      env,
      isUp: () => master.exitCode === null && master.signalCode === null,
      close: async () => {
        const ended = new Promise<void>((resolve) => {
          if (master.exitCode !== null || master.signalCode !== null) resolve()
          else master.once('exit', () => resolve())
        })
        // Ask it to end by its socket, then kill it.
        master.kill('SIGTERM')
        await ended
        release()
      },
    }
  } catch (error) {
    held?.kill('SIGKILL')
    release()
    throw error
  }
}

/** Secret keys go into our own agent; a file is named to ssh, which then also knows FIDO keys and the person's agent. */
async function keysOf(hops: readonly Hop[], socket: string, options: MasterOptions) {
  const secrets: Secret[] = []
  const keys: HopKey[] = []
  for (const { target } of hops) {
    if (target.key === undefined) keys.push({})
    else if ('file' in target.key) keys.push({ file: homePath(target.key.file, options.env.HOME) })
    else {
      secrets.push(await resolved(target, target.key, options))
      keys.push({ agent: socket })
    }
  }
  return { secrets, keys }
}

async function resolved(target: SshTarget, key: SecretReference, options: MasterOptions): Promise<Secret> {
  try {
    return await options.resolveSecret(key)
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it cannot be read'
    throw new ShellFailure('no', 'bad-key', `the private key for ${target.name} is not to be had: ${why}`)
  }
}

function homePath(path: string, home: string | undefined): string {
  return path.startsWith('~/') && home !== undefined ? join(home, path.slice(2)) : path
}

async function untilUp(master: ChildProcess, hops: readonly Hop[], clock: Clock, signal?: AbortSignal): Promise<void> {
  const over = new AbortController()
  let said = ''
  master.stdin?.on('error', () => {})
  master.stderr?.on('data', (chunk: Buffer) => {
    if (said.length < LIMITS.sshTalkLength) said += chunk.toString('utf8')
  })
  const outcome = await new Promise<'up' | 'ended' | 'missing' | 'timeout' | 'aborted'>((resolve) => {
    let out = ''
    master.stdout?.on('data', (chunk: Buffer) => {
      if (out.length < LIMITS.sshTalkLength) out += chunk.toString('utf8')
      if (/(?:^|\n)croft-up\n/.test(out)) resolve('up')
    })
    master.once('error', () => resolve('missing'))
    master.once('close', () => resolve('ended'))
    signal?.addEventListener('abort', () => resolve('aborted'), { once: true, signal: over.signal })
    if (signal?.aborted === true) resolve('aborted')
    // Each hop may take its time, and so may the login at the end.
    const patience = LIMITS.connectTimeoutMs * (hops.length + 1)
    void clock.sleep(patience, over.signal).then(() => resolve('timeout'))
  })
  over.abort()
  const name = hops.at(-1)?.target.name ?? ''
  if (outcome === 'up') return
  if (outcome === 'missing')
    throw new ShellFailure('no', 'no-ssh', 'the program ssh is not there; install the OpenSSH client')
  if (outcome === 'aborted')
    throw new ShellFailure('no', 'aborted', `nobody waits for the connection to ${name} any more`)
  if (outcome === 'timeout') throw new ShellFailure('no', 'timeout', `${name} did not finish the login in time`)
  throw connectFailure(hops, said)
}

/** For sockets and lists of keys: ours alone. Short, because the path of a socket has little room. */
function privateDirectory(env: MasterOptions['env']): string {
  const base = env.XDG_RUNTIME_DIR !== undefined && env.XDG_RUNTIME_DIR.length < 40 ? env.XDG_RUNTIME_DIR : tmpdir()
  let directory: string
  try {
    directory = mkdtempSync(join(base, 'croft-ssh-'))
  } catch {
    directory = mkdtempSync(join(tmpdir(), 'croft-ssh-'))
  }
  chmodSync(directory, 0o700)
  return directory
}

function write(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
}

/** Returns the environment for ssh: only what it needs to find keys and the agent. */
export function sshEnvironment(env: MasterOptions['env']): Readonly<Record<string, string>> {
  const kept = ['HOME', 'USER', 'LOGNAME', 'SSH_AUTH_SOCK', 'XDG_RUNTIME_DIR'].flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(kept), PATH: env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' }
}

interface KeyAgent {
  readonly socket: string
  close(): void
}

/**
 * An agent of our own for keys that are secrets: the key goes there on an input and is in no file, no argument and no
 * environment. It lives as long as `cat` waits for us: when croft ends, however it ends, the agent ends.
 */
async function startKeyAgent(
  socket: string,
  keys: readonly Secret[],
  env: Readonly<Record<string, string>>,
  clock: Clock,
): Promise<KeyAgent> {
  const agent: ChildProcess = spawn('ssh-agent', ['-a', socket, 'sh', '-c', 'echo up; exec cat >/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  agent.stdin?.on('error', () => {})
  const close = () => {
    agent.stdin?.destroy()
  }
  const up = await new Promise<boolean>((resolve) => {
    agent.once('error', () => resolve(false))
    agent.once('close', () => resolve(false))
    agent.stdout?.once('data', () => resolve(true))
  })
  if (!up) throw new ShellFailure('no', 'no-agent', 'ssh-agent could not be started; is the OpenSSH client installed?')
  try {
    for (const key of keys) {
      const text = key.reveal()
      const added = await runChild(['ssh-add', '-q', '-'], {
        env: { ...env, SSH_AUTH_SOCK: socket, SSH_ASKPASS_REQUIRE: 'never' },
        input: [Buffer.from(text.endsWith('\n') ? text : `${text}\n`, 'utf8')],
        timeoutMs: LIMITS.connectTimeoutMs,
        maxBytes: LIMITS.foreignTextLength,
        group: false,
        clock,
      })
      if (added.code !== 0)
        throw new ShellFailure('no', 'bad-key', `the private key is not taken: ${hint(added.stderr)}`)
    }
  } catch (error) {
    close()
    throw error
  }
  return { socket, close }
}

function hint(stderr: string): string {
  if (/passphrase/i.test(stderr)) return 'it has a passphrase; load it into your own agent, or store it without one'
  return plainText(stderr, 200) || 'ssh-add gave no reason'
}
