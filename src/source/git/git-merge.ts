import { GitFailed, runGit } from './git-run.ts'

interface Reach {
  readonly mirror: string
  readonly remote: string
  readonly allowLocal?: boolean
  readonly access?: {
    readonly settings?: readonly string[]
    readonly sshCommand?: string
    prepare?(): Promise<() => void>
  }
  readonly signal?: AbortSignal
}

/** Fetches one ref of the remote into our mirror, outside the branches. croft makes the ref's name, never a user. */
export async function fetchRef(ref: string, reach: Reach): Promise<void> {
  const { mirror, remote, allowLocal = false, access = {}, signal } = reach
  const { prepare, ...settings } = access
  const tidy = await prepare?.()
  try {
    const flags = ['--quiet', '--force', '--no-tags', '--no-recurse-submodules', '--no-auto-maintenance']
    await runGit({
      directory: mirror,
      arguments: ['fetch', ...flags, '--end-of-options', remote, `+${ref}:refs/croft/${ref.slice('refs/'.length)}`],
      allowLocal,
      ...settings,
      ...(signal === undefined ? {} : { signal }),
    })
  } finally {
    tidy?.()
  }
}

export type MergedTree = { readonly tree: string } | { readonly conflicts: readonly string[] }

/** Computes the tree of a merge without a work tree: nothing is checked out, nothing is run. */
export async function mergedTree(
  repository: string,
  base: string,
  head: string,
  signal?: AbortSignal,
): Promise<MergedTree> {
  const at = { directory: repository, ...(signal === undefined ? {} : { signal }) }
  const flags = ['--write-tree', '--name-only', '--no-messages', '-z']
  // Exit code 1 reports conflicts.
  const output = await runGit({ ...at, arguments: ['merge-tree', ...flags, base, head], codes: [0, 1] })
  const [tree = '', ...conflicts] = output.toString('utf8').split('\0')
  if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(tree)) throw new GitFailed('merge-tree', 'there is no common history')
  const names = conflicts.filter((name) => name !== '')
  return names.length === 0 ? { tree } : { conflicts: names }
}
