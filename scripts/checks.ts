import { spawn } from 'node:child_process'
import { join } from 'node:path'

/** A tool that judges the sources without running them. */
export interface Check {
  readonly name: string
  /** What it finds, for the one line that is printed. */
  readonly finds: string
  readonly command: string
  readonly args: readonly string[]
}

export interface CheckResult {
  readonly check: Check
  readonly ok: boolean
  readonly output: string
  readonly tookMs: number
}

export const CHECKS: readonly Check[] = [
  { name: 'tsc', finds: 'types', command: 'tsc', args: ['--noEmit', '--pretty', 'false'] },
  {
    name: 'tsc web',
    finds: 'types of the page',
    command: 'tsc',
    args: ['--noEmit', '--pretty', 'false', '-p', 'web'],
  },
  {
    name: 'biome',
    finds: 'format, lint, import cycles',
    command: 'biome',
    args: ['ci', '--error-on-warnings', '--diagnostic-level=warn', '--colors=off'],
  },
  {
    name: 'oxlint',
    finds: 'floating and misused promises, unchecked cases',
    command: 'oxlint',
    args: ['--deny-warnings', '--format=unix'],
  },
  { name: 'knip', finds: 'unused files, exports and dependencies', command: 'knip', args: ['--no-progress'] },
]

/** Runs one tool from the repository's own node_modules. A tool that cannot be started has failed. */
export async function runCheck(root: string, check: Check): Promise<CheckResult> {
  const startedMs = performance.now()
  // knip is a Node program and must run on this Node: the one that /usr/bin/env finds may be too old for it.
  const program = join(root, 'node_modules', '.bin', check.command)
  const [command, args] =
    check.command === 'knip' ? [process.execPath, [program, ...check.args]] : [program, check.args]
  const chunks: string[] = []
  const code = await new Promise<number | null>((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => chunks.push(text))
    child.on('error', (error) => {
      chunks.push(`${check.command} could not be started: ${error.message}\n`)
      resolve(null)
    })
    child.on('close', resolve)
  })
  return { check, ok: code === 0, output: chunks.join(''), tookMs: performance.now() - startedMs }
}

/** Runs all, each printed as it ends, with its output only when it failed: a good run is four lines. */
export async function runChecks(root: string, print: (text: string) => void): Promise<readonly CheckResult[]> {
  return await Promise.all(
    CHECKS.map(async (check) => {
      const result = await runCheck(root, check)
      const seconds = (result.tookMs / 1000).toFixed(1)
      print(`${result.ok ? '✔' : '✖'} ${check.name}: ${check.finds} (${seconds} s)${result.ok ? '' : ' failed'}\n`)
      if (!result.ok) print(`${result.output.trimEnd()}\n\n`)
      return result
    }),
  )
}
