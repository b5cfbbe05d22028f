import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** A small tree of what is packed, as if it had been built, in a directory that it makes. */
export function smallTree(directory: string): string {
  for (const folder of ['bin', `dist/${'long-'.repeat(18)}`, 'docs', 'examples'])
    mkdirSync(join(directory, folder), { recursive: true })
  for (const file of [
    'package.json',
    'package-lock.json',
    'LICENSE',
    'README.md',
    'CHANGELOG.md',
    'bin/croft',
    'bin/run',
  ])
    cpSync(join(ROOT, file), join(directory, file))
  cpSync(join(ROOT, 'docs/run.md'), join(directory, 'docs/run.md'))
  writeFileSync(join(directory, 'dist/main.js'), 'export {}\n')
  writeFileSync(join(directory, `dist/${'long-'.repeat(18)}/name.js`), 'export {}\n')
  writeFileSync(join(directory, 'untracked.txt'), 'not for others')
  return directory
}
