import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..', '..')

/** Copies the files that Git has or would take, so that builds do not disturb other tests. Returns the path. */
export function cloneInto(directory: string): string {
  const listed = must('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], ROOT)
  for (const name of listed.split('\0')) {
    if (name === '' || !existsSync(join(ROOT, name))) continue
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    cpSync(join(ROOT, name), join(directory, name))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  return directory
}

/** Runs a program to its good end and answers what it printed. */
export function must(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): string {
  const ran = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 64 * 1024 * 1024,
  })
  if (ran.status !== 0)
    throw new Error(
      `${command} ${args.join(' ')} ended with ${ran.status}: ${ran.stdout}${ran.stderr}${ran.error?.message ?? ''}`,
    )
  return ran.stdout
}
