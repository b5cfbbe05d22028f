// Makes what is published: JavaScript in dist/, with the tables that the program reads beside it. Node strips types
// everywhere but under node_modules, so a package cannot run from its TypeScript.
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const root = dirname(import.meta.dirname)

/** Builds into a folder; answers what the compiler said when it failed. */
export function build(outDir: string): string | undefined {
  rmSync(outDir, { recursive: true, force: true })
  const compiler = join(root, 'node_modules', '.bin', 'tsc')
  const ran = spawnSync(compiler, ['-p', join(root, 'tsconfig.build.json'), '--outDir', outDir], { encoding: 'utf8' })
  if (ran.status !== 0) return `${ran.stdout}${ran.stderr}`
  const sources = join(root, 'src')
  for (const file of globSync('**/*.{json,sh}', { cwd: sources })) {
    cpSync(join(sources, file), join(outDir, relative('.', file)))
  }
  return undefined
}

if (import.meta.main) {
  const failure = build(join(root, 'dist'))
  if (failure !== undefined) {
    process.stderr.write(`${failure}\nthe build failed\n`)
    process.exit(1)
  }
}
