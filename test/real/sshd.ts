import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sshdConfig, untilListening } from '../../src/ssh/testing/sshd.ts'
import { run } from './processes.ts'

/** A real sshd on loopback, with its host key, that lets one key in as root. */
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
  writeFileSync(config, sshdConfig({ port, directory, hostKey, authorized: letsIn }, ['LogLevel VERBOSE']))
  const empty = join(directory, 'empty')
  mkdirSync(empty)
  const elsewhere = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
  const sshd = ['/usr/sbin/sshd', '-D', '-E', log, '-f', config]
  const argv = ['--mount', '--propagation', 'private', 'sh', '-c', elsewhere, 'croft', empty, hidden, ...sshd]
  const child = spawn('unshare', argv, { stdio: 'ignore' })
  process.once('exit', () => child.kill('SIGKILL'))
  await untilListening(port, child, () => readFileSync(log, 'utf8'))
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
