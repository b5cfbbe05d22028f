import { LIMITS } from '../../lib/limits.ts'
import { NEVER_BEGUN, type Refusal } from '../../model/step.ts'
import { cleanText } from './foreign.ts'

/** An API's error before its translation. */
export interface ForeignError {
  /** HTTP status, or undefined for the end of a task. */
  readonly status?: number
  /** All texts with a possible reason: the status line and `message`. */
  readonly text: string
  /** By parameter, from a 400. */
  readonly parameters?: Readonly<Record<string, string>>
  /** The failed operation: `create VM 114 (web-1) on fun-bedbug`. */
  readonly doing: string
  readonly host?: string
  readonly guest?: string
}

/** The daemon did not start a task's process. */
export const WORKER_LOST = /got no worker upid|got strange worker upid|starting worker failed/

interface Pattern {
  readonly when: RegExp
  readonly reason: string
  readonly meaning: Refusal['meaning']
  readonly connectionWide?: boolean
  /** Returns advice from the matched parts. */
  readonly advice?: (match: RegExpExecArray, error: ForeignError) => string
}

/**
 * Proxmox's errors, and their meaning for retries. The first match counts, so the more exact ones come first. Taken
 * from recorded answers of the real daemon; docs/drivers/proxmox.md explains them.
 */
