import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { LIMITS } from '../lib/limits.ts'
import { ShellFailure } from '../lib/shell.ts'
import type { SshTarget } from '../model/secret.ts'
import { plainText } from './answer.ts'

/** One computer on the route, under an alias of our own configuration. */
export interface Hop {
  readonly alias: string
  readonly target: SshTarget
}

/** The source of a hop's private key: a file, or the socket of an agent. */
export interface HopKey {
  readonly file?: string
  readonly agent?: string
}

/** Returns the route to a computer, nearest hop first. Throws a ShellFailure for text unfit for a configuration. */
export function hopsOf(target: SshTarget): readonly Hop[] {
  const way: SshTarget[] = []
  for (let at: SshTarget | undefined = target; at !== undefined; at = at.jump) way.unshift(mustBeSound(at))
  if (way.length > LIMITS.sshHops) throw new ShellFailure('no', 'bad-target', `${target.name} is too many hops away`)
  return way.map((one, index) => ({ alias: `croft-${index}`, target: one }))
}

const HOST_KEY = /^(?:ssh-|ecdsa-|sk-)[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,3}(?: .*)?$/

/** Checks again what the schema has checked, because these values become lines that ssh obeys. */
function mustBeSound(target: SshTarget): SshTarget {
  const wrong = (what: string) =>
    new ShellFailure('no', 'bad-target', `${what} of ${plainText(target.name)} is not one`)
  if (isIP(target.address) === 0 && !/^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})$/.test(target.address))
    throw wrong('the address')
  if (!/^[a-z_][a-z0-9_-]{0,31}$/.test(target.user)) throw wrong('the user')
  if (!Number.isInteger(target.port) || target.port < 1 || target.port > 65_535) throw wrong('the port')
  if (target.hostKeys.length === 0)
    throw new ShellFailure('no', 'host-key', `no host key of ${plainText(target.name)} is declared, so none is trusted`)
  if (!target.hostKeys.every((key) => HOST_KEY.test(key) && !/[\r\n\0]/.test(key))) throw wrong('a host key')
  return target
}

/** Exactly the keys that Git names, under our names for the hops. */
export function knownHosts(hops: readonly Hop[]): string {
  return hops
    .flatMap(({ alias, target }) => target.hostKeys.map((key) => `${alias} ${key.split(' ').slice(0, 2).join(' ')}\n`))
    .join('')
}

export interface ConfigFiles {
  readonly knownHosts: string
  readonly control: string
}

/**
 * Returns ssh's whole configuration. The user's and the system's are not read: only this text decides what is trusted
 * and forwarded.
 */
export function masterConfig(hops: readonly Hop[], keys: readonly HopKey[], files: ConfigFiles): string {
  const lines: string[] = []
  hops.forEach(({ alias, target }, index) => {
    const before = hops[index - 1]
    const key = keys[index] ?? {}
    lines.push(
      `Host ${alias}`,
      `HostName ${target.address}`,
      `Port ${target.port}`,
      `User ${target.user}`,
      `HostKeyAlias ${alias}`,
      ...(before === undefined ? [] : [`ProxyJump ${before.alias}`]),
      ...(key.agent === undefined ? [] : [`IdentityAgent ${quoted(key.agent)}`, 'IdentityFile none']),
      ...(key.file === undefined ? [] : [`IdentityFile ${quoted(key.file)}`, 'IdentitiesOnly yes']),
    )
  })
  lines.push(
    'Host *',
    `UserKnownHostsFile ${quoted(files.knownHosts)}`,
    'GlobalKnownHostsFile /dev/null',
    'StrictHostKeyChecking yes',
    'UpdateHostKeys no',
    'VerifyHostKeyDNS no',
    'CheckHostIP no',
    'NoHostAuthenticationForLocalhost no',
    'BatchMode yes',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PreferredAuthentications publickey',
    'ForwardAgent no',
    'ForwardX11 no',
    'PermitLocalCommand no',
    'RequestTTY no',
    'EscapeChar none',
    `ConnectTimeout ${Math.ceil(LIMITS.connectTimeoutMs / 1000)}`,
    `ServerAliveInterval ${Math.ceil(LIMITS.sshKeepaliveMs / 1000)}`,
    'ServerAliveCountMax 3',
    'LogLevel DEBUG1',
    '',
  )
  return lines.join('\n')
}

/** For the programs on an open connection: they can use it and can open none. */
export function channelConfig(files: Pick<ConfigFiles, 'control'>): string {
  return [
    'Host *',
    'HostName 127.0.0.1',
    'ProxyCommand /bin/false',
    `ControlPath ${quoted(files.control)}`,
    'ControlMaster no',
    'BatchMode yes',
    'RequestTTY no',
    'EscapeChar none',
    'LogLevel ERROR',
    '',
  ].join('\n')
}

function quoted(path: string): string {
  // % begins a token in these settings; our own paths have neither it nor quotes, a person's may have it.
  if (/["\r\n\0]/.test(path)) throw new ShellFailure('no', 'bad-target', 'a path of a key cannot be written to ssh')
  return `"${path.replaceAll('%', '%%')}"`
}

/** `SHA256:…` of a public key, as ssh shows it. */
export function keyFingerprint(key: string): string {
  const [type = '', base64 = ''] = key.split(' ')
  const hash = createHash('sha256').update(Buffer.from(base64, 'base64')).digest('base64').replace(/=+$/, '')
  return `${type} SHA256:${hash}`
}
