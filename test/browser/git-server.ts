import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { startGitServer } from '../../src/controller/testing/git-server.ts'

/** A repository over https on this machine that can be read and pushed to, with a work tree that pushes into it. */
export async function serveRepository(directory: string) {
  const work = path.join(directory, 'work')
  const bare = path.join(directory, 'srv', 'home.git')
  mkdirSync(work, { recursive: true })
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=Anna', '-c', 'user.email=anna@example.org', ...words], {
      cwd: work,
      encoding: 'utf8',
      stdio: 'pipe',
    })
  git('init', '-q', '--bare', '-b', 'main', bare)
  git('init', '-q', '-b', 'main')
  const server = await startGitServer(path.dirname(bare))
  return {
    url: server.url('home.git'),
    ca: server.ca,
    /** Writes files, commits them and pushes; answers the commit. */
    push(files: Readonly<Record<string, string>>, message: string): string {
      for (const [name, text] of Object.entries(files)) writeFileSync(path.join(work, name), text)
      git('add', '.')
      git('commit', '-q', '-m', message)
      git('push', '-q', bare, 'main')
      return git('rev-parse', 'HEAD').trim()
    },
    /** What is in the repository: its branches, or a file of one. */
    branches: () => git('--git-dir', bare, 'branch', '--format=%(refname:short)').trim().split('\n'),
    file: (branch: string, name: string) => git('--git-dir', bare, 'show', `${branch}:${name}`),
    close: () => server.close(),
  }
}
