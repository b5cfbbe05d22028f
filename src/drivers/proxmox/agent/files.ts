import { LIMITS } from '../../../lib/limits.ts'
import { ShellFailure, type WriteOptions } from '../../../lib/shell.ts'
import { ObservationFailed } from '../../port.ts'
import { cleanText, flagOf, isRecord } from '../foreign.ts'
import { failureOf } from './failures.ts'
import { type AgentGuest, runProgram } from './run.ts'

/** Three bytes become four characters. */
const CHUNK_BYTES = (LIMITS.agentInputBytes / 4) * 3

/** Creates a file that only root can read. Fails if a link or a file has its name already. */
const BEGIN = 'set -Ceu; umask 077; base64 -d >"$1"'
const APPEND = 'set -eu; umask 077; base64 -d >>"$1"'
/** Sets owner, then mode, then name: so the file never has more rights than requested. */
const FINISH = 'set -eu; [ -z "$3" ] || chown -- "$3" "$1"; chmod -- "$4" "$1"; mv -f -- "$1" "$2"'

/**
 * Does not use the agent's own write call: it writes in place, so readers see half a file, and a new file is briefly
 * readable by all.
 */
export async function writeFile(
  guest: AgentGuest,
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): Promise<void> {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : Buffer.from(content)
  const doing = `write ${cleanText(path, 200)}`
  if (!path.startsWith('/')) throw new ShellFailure('no', 'unsendable', `could not ${doing}: the path must be absolute`)
  if (bytes.length > LIMITS.shellFileBytes)
    throw new ShellFailure('no', 'too-large', `could not ${doing}: ${bytes.length} bytes are more than are sent`)
  const made = `${path}.croft-${Math.floor(guest.random.next() * 2 ** 48).toString(16)}`
  const signal = options.signal === undefined ? {} : { signal: options.signal }
  const sh = async (script: string, words: readonly string[], input?: string) => {
    const argv = ['/bin/sh', '-c', script, 'croft', ...words]
    const { code, stderr } = await runProgram(guest, argv, { ...signal, ...(input === undefined ? {} : { input }) })
    if (code === 0) return
    await runProgram(guest, ['rm', '-f', '--', made], signal).catch(() => undefined)
    const said = cleanText(stderr.trim(), 300) || `code ${code}`
    throw new ShellFailure('maybe', 'refused', `could not ${guest.about(doing).doing}: ${said}`)
  }
  const owner = options.owner ?? ''
  const finish = [
    path,
    options.group === undefined ? owner : `${owner}:${options.group}`,
    (options.mode ?? 0o644).toString(8).padStart(4, '0'),
  ]
  const chunks: string[] = []
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    chunks.push(bytes.subarray(at, at + CHUNK_BYTES).toString('base64'))
  const [first = '', ...more] = chunks
  if (more.length === 0) return sh(`${BEGIN}; ${FINISH}`, [made, ...finish], first)
  await sh(BEGIN, [made], first)
  for (const chunk of more) await sh(APPEND, [made], chunk)
  await sh(FINISH, [made, ...finish])
}

/** One character per byte: Proxmox's form of a file's content. */
export async function readFile(
  guest: AgentGuest,
  path: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<Uint8Array | undefined> {
  const about = guest.about(`read ${cleanText(path, 200)}`)
  if (/[^\x01-\x7f]/.test(path))
    throw new ShellFailure('no', 'unsendable', `could not ${about.doing}: a path may hold ASCII only here`)
  const parts: Buffer[] = []
  let size = 0
  for (;;) {
    // Proxmox 8 has no offset, so the first part is requested without one.
    const from = size === 0 ? '' : `&offset=${size}`
    let answer: unknown
    try {
      answer = await guest.api.read(`${guest.path}/file-read?file=${encodeURIComponent(path)}${from}`, about, signal)
    } catch (error) {
      if (!(error instanceof ObservationFailed)) throw error
      if (/No such file or directory/.test(error.message) && size === 0) return undefined
      if (error.refusal.reason === 'InvalidParameter' && size > 0) throw tooLarge(about.doing)
      throw failureOf({ result: 'refused', refusal: error.refusal }, 'no')
    }
    if (!isRecord(answer) || typeof answer.content !== 'string')
      throw new ShellFailure('no', 'unreadable', `could not ${about.doing}: the answer has no content`)
    const part = Buffer.from(answer.content, 'latin1')
    parts.push(part)
    size += part.length
    if (size > LIMITS.shellFileBytes) throw tooLarge(about.doing)
    if (!flagOf(answer.truncated) || part.length === 0) return Buffer.concat(parts)
    // An agent that sends a letter at a time would be read forever.
    if (parts.length >= LIMITS.agentFileParts) throw tooLarge(about.doing)
  }
}

function tooLarge(doing: string): ShellFailure {
  return new ShellFailure('no', 'too-large', `could not ${doing}: it is larger than can be read`)
}
