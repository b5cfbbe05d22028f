import { LIMITS } from '../lib/limits.ts'
import { printable } from './excerpt.ts'
import { GitFailed, runGit } from './git-run.ts'

/** What a person wants to know of a commit. Text of others, made safe to show. */
export interface CommitFacts {
  readonly commit: string
  readonly subject: string
  readonly author: string
  readonly committedMs: number
}

export async function commitFacts(repository: string, commit: string, signal?: AbortSignal): Promise<CommitFacts> {
  const output = await runGit({
    directory: repository,
    arguments: ['show', '--no-patch', '--no-notes', '--format=%s%x00%an%x00%ct', '--end-of-options', commit],
    ...(signal === undefined ? {} : { signal }),
  })
  const [subject = '', author = '', seconds = '0'] = output.toString('utf8').split('\0')
  const line = (text: string) => printable(text.trim()).slice(0, LIMITS.shownValueLength)
  return { commit, subject: line(subject), author: line(author), committedMs: Number(seconds) * 1000 }
}

/** Does the newer commit stand on the older one? False also where the older one is not known at all. */
export async function standsOn(
  repository: string,
  newer: string,
  older: string,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    await runGit({
      directory: repository,
      arguments: ['merge-base', '--is-ancestor', older, newer],
      ...(signal === undefined ? {} : { signal }),
    })
    return true
  } catch (error) {
    if (error instanceof GitFailed) return false
    throw error
  }
}

/** Who may sign: a file as OpenSSH's `allowed_signers`, or the keys in a GnuPG home. */
export type Signers = { readonly allowedSigners: string } | { readonly gnupgHome: string }

/** Why the signature of a commit is not accepted; undefined when it is. */
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
  // Whoever can sign in a way that was not asked for is nobody.
  settings.push('gpg.x509.program=false')
  try {
    await runGit({
      directory: repository,
      arguments: ['verify-commit', '--raw', commit],
      settings,
      ...(ssh ? {} : { gnupgHome: signers.gnupgHome }),
      ...(signal === undefined ? {} : { signal }),
    })
    return undefined
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    if (signal?.aborted === true) throw error
    return `commit ${commit.slice(0, 12)} is not signed by an accepted key`
  }
}
