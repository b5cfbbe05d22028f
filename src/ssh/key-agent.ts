import { type ChildProcess, spawn } from 'node:child_process'
import type { Clock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import { ShellFailure } from '../lib/shell.ts'
import type { Secret } from '../model/secret.ts'
import { plainText } from './answer.ts'
import { runChild } from './child.ts'

export interface KeyAgent {
  readonly socket: string
  close(): void
}

/**
 * An agent of our own for keys that are secrets: the key goes there on an input and is in no file, no argument and no
 * environment. It lives as long as `cat` waits for us: when croft ends, however it ends, the agent ends.
 */
export async function startKeyAgent(
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
