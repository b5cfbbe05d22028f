import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { SshTarget } from '../../model/secret.ts'

const SSHD = '/usr/sbin/sshd'

/** Returns why no real sshd can start here; undefined if it can. In CI nothing may be skipped. */
export function sshdMissing(): string | undefined {
  if (existsSync(SSHD) && existsSync('/usr/bin/ssh')) return undefined
  if (process.env.CI !== undefined) throw new Error('openssh-server and openssh-client must be installed in CI')
  return 'needs sshd and ssh; to have them, run: apt-get install -y --no-install-recommends openssh-server openssh-client'
}

/** A real sshd on loopback that lets one key in, for the user that runs the tests. */
export interface RealSshd {
  readonly port: number
  readonly user: string
  /** `ssh-ed25519 AAAA…` of its host key. */
  readonly hostKey: string
  readonly privateKeyFile: string
  readonly directory: string
  target(more?: Partial<SshTarget>): SshTarget
  stop(): Promise<void>
}

export async function startSshd(config: readonly string[] = []): Promise<RealSshd> {
  const directory = mkdtempSync(join(tmpdir(), 'croft-sshd-'))
  const hostKeyFile = join(directory, 'host')
  const privateKeyFile = join(directory, 'user')
  for (const file of [hostKeyFile, privateKeyFile])
    spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file, '-C', 'test'], { stdio: 'ignore' })
  writeFileSync(join(directory, 'authorized'), readFileSync(`${privateKeyFile}.pub`))
  const port = await freePort()
  const authorized = join(directory, 'authorized')
  writeFileSync(join(directory, 'config'), sshdConfig({ port, directory, hostKey: hostKeyFile, authorized }, config))
  // sshd's directory for privilege separation; an installation without a running service lacks it.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const child = spawn(SSHD, ['-D', '-e', '-f', join(directory, 'config')], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  await untilListening(port, child, () => said)
  const hostKey = readFileSync(`${hostKeyFile}.pub`, 'utf8').split(' ').slice(0, 2).join(' ')
  const { username } = userInfo()
  return {
    port,
    user: username,
    hostKey,
    privateKeyFile,
    directory,
    target: (more = {}) => ({
      name: 'box',
      address: '127.0.0.1',
      port,
      user: username,
      hostKeys: [hostKey],
      key: { file: privateKeyFile },
      sudo: 'none',
      ...more,
    }),
    async stop() {
      const ended =
        child.exitCode !== null || child.signalCode !== null || new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Returns such an sshd's configuration: one address, host key and file of accepted keys; nothing of this system. */
export function sshdConfig(
  at: { readonly port: number; readonly directory: string; readonly hostKey: string; readonly authorized: string },
  more: readonly string[] = [],
): string {
  return [
    `Port ${at.port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${at.hostKey}`,
    `AuthorizedKeysFile ${at.authorized}`,
    `PidFile ${join(at.directory, 'pid')}`,
    'StrictModes no',
    // Keeps the startup files of the user's shell out of the tests.
    `SetEnv HOME=${at.directory}`,
    'UsePAM no',
    'PasswordAuthentication no',
    'PermitRootLogin prohibit-password',
    ...more,
    '',
  ].join('\n')
}

export async function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

/** However slow this computer is; an sshd that ended is no longer waited for. */
const LISTENING_MS = 120_000
const LOOK_MS = 50

export async function untilListening(port: number, child: ChildProcess, said: () => string): Promise<void> {
  for (let waitedMs = 0; waitedMs < LISTENING_MS; waitedMs += LOOK_MS) {
    if (child.exitCode !== null) throw new Error(`sshd ended: ${said()}`)
    const up = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy()
        resolve(true)
      }).once('error', () => resolve(false))
    })
    if (up) return
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  throw new Error(`sshd does not listen: ${said()}`)
}