const PATTERNS: readonly Pattern[] = [
  {
    when: /no quorum/i,
    reason: 'NoQuorum',
    meaning: 'waiting',
    connectionWide: true,
    advice: () => 'the Proxmox cluster has lost its majority; it takes writes again when enough hosts are back',
  },
  {
    // The file exists: its declaration decides what to do.
    when: /checksum mismatch: got .*, aborting/i,
    reason: 'ChecksumMismatch',
    meaning: 'backoff',
    advice: () => 'the file that is there is not the declared one',
  },
  {
    when: /checksum mismatch: got/i,
    reason: 'ChecksumMismatch',
    meaning: 'stalled',
    advice: () =>
      'what the URL gives is not the declared file: look up the checksum that its publisher lists for it, then correct checksum or url; behind names such as current or latest the file changes',
  },
  {
    when: /checksum mismatch|detected modified configuration|file changed? by other user/i,
    reason: 'DigestMismatch',
    meaning: 'waiting',
    advice: () => 'somebody changed it since croft read it; croft looks again',
  },
  {
    when: /can't lock file .* got timeout|cfs-lock .* error: got lock request timeout|unable to acquire .*lock|got lock timeout/i,
    reason: 'LockTimeout',
    meaning: 'waiting',
    advice: () => 'something else is at work on it',
  },
  {
    when: WORKER_LOST,
    reason: NEVER_BEGUN,
    meaning: 'waiting',
    advice: () => 'the host was busy and did not begin the task; nothing came of it but the id, which stays taken',
  },
  { when: /(?:VM|CT) is locked \(([\w-]+)\)/, reason: 'Locked', meaning: 'waiting', advice: lockAdvice },
  {
    when: /unable to create (?:VM|CT) \d+.* already exists|config file already exists|(?:VM|CT) \d+ already exists/,
    reason: 'IdTaken',
    meaning: 'waiting',
    advice: () => 'the id is in use',
  },
  {
    when: /Configuration file '[^']*' does not exist|unable to find configuration file for (?:VM|CT)|no such (?:VM|CT)/i,
    reason: 'NotFound',
    meaning: 'waiting',
    advice: () => 'it is not there any more, or on another host',
  },
  {
    when: /protection mode enabled/,
    reason: 'Protected',
    meaning: 'stalled',
    advice: (_, { guest, host }) =>
      `switch protection off first: qm set ${guest ?? 'ID'} --protection 0${host === undefined ? '' : ` (on ${host})`}`,
  },
  {
    when: /is still in use by linked clone|contains snapshots/,
    reason: 'InUse',
    meaning: 'stalled',
    advice: () => 'remove the clones or snapshots first',
  },
  {
    when: /is running - destroy failed/,
    reason: 'StillRunning',
    meaning: 'waiting',
    advice: () => 'it must be stopped first',
  },
  { when: /already running/, reason: 'AlreadyRunning', meaning: 'waiting' },
  {
    when: /quit\/powerdown failed/,
    reason: 'ShutdownIgnored',
    meaning: 'backoff',
    advice: (_, { guest, host }) =>
      `the guest did not shut down in time; stop it by hand if that is safe: qm stop ${guest ?? 'ID'}${host === undefined ? '' : ` (on ${host})`}`,
  },
  {
    when: /VM is paused - cannot shutdown/,
    reason: 'Paused',
    meaning: 'backoff',
    advice: (_, { guest, host }) =>
      `somebody paused it; resume it first: qm resume ${guest ?? 'ID'}${host === undefined ? '' : ` (on ${host})`}`,
  },
  { when: /(?:VM|CT) \d+ (?:is )?not running/, reason: 'NotRunning', meaning: 'waiting' },
  {
    when: /guest agent is not running|qga command .* failed|agent not (?:configured|available)/i,
    reason: 'AgentDown',
    meaning: 'waiting',
  },
  {
    when: /[Oo]nly root (?:can|may)|is only allowed for root@pam/,
    reason: 'RootOnly',
    meaning: 'stalled',
    advice: () =>
      'Proxmox lets only root@pam do this, never a token: take the option out of the declaration and set it by hand',
  },
  {
    when: /pool '([^']*)' does not exist/,
    reason: 'PoolMissing',
    meaning: 'stalled',
    advice: (match) => `create it: pveum pool add ${match[1]}`,
  },
  {
    when: /Permission check failed \((\/[^,]*), ([^)]*)\)/,
    reason: 'PermissionDenied',
    meaning: 'stalled',
    advice: (match) =>
      `give the token a role with ${privilege(match[2])} on ${match[1]}: pveum acl modify ${match[1]} --tokens 'USER@REALM!TOKEN' --roles ROLE`,
  },
  {
    when: /Permission check failed|permission denied/i,
    reason: 'PermissionDenied',
    meaning: 'stalled',
    advice: (_, { doing }) =>
      /download|verify/.test(doing)
        ? 'the token needs Sys.AccessNetwork on the host, or Sys.Audit and Sys.Modify on /'
        : 'the token needs VM.Allocate on /vms or on the pool',
  },
  {
    when: /no space left|not enough (?:free )?space|out of space|storage .* is full/i,
    reason: 'StorageFull',
    meaning: 'stalled',
    advice: () => 'make room on the storage, or choose another',
  },
  {
    when: /storage '([^']*)' is not online|storage '([^']*)' is not (?:active|available)/,
    reason: 'StorageOffline',
    meaning: 'backoff',
    advice: () => 'it will be tried again',
  },
  {
    when: /storage '([^']*)' (?:does not exist|is disabled|does not support|is not available on node)/,
    reason: 'StorageUnfit',
    meaning: 'stalled',
    advice: () => 'choose a storage that is enabled on this host for this content',
  },
  {
    when: /bridge '([^']*)' does not exist/,
    reason: 'BridgeMissing',
    meaning: 'stalled',
    advice: (match) => `there is no bridge ${match[1]} on this host: declare another, or create it`,
  },
  {
    when: /hotplug problem/,
    reason: 'HotplugRefused',
    meaning: 'waiting',
    advice: () => 'it takes effect when the guest restarts',
  },
  {
    when: /refusing to override existing file/,
    reason: 'FileExists',
    meaning: 'waiting',
    advice: () => 'the file is there already',
  },
  {
    when: /download failed|no decompression method/,
    reason: 'DownloadFailed',
    meaning: 'backoff',
    advice: () => 'check that the host reaches the URL',
  },
  {
    when: /volume '([^']*)' does not exist|failed to stat '([^']*)'|no such volume/,
    reason: 'VolumeMissing',
    meaning: 'backoff',
    advice: () => 'the file must be on the storage first',
  },
  {
    when: /device '([^']*)' is already in use|is part of exported pool '[^']*'/,
    reason: 'ImportNeeded',
    meaning: 'stalled',
    advice: (match, { host }) =>
      `if a pool is on ${match[1] ?? 'it'} that was exported, import needed (SSH lane): run zpool import${host === undefined ? '' : ` on ${host}`} to see it, then zpool import NAME; otherwise choose an empty disk`,
  },
  {
    when: /shrinking disks is not supported/,
    reason: 'CannotShrink',
    meaning: 'stalled',
    advice: () => 'declare a size that is not smaller than the disk',
  },
  {
    when: /no such cluster node|hostname lookup '([^']*)' failed/,
    reason: 'HostUnknown',
    meaning: 'backoff',
    advice: () => 'check the host name in the declaration; it must be the node name, not the full domain name',
  },
  {
    when: /invalid bootorder|balloon value too large|has wrong type|unable to parse|cloud-init drive is already attached|either 'host' or 'mapping'/,
    reason: 'InvalidParameter',
    meaning: 'stalled',
    advice: () => 'correct the declaration',
  },
  {
    when: /ha groups have been migrated to rules/,
    reason: 'NotSupported',
    meaning: 'stalled',
    advice: () => 'this Proxmox has HA rules in place of HA groups: declare a ProxmoxHaRule',
  },
  {
    when: /can't start a (?:vm|CT) if it's a template|convert a template to a template/i,
    reason: 'IsTemplate',
    meaning: 'stalled',
    advice: () => 'a template cannot do this',
  },
]

