import { rmSync } from 'node:fs'
import path from 'node:path'
import { runGit } from './git-run.ts'

export interface NewCommit {
  /** A bare repository of ours. */
  readonly mirror: string
  readonly parent: string
  /** Path in the repository, and its new text. */
  readonly file: string
  readonly text: string
  readonly message: string
  readonly author: string
  readonly atMs: number
}

/** Makes a commit that changes one file, with plumbing alone: no work tree, no hook, no filter. Answers its name. */
export async function commitFile(commit: NewCommit): Promise<string> {
  const { mirror, parent, file } = commit
  const index = path.join(mirror, `croft-index-${parent.slice(0, 12)}`)
  const git = async (args: readonly string[], input?: string, env: Readonly<Record<string, string>> = {}) => {
    const output = await runGit({
      directory: mirror,
      arguments: args,
      env: { GIT_INDEX_FILE: index, ...env },
      ...(input === undefined ? {} : { input }),
    })
    return output.toString('utf8').trim()
  }
  try {
    const blob = await git(['hash-object', '-w', '--stdin', '--no-filters'], commit.text)
    await git(['read-tree', parent])
    await git(['update-index', '--add', '--cacheinfo', `100644,${blob},${file}`])
    const tree = await git(['write-tree'])
    const who = commit.author.replaceAll(/[^\w .:@-]/g, '').slice(0, 100) || 'croft'
    const when = `${Math.floor(commit.atMs / 1000)} +0000`
    return await git(['commit-tree', '--no-gpg-sign', '-p', parent, '-F', '-', tree], commit.message, {
      GIT_AUTHOR_NAME: who,
      GIT_AUTHOR_EMAIL: 'croft@localhost',
      GIT_AUTHOR_DATE: when,
      GIT_COMMITTER_NAME: 'croft',
      GIT_COMMITTER_EMAIL: 'croft@localhost',
      GIT_COMMITTER_DATE: when,
    })
  } finally {
    rmSync(index, { force: true })
  }
}

export interface PushOptions {
  readonly mirror: string
  readonly remote: string
  readonly commit: string
  readonly branch: string
  readonly allowLocal?: boolean
  readonly access?: {
    readonly settings?: readonly string[]
    readonly sshCommand?: string
    prepare?(): Promise<() => void>
  }
}

/** Pushes a commit to a new branch. If the branch exists with other content, it stays: the push is never forced. */
export async function pushBranch({
  mirror,
  remote,
  commit,
  branch,
  allowLocal = false,
  access = {},
}: PushOptions): Promise<void> {
  const { prepare, ...settings } = access
  const tidy = await prepare?.()
  try {
    await runGit({
      directory: mirror,
      arguments: ['push', '--quiet', '--no-verify', '--end-of-options', remote, `${commit}:refs/heads/${branch}`],
      allowLocal,
      ...settings,
    })
  } finally {
    tidy?.()
  }
}

/** The change of a commit as a patch that `git am` takes. */
export async function patchOf(mirror: string, commit: string): Promise<string> {
  return (
    await runGit({ directory: mirror, arguments: ['format-patch', '-1', '--stdout', '--no-ext-diff', commit] })
  ).toString('utf8')
}
