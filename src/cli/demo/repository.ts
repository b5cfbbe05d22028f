import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { CliError } from '../verb.ts'

const run = promisify(execFile)

/** A person's clone of a real Git repository, and the place it pushes to: both below one temporary directory. */
export interface Repository {
  /** The person's work tree. */
  readonly directory: string
  /** The remote that the person pushes to and croft fetches from. */
  readonly remote: string
  /** Commits everything and pushes it. */
  push(message: string): Promise<string>
  /** First line of the message of a commit that was pushed. */
  subjectOf(commit: string): Promise<string>
}

/** Ignores the person's Git configuration: no hook, no signing, no global setting takes part. */
export async function createRepository(below: string): Promise<Repository> {
  const remote = path.join(below, 'infra.git')
  const directory = path.join(below, 'infra')
  const git = async (cwd: string, ...args: readonly string[]): Promise<string> => {
    const env = { PATH: process.env.PATH, HOME: below, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
    try {
      const { stdout } = await run('git', ['-c', 'core.hooksPath=/dev/null', ...args], { cwd, env, timeout: 20_000 })
      return stdout.trim()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      if (!existsSync(cwd))
        throw new CliError(`The tour works in a folder of its own, and ${cwd} is not there any more.`)
      throw new CliError('The tour needs the program git, which is not in PATH. Install it, e.g. with: apt install git')
    }
  }
  await git(below, 'init', '--quiet', '--bare', '--initial-branch=main', remote)
  await git(below, 'init', '--quiet', '--initial-branch=main', directory)
  // Kept in the clone, so that a person who looks around can commit there too.
  await git(directory, 'config', 'user.name', 'croft')
  await git(directory, 'config', 'user.email', 'croft@localhost')
  await git(directory, 'remote', 'add', 'origin', remote)
  return {
    directory,
    remote,
    async push(message) {
      await git(directory, 'add', '--all')
      await git(directory, '-c', 'commit.gpgsign=false', 'commit', '--quiet', '--message', message)
      await git(directory, 'push', '--quiet', '--set-upstream', 'origin', 'main')
      return git(directory, 'rev-parse', 'HEAD')
    },
    subjectOf: (commit) => git(remote, 'log', '-1', '--format=%s', commit),
  }
}
