import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signedBy } from '../../lib/ssh-signature.ts'
import { GitFailed, runGit } from './git-run.ts'

/** The accepted signers: a file like OpenSSH's `allowed_signers`, or the keys in a GnuPG home. */
export type Signers = { readonly allowedSigners: string } | { readonly gnupgHome: string }

/** Returns why the signature of a commit is not accepted; undefined if it is. */
export async function refusedSignature(
  repository: string,
  commit: string,
  signers: Signers,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const ssh = 'allowedSigners' in signers
  const settings = ssh
    ? [`gpg.ssh.allowedSignersFile=${signers.allowedSigners}`, 'gpg.minTrustLevel=undefined', 'gpg.program=false']
    : ['gpg.ssh.program=false']
  // Disable the other signature formats: their signers are not trusted.
  settings.push('gpg.x509.program=false')
  const git = (...args: readonly string[]) =>
    runGit({
      directory: repository,
      arguments: args,
      settings,
      ...(ssh ? {} : { gnupgHome: signers.gnupgHome }),
      ...(signal === undefined ? {} : { signal }),
    })
  const name = commit.slice(0, 12)
  try {
    await git('verify-commit', '--raw', commit)
    const over = ssh
      ? !(await isSignedNow(await git('cat-file', 'commit', commit), signers.allowedSigners))
      : !/^[GU]/.test((await git('show', '--no-patch', '--format=%G?', '--end-of-options', commit)).toString('latin1'))
    return over ? `commit ${name} is signed by a key that is not accepted any more` : undefined
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    if (signal?.aborted === true) throw error
    return `commit ${name} is not signed by an accepted key`
  }
}

/**
 * Reports whether the key is accepted today. git checks the date that the commit names, and the owner of an expired key
 * can write any date.
 */
async function isSignedNow(commit: Buffer, signers: string): Promise<boolean> {
  const { signature, payload } = takenApart(commit)
  if (signature === undefined) return false
  const room = await mkdtemp(join(tmpdir(), 'croft-signature-'))
  try {
    const file = join(room, 'signature')
    await writeFile(file, signature)
    // A signature that cannot be verified does not count.
    const by = await signedBy(signers, 'git', file, payload).catch(() => undefined)
    return by?.is === 'signed'
  } finally {
    await rm(room, { recursive: true, force: true })
  }
}

/** Splits a commit into its signature and the signed text. */
export function takenApart(commit: Buffer): { readonly signature: string | undefined; readonly payload: Buffer } {
  const text = commit.toString('latin1')
  const end = text.indexOf('\n\n')
  const [header, rest] = end === -1 ? [text, ''] : [text.slice(0, end + 1), text.slice(end + 1)]
  const found = /^gpgsig(?:-sha256)? (.*(?:\n .*)*)\n/m.exec(header)
  if (found === null) return { signature: undefined, payload: commit }
  const payload = header.slice(0, found.index) + header.slice(found.index + found[0].length) + rest
  return { signature: `${(found[1] ?? '').replaceAll('\n ', '\n')}\n`, payload: Buffer.from(payload, 'latin1') }
}
