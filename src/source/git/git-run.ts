import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { LIMITS } from '../../lib/limits.ts'
import { maskMessage } from '../../model/masked/secret-text.ts'
import { printable } from '../yaml/excerpt.ts'

/** A failure of git. The message is git's own, cleaned for display. */
export class GitFailed extends Error {
  constructor(what: string, text: string) {
    super(`git ${what} failed: ${printable(maskMessage(text).trim().split('\n').slice(-3).join(' ')).slice(0, 500)}`)
    this.name = 'GitFailed'
  }
}

/** Settings that override the repository's and the user's: git runs no program that a repository names. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.quotePath=false',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'protocol.allow=never',
  'protocol.https.allow=always',
  'protocol.ssh.allow=always',
  'http.followRedirects=false',
  // Read a file's bytes exactly as committed; the user's configuration must not convert them.
  'core.autocrlf=false',
  'core.eol=lf',
  'core.attributesFile=/dev/null',
  'gc.auto=0',
  'maintenance.auto=false',
]

/** Disables credential helpers and Kerberos. */
const ALONE = ['credential.helper=', 'http.emptyAuth=false', 'protocol.ssh.allow=never']

/** git reads no configuration but that of the repository. */
export const NO_CONFIGURATION = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
}

export interface GitRun {
  readonly directory: string
  readonly arguments: readonly string[]
  readonly input?: string
  readonly signal?: AbortSignal
  /** Allows a repository on this machine, on a person's request. */
  readonly allowLocal?: boolean
  /** Further settings of ours, each `name=value`. No secrets: they stand in the process list. */
  readonly settings?: readonly string[]
  /** The command that git starts for SSH, instead of the plain one. */
  readonly sshCommand?: string
  /** The keys that GnuPG accepts. */
  readonly gnupgHome?: string
  /** For a URL from a source with a grant: without the user's settings, and through this proxy only. */
  readonly alone?: { readonly home: string; readonly proxy: string }
  /** Further names in its environment. No secrets. */
  readonly env?: Readonly<Record<string, string>>
  /** Exit codes of success; default 0. */
  readonly codes?: readonly number[]
}

/** The one way in which the git program is started: an argument list, no shell, no questions, an end. */
export function runGit(run: GitRun): Promise<Buffer> {
  const local = run.allowLocal === true ? ['protocol.file.allow=always'] : []
  const alone = run.alone === undefined ? [] : [...ALONE, `http.proxy=${run.alone.proxy}`]
  const settings = [...SETTINGS, ...local, ...alone, ...(run.settings ?? [])]
  const args = [...settings.flatMap((setting) => ['-c', setting]), '-C', run.directory, ...run.arguments]
  return new Promise((resolve, reject) => {
    const what = run.arguments[0] ?? ''
    const child = spawn('git', args, {
      env: {
        ...environment(run),
        ...run.env,
        ...(run.gnupgHome === undefined ? {} : { GNUPGHOME: run.gnupgHome }),
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: LIMITS.gitTimeoutMs,
      ...(run.signal === undefined ? {} : { signal: run.signal }),
    })
    const chunks: Buffer[] = []
    let size = 0
    let errors = ''
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > LIMITS.gitBytes) child.kill('SIGKILL')
      else chunks.push(chunk)
    })
    child.stderr.setEncoding('utf8')
    child.stderr.on('data', (text: string) => {
      errors = (errors + text).slice(-4000)
    })
    // git may exit before it has read all input; its exit code says why.
    child.stdin.on('error', () => {})
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(new GitFailed(what, error.code === 'ENOENT' ? notStarted(run.directory) : error.message)),
    )
    child.on('close', (code, signal) => {
      if (size > LIMITS.gitBytes) reject(new GitFailed(what, `more than ${LIMITS.gitBytes} bytes of output`))
      else if (code !== null && (run.codes ?? [0]).includes(code)) resolve(Buffer.concat(chunks))
      else reject(new GitFailed(what, errors || (signal === null ? `exit code ${code}` : `ended by ${signal}`)))
    })
    child.stdin.end(run.input ?? '')
  })
}

/** The system's error is the same for a missing program and a missing directory. */
function notStarted(directory: string): string {
  return existsSync(directory)
    ? 'Git is not installed, or not in PATH: install it (on Debian: apt install git)'
    : `there is no directory ${directory}`
}

const ENVIRONMENT = ['PATH', 'USER', 'LOGNAME', 'TMPDIR', 'SSL_CERT_FILE']
const OWN_ENVIRONMENT = [
  'HOME',
  'XDG_CONFIG_HOME',
  'SSH_AUTH_SOCK',
  'HTTPS_PROXY',
  'https_proxy',
  'NO_PROXY',
  'no_proxy',
]

/** git gets only these variables: the caller's GIT_DIR, or a proxy command, would lead it elsewhere. */
function environment({ sshCommand = 'ssh -oBatchMode=yes', alone }: GitRun): NodeJS.ProcessEnv {
  const kept = alone === undefined ? [...ENVIRONMENT, ...OWN_ENVIRONMENT] : ENVIRONMENT
  const env: NodeJS.ProcessEnv = {}
  for (const name of kept) if (process.env[name] !== undefined) env[name] = process.env[name]
  return {
    ...env,
    ...(alone === undefined ? {} : { HOME: alone.home, ...NO_CONFIGURATION }),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_ASKPASS: 'true',
    SSH_ASKPASS: 'true',
    GIT_SSH_COMMAND: sshCommand,
  }
}