/** Translates an API's error: the only place that decides its meaning. */
export function translate(error: ForeignError): Refusal {
  if (error.status === 401) return refusalOf('Unauthorized', 'stalled', error, unauthorizedAdvice(error.text), true)
  const whole =
    error.parameters === undefined ? error.text : `${error.text} ${Object.values(error.parameters).join(' ')}`
  // Limit the text: patterns with two words backtrack over a text that repeats one of them.
  const text = whole.slice(0, LIMITS.judgedErrorLength)
  for (const pattern of PATTERNS) {
    const match = pattern.when.exec(text)
    if (match === null) continue
    const advice = pattern.advice?.(match, error)
    return refusalOf(pattern.reason, pattern.meaning, error, advice, pattern.connectionWide ?? false)
  }
  if (error.status === 400) return refusalOf('InvalidParameter', 'stalled', error, 'correct the declaration')
  if (error.status === 403)
    return refusalOf('PermissionDenied', 'stalled', error, 'give the token the missing privilege')
  if (error.status === 501 || error.status === 505 || error.status === 506)
    return refusalOf('NotSupported', 'stalled', error, 'this version of Proxmox does not know the call')
  return refusalOf(error.status === undefined ? 'TaskFailed' : 'ApiError', 'backoff', error)
}

function refusalOf(
  reason: string,
  meaning: Refusal['meaning'],
  error: ForeignError,
  advice?: string,
  connectionWide = false,
): Refusal {
  const details = Object.entries(error.parameters ?? {}).map(([name, text]) => `${name}: ${text}`)
  const said = cleanText(details.length === 0 ? error.text : details.join('; '))
  const message = `could not ${error.doing}: ${said === '' ? `status ${error.status ?? 'unknown'}` : said}`
  return {
    reason,
    meaning,
    message: advice === undefined ? message : `${message}; ${advice}`,
    ...(connectionWide ? { connectionWide: true } : {}),
  }
}

/** A host that died during a creation leaves its lock forever, and no token can remove it. */
function lockAdvice(match: RegExpExecArray, error: ForeignError): string {
  const guest = error.guest ?? 'ID'
  const where = error.host === undefined ? 'on its host' : `on ${error.host}`
  if (match[1] !== 'create' && match[1] !== 'clone') return `something else is at work on it (${match[1]})`
  return `if no task works on it any more (its host may have failed), run ${where}: ${/^CT\b/.test(error.text) ? 'pct' : 'qm'} unlock ${guest}`
}

function unauthorizedAdvice(text: string): string {
  if (/skew/.test(text))
    return 'set the clocks right; if it is refused then too, the token is wrong, expired or was removed: check it with pveum user token list USER@REALM'
  if (/no ticket/i.test(text)) return 'no token was sent: check the token reference of the connection'
  if (/expired/i.test(text)) return 'the token has expired: make a new one or extend it'
  return 'the token is wrong, expired or was removed, or the clocks differ: check it with pveum user token list USER@REALM'
}

function privilege(names: string | undefined): string {
  return (names ?? '').split('|').join(' or ')
}
