import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { must } from './clone.ts'

/** A Node that cannot run croft by itself, like the one of a person who installs it; pinned by its content. */
const OLDER = '22.23.3'
const INTEGRITY: Readonly<Record<string, string>> = {
  x64: 'qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  arm64: 'l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
}

export interface NodeVersion {
  readonly major: string
  /** An environment in which `node` is this one. */
  readonly env: Readonly<Record<string, string>>
}

/** The Node in PATH, the one that runs the tests, and one between them. */
export function nodeVersions(): readonly NodeVersion[] {
  const inPath = { major: majorOf(spawnSync('node', ['--version'], { encoding: 'utf8' }).stdout), env: {} }
  return [inPath, first(process.execPath), first(olderNode())].filter(
    ({ major }, at, all) => all.findIndex((one) => one.major === major) === at,
  )
}

function first(node: string): NodeVersion {
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()
  return { major: majorOf(version), env: { PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}` } }
}

function majorOf(version: string): string {
  return version.trim().replace(/^v/, '').split('.')[0] ?? ''
}

/** Fetched from the registry once, like everything that `npm ci` fetches, and kept. */
function olderNode(): string {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'croft')
  const kept = join(cache, `node-${OLDER}`)
  const node = join(kept, 'package', 'bin', 'node')
  if (existsSync(node)) return node
  mkdirSync(cache, { recursive: true })
  const scratch = mkdtempSync(join(cache, 'node-'))
  try {
    const name = `node-linux-${process.arch}`
    must('npm', ['pack', '--silent', `${name}@${OLDER}`], scratch)
    const file = join(scratch, `${name}-${OLDER}.tgz`)
    const got = createHash('sha512').update(readFileSync(file)).digest('base64')
    if (got !== INTEGRITY[process.arch]) throw new Error(`${name}@${OLDER} is not what was published: sha512-${got}`)
    must('tar', ['-xzf', file], scratch)
    renameSync(scratch, kept)
    return node
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
