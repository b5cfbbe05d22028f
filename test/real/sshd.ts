import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { run } from './processes.ts'

/** A real sshd on loopback, with a host key of its own, that lets one key in as root. */
export interface RealSshd {
  /** As it stands in Git. */
  readonly hostKey: string
  /** What it has written down so far. */
  log(): string
  stop(): Promise<void>
}

/**
 * The folder `hidden` is empty for everything that sshd starts: over SSH this is another computer, which has not seen
 * what was made here.
 */
export async function startSshd(options: {
  readonly directory: string
  readonly name: string
  readonly port: number
  /** File of the public key that is let in. */
  readonly letsIn: string
  readonly hidden: string
}): Promise<RealSshd> {
  const { name, port, letsIn, hidden } = options
  const directory = join(options.directory, name)
  mkdirSync(directory)
  mkdirSync('/run/sshd', { recursive: true })
  const hostKey = join(directory, 'host-key')
  run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', hostKey)
  const log = join(directory, 'log')
  writeFileSync(log, '')
  const config = join(directory, 'config')
  writeFileSync(
    config,
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${hostKey}`,
      `AuthorizedKeysFile ${letsIn}`,
      `PidFile ${join(directory, 'pid')}`,
      'StrictModes no',
      // What the shell of whoever runs the tests does at its start must not happen, nor be cut off in the middle.
      `SetEnv HOME=${directory}`,
      'UsePAM no',
      'PasswordAuthentication no',
      'PermitRootLogin prohibit-password',
      'LogLevel VERBOSE',
      '',
    ].join('\n'),
  )
  const empty = join(directory, 'empty')
  mkdirSync(empty)
  const elsewhere = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
  const sshd = ['/usr/sbin/sshd', '-D', '-E', log, '-f', config]
  const argv = ['--mount', '--propagation', 'private', 'sh', '-c', elsewhere, 'croft', empty, hidden, ...sshd]
  const child = spawn('unshare', argv, { stdio: 'ignore' })
  process.once('exit', () => child.kill('SIGKILL'))
  await listening(port, child)
  const [type, key] = readFileSync(`${hostKey}.pub`, 'utf8').split(' ')
  return {
    hostKey: `${type} ${key}`,
    log: () => readFileSync(log, 'utf8'),
    stop: () =>
      new Promise((done) => {
        child.once('exit', () => done())
        child.kill('SIGTERM')
      }),
  }
}

async function listening(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (child.exitCode !== null) throw new Error('sshd does not start here')
    const open = await new Promise<boolean>((done) => {
      const socket = connect({ port, host: '127.0.0.1' })
      socket.once('connect', () => done(true)).once('error', () => done(false))
      socket.once('connect', () => socket.destroy())
    })
    if (open) return
    await pause(100)
  }
  throw new Error('sshd does not listen')
}
