import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { promisify } from 'node:util'
import { CliError } from '../exit.ts'

const run = promisify(execFile)

/** A real Git repository that the tour commits to, apart from whatever the person has configured for Git. */
export interface Repository {
  readonly directory: string
  head(): Promise<string>
  commit(message: string): Promise<string>
}

export async function createRepository(directory: string): Promise<Repository> {
  mkdirSync(directory, { recursive: true })
  const git = async (...args: readonly string[]): Promise<string> => {
    const settings = [
      'user.name=croft',
      'user.email=croft@localhost',
      'commit.gpgsign=false',
      'core.hooksPath=/dev/null',
    ]
    const all = [...settings.flatMap((setting) => ['-c', setting]), ...args]
    const env = {
      PATH: process.env.PATH,
      HOME: directory,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_SYSTEM: '/dev/null',
    }
    try {
      return (await run('git', all, { cwd: directory, env, timeout: 20_000 })).stdout.trim()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        throw new CliError(
          'The tour needs the program git, which is not in PATH. Install it, e.g. with: apt install git',
        )
      }
      throw error
    }
  }
  await git('init', '--quiet', '--initial-branch=main')
  return {
    directory,
    head: () => git('rev-parse', 'HEAD'),
    async commit(message) {
      await git('add', '--all')
      await git('commit', '--quiet', '--message', message)
      return git('rev-parse', 'HEAD')
    },
  }
}
