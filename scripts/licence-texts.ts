import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Their licences ask that their texts go where their code goes: one entry for each package among the bundled files. */
export function licenceTexts(root: string, files: readonly string[]): string {
  const names = new Set(files.flatMap((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []))
  return [...names]
    .toSorted()
    .map((name) => {
      const folder = join(root, 'node_modules', name)
      const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        readonly version: string
        readonly license: string
      }
      const [file] = existsSync(folder) ? globSync('{LICENSE,LICENCE,COPYING}*', { cwd: folder }).toSorted() : []
      const text = file === undefined ? `Its package has no text of its own.` : readFileSync(join(folder, file), 'utf8')
      return `${name} ${version}, ${license}\n\n${text.trim()}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}
