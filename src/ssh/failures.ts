import { ShellFailure } from '../lib/shell.ts'
import { plainText } from './answer.ts'
import { type Hop, keyFingerprint } from './config.ts'

/** Translates ssh's error on a failed connection. No program has run. */
export function connectFailure(hops: readonly Hop[], stderr: string): ShellFailure {
  const last = hops.at(-1)
  const name = last?.target.name ?? 'the host'
  const wrongKey = /(?:Host key for|host key is known for) (?:\[)?(croft-[0-9]+)/i.exec(stderr)
  if (wrongKey !== null || /Host key verification failed/i.test(stderr))
    return hostKeyFailure(hops.find((hop) => hop.alias === wrongKey?.[1]) ?? last, stderr)
  const denied = /(\S+)@(\S+): Permission denied \(([^)]*)\)/.exec(stderr)
  if (denied !== null) {
    const where = hops.find((hop) => hop.target.address === denied[2])?.target ?? last?.target
    return new ShellFailure(
      'no',
      'denied',
      `${where?.name ?? name} does not let ${plainText(denied[1] ?? '')} in with the key that was offered. ` +
        'Install the public key there (croft host enroll does it), or correct ssh.key and ssh.user.',
    )
  }
  if (/Too many authentication failures/i.test(stderr))
    return new ShellFailure('no', 'denied', `${name} refused: the agent offers too many keys. Name one in ssh.key.`)
  const timeout = /timed out/i.test(stderr)
  const said = lastWords(stderr)
  return new ShellFailure(
    'no',
    timeout ? 'timeout' : 'unreachable',
    `${name} (${last?.target.address ?? ''} port ${last?.target.port ?? ''}) cannot be reached over SSH${said === '' ? '' : `: ${said}`}`,
  )
}

/** Both keys, so that a person can compare them; and no way around. */
function hostKeyFailure(hop: Hop | undefined, stderr: string): ShellFailure {
  const shown = [...stderr.matchAll(/Server host key: (\S+ SHA256:[A-Za-z0-9+/]+)/g)].at(-1)?.[1]
  const name = hop?.target.name ?? 'the host'
  const pinned = (hop?.target.hostKeys ?? []).map(keyFingerprint)
  return new ShellFailure(
    'no',
    'host-key',
    `${name} shows the host key ${shown === undefined ? '(not told)' : plainText(shown)}, ` +
      `but Git names ${pinned.join(' or ')}. Nothing was sent. ` +
      'If the host was reinstalled, compare the fingerprint on its own console (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub) ' +
      'and put the line of that file into ssh.hostKeys; otherwise somebody may be intercepting the connection.',
  )
}

/** The last line that is not about ssh's own steps. */
function lastWords(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter(
      (line) => line !== '' && !/^(?:debug[123]:|OpenSSH_|Authenticated to|Transferred:|Bytes per second)/.test(line),
    )
  const cause = lines
    .filter((line) => !/^(?:Connection closed by UNKNOWN|kex_exchange_identification)/.test(line))
    .at(-1)
  return plainText(cause ?? lines.at(-1) ?? '', 200).replaceAll(/croft-[0-9]+/g, 'the host')
}
