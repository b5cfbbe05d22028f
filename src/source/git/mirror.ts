import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { refusedRemote } from './git-names.ts'
import { GitFailed, runGit } from './git-run.ts'

export interface MirrorOptions {
  readonly signal?: AbortSignal
  readonly settings?: readonly string[]
  readonly sshCommand?: string
  readonly allowLocal?: boolean
  readonly tags?: boolean
}

/** Mirrors whose stale locks, left by an earlier process, this process has removed. */
const unlocked = new Set<string>()

/** Brings the branches of a remote into a bare repository beside us. Nothing is checked out, nothing is run. */
export async function fetchMirror(url: string, directory: string, options: MirrorOptions = {}): Promise<void> {
  const { tags = false, ...common } = options
  const refused = refusedRemote(url, options.allowLocal)
  if (refused !== undefined) throw new GitFailed('fetch', `the address is refused: ${refused}`)
  if (!existsSync(path.join(directory, 'HEAD'))) {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    await runGit({ directory, arguments: ['init', '--bare', '--quiet', '--template='], ...common })
  }
  if (!unlocked.has(directory)) removeLocks(directory)
  unlocked.add(directory)
  const refspecs = ['+refs/heads/*:refs/heads/*', ...(tags ? ['+refs/tags/*:refs/tags/*'] : [])]
  const flags = ['--quiet', '--prune', '--force', '--no-tags', '--no-recurse-submodules', '--no-auto-maintenance']
  await runGit({ directory, arguments: ['fetch', ...flags, '--end-of-options', url, ...refspecs], ...common })
}

/**
 * Fetches a new mirror beside the old one, then swaps them. A mirror can be fetched again, so a broken one must not
 * stop its source. Returns false if the remote does not answer or lacks the ref: then the mirror is not the cause.
 */
export async function renewMirror(
  url: string,
  directory: string,
  ref: string,
  options: MirrorOptions = {},
): Promise<boolean> {
  if (refusedRemote(url, options.allowLocal) !== undefined || !existsSync(directory)) return false
  const { tags: _tags, ...common } = options
  const fresh = mkdtempSync(`${directory}.new-`)
  const old = `${directory}.old`
  try {
    await runGit({ directory: fresh, arguments: ['init', '--bare', '--quiet', '--template='], ...common })
    // Asks for as little as can be: a network that is away must not cost a whole repository at each look.
    const asked = ['ls-remote', '--quiet', '--exit-code', '--end-of-options', url, ref]
    await runGit({ directory: fresh, arguments: asked, ...common })
    await fetchMirror(url, fresh, options)
    rmSync(old, { recursive: true, force: true })
    renameSync(directory, old)
    renameSync(fresh, directory)
    rmSync(old, { recursive: true, force: true })
    return true
  } catch (error) {
    if (error instanceof GitFailed) return false
    throw error
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/** Removes stale locks and unfinished mirrors: one process owns a mirror, so at its start they are stale. */
function removeLocks(directory: string): void {
  const parent = path.dirname(directory)
  for (const name of readdirSync(parent))
    if (name.startsWith(`${path.basename(directory)}.new-`)) rmSync(path.join(parent, name), { recursive: true })
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && entry.name.endsWith('.lock')) rmSync(path.join(entry.parentPath, entry.name), { force: true })
}
