import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { build } from 'esbuild'

// Builds the page into dist/web. Nothing has to call it by hand: `croft run` and the tests build it when it is stale.

const root = dirname(import.meta.dirname)
const target = join(root, 'dist', 'web')
// Made beside and moved into place: whoever reads meanwhile sees the old page or the new one.
const draft = `${target}.${process.pid}`
rmSync(draft, { recursive: true, force: true })
mkdirSync(draft, { recursive: true })

const built = await build({
  entryPoints: [join(root, 'web', 'main.tsx')],
  outdir: draft,
  bundle: true,
  minify: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  absWorkingDir: root,
})
const outputs = Object.keys(built.metafile.outputs).map((path) => basename(path))
const named = (pattern: RegExp): string => {
  const found = outputs.find((name) => pattern.test(name))
  if (found === undefined) throw new Error(`the build made nothing like ${pattern}`)
  return `/${found}`
}
const html = readFileSync(join(root, 'web', 'index.html'), 'utf8')
  .replace('/main.css', named(/^main-.*\.css$/))
  .replace('/main.js', named(/^main-.*\.js$/))
writeFileSync(join(draft, 'icon.svg'), readFileSync(join(root, 'web', 'icon.svg')))
writeFileSync(join(draft, 'index.html'), html)
rmSync(target, { recursive: true, force: true })
renameSync(draft, target)
