import { spawnSync } from 'node:child_process'
import { chmodSync, constants, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import { ShellFailure } from '../lib/shell.ts'
import type { Secret, SshTarget } from '../model/secret.ts'
import { plainText } from './answer.ts'
import { runChild } from './child.ts'
import { hopsOf, keyFingerprint, knownHosts, masterConfig } from './config.ts'
import { connectFailure } from './failures.ts'
import { sshEnvironment } from './master.ts'
import { remoteLine } from './words.ts'

export interface EnrolTools {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}

/** Returns an address's host keys and fingerprints. They are unverified: a person must compare them. */
export async function shownHostKeys(
  address: string,
  port: number,
  { env, clock }: EnrolTools,
): Promise<readonly { readonly key: string; readonly fingerprint: string }[]> {
  const ended = await runChild(['ssh-keyscan', '-T', '10', '-p', String(port), '--', address], {
    env: sshEnvironment(env),
    input: [],
    timeoutMs: LIMITS.connectTimeoutMs * 2,
    maxBytes: LIMITS.sshTalkLength,
    group: false,
    clock,
  })
  return ended.stdout
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(' ').slice(1, 3).join(' '))
    .map((key) => ({ key, fingerprint: keyFingerprint(key) }))
    .sort((a, b) => (a.key.startsWith('ssh-ed25519') ? -1 : b.key.startsWith('ssh-ed25519') ? 1 : 0))
}

/** The public half of a key, which is made without a passphrase when it is not there. */
export function ensureKey(path: string, comment: string): string {
  if (!existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const made = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', comment, '-f', path], {
      encoding: 'utf8',
    })
    if (made.status !== 0)
      throw new ShellFailure('no', 'bad-key', `no key could be made: ${plainText(made.stderr ?? '')}`)
  }
  return readFileSync(`${path}.pub`, 'utf8').trim()
}

const INSTALL =
  'umask 077; mkdir -p "$HOME/.ssh" && touch "$HOME/.ssh/authorized_keys" && ' +
  '{ grep -qxF -- "$1" "$HOME/.ssh/authorized_keys" || printf "%s\\n" "$1" >>"$HOME/.ssh/authorized_keys"; } && echo croft-installed'

/**
 * Puts a public key onto a host, once, by password. The password goes through a pipe in a directory of our own to the
 * helper that ssh asks; it is in no argument, no file and no environment.
 */
export async function installKey(
  target: SshTarget,
  publicKey: string,
  password: Secret,
  { env, clock }: EnrolTools,
): Promise<void> {
  const hops = hopsOf(target)
  const directory = mkdtempSync(join(tmpdir(), 'croft-enrol-'))
  chmodSync(directory, 0o700)
  const at = (name: string) => join(directory, name)
  try {
    spawnSync('mkfifo', ['-m', '0600', at('pipe')])
    writeFileSync(at('ask'), `#!/bin/sh\nexec head -n 1 '${at('pipe')}'\n`, { mode: 0o700 })
    writeFileSync(at('known_hosts'), knownHosts(hops), { mode: 0o600 })
    const config = masterConfig(
      hops,
      hops.map(() => ({})),
      { knownHosts: at('known_hosts'), control: at('c') },
    )
      .replace('BatchMode yes', 'BatchMode no\nNumberOfPasswordPrompts 1')
      .replace('PasswordAuthentication no', 'PasswordAuthentication yes')
      .replace('KbdInteractiveAuthentication no', 'KbdInteractiveAuthentication yes')
      .replace(
        'PreferredAuthentications publickey',
        'PreferredAuthentications password,keyboard-interactive\nPubkeyAuthentication no',
      )
    writeFileSync(at('config'), config, { mode: 0o600 })
    const line = remoteLine(['sh', '-c', INSTALL, 'croft', publicKey]) ?? ''
    const running = runChild(['ssh', '-F', at('config'), hops.at(-1)?.alias ?? '', line], {
      env: { ...sshEnvironment(env), SSH_ASKPASS: at('ask'), SSH_ASKPASS_REQUIRE: 'force', DISPLAY: 'none' },
      input: [],
      timeoutMs: LIMITS.commandTimeoutMs,
      maxBytes: LIMITS.sshTalkLength,
      group: false,
      clock,
    })
    const feeding = feed(at('pipe'), password)
    const ended = await running
    // If the program never read it, the writer still waits: give it a reader.
    const reader = await open(at('pipe'), constants.O_RDONLY | constants.O_NONBLOCK)
    await feeding
    await reader.close()
    if (ended.stdout.toString('utf8').includes('croft-installed')) return
    const failure = connectFailure(hops, ended.stderr)
    if (failure.code === 'denied')
      throw new ShellFailure(
        'no',
        'denied',
        `${target.name} does not take this password for ${target.user}, or no passwords at all`,
      )
    throw failure
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function feed(pipe: string, password: Secret): Promise<void> {
  const writer = await open(pipe, 'w')
  try {
    await writer.write(`${password.reveal()}\n`)
  } catch {
    // The helper has gone: what it needed, it has.
  } finally {
    await writer.close()
  }
}
