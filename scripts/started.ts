import { realpathSync } from 'node:fs'

/**
 * Whether a file is the program that was started, and not a module of another one. `import.meta.main` does not say so:
 * on Node 24 `bin/run` imports the program into its own process, and a program that is imported is not main.
 */
export function startedAs(file: string): boolean {
  const [, started] = process.argv
  return started !== undefined && realpathSync(started) === file
}
