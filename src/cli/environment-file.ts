import { writeFileSync } from 'node:fs'
import { shellQuoted } from '../lib/shell-quoted.ts'

/** Writes a file that a shell reads with `.`. Only its owner may read it, because it holds tokens. */
export function writeEnvironment(file: string, values: Readonly<Record<string, string>>): void {
  const lines = Object.entries(values).map(([name, value]) => `export ${name}=${shellQuoted(value)}\n`)
  writeFileSync(file, lines.join(''), { mode: 0o600 })
}
