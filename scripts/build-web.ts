import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type BuildOptions, build } from 'esbuild'
import { licenceTexts } from './licence-texts.ts'

// Builds the page into dist/web. Nothing has to call it by hand: `croft run` and the tests build it when it is stale.

const LICENCES = 'THIRD-PARTY-LICENSES'
const FIXED = ['icon.svg', 'files.json', 'index.html', LICENCES]
/** How long older builds are kept: a running server or an open page may still read them. */
const KEPT_MS = 600_000

const root = dirname(import.meta.dirname)
const target = join(root, 'dist', 'web')
mkdirSync(target, { recursive: true })

const COMMON = {
  outdir: target,
  bundle: true,
  minify: true,
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
  // Hashes are made of paths as well: where node_modules really is must not show in what is released.
  preserveSymlinks: true,
} as const satisfies BuildOptions

// The terminal of consoles is built apart: xterm.js sees a `document` of ours, which nothing else of the page must see.
const looks = await build({
  ...COMMON,
  entryPoints: [join(root, 'node_modules', '@xterm', 'xterm', 'css', 'xterm.css')],
  write: false,
})
const apart = await build({
  ...COMMON,
  entryPoints: [{ in: join(root, 'web', 'terminal', 'library.ts'), out: 'terminal' }],
  inject: [join(root, 'web', 'terminal', 'library-document.ts')],
  define: {
    TERMINAL_LOOKS: JSON.stringify(looks.outputFiles[0]?.text ?? ''),
    // By this the library gets at the document past its own option for it.
    'window.document': 'document',
  },
})
const [terminal = ''] = Object.keys(apart.metafile.outputs).map((path) => basename(path))

const built = await build({
  ...COMMON,
  entryPoints: [
    { in: join(root, 'web', 'main.tsx'), out: 'main' },
    { in: join(root, 'web', 'style', 'status.css'), out: 'status' },
  ],
  splitting: true,
  define: { TERMINAL_FILE: JSON.stringify(`/${terminal}`) },
  external: [`/${terminal}`],
})
const outputs = [terminal, ...Object.keys(built.metafile.outputs).map((path) => basename(path))]
const named = (pattern: RegExp): string => {
  const found = outputs.find((name) => pattern.test(name))
  if (found === undefined) throw new Error(`the build made nothing like ${pattern}`)
  return `/${found}`
}
const html = readFileSync(join(root, 'web', 'index.html'), 'utf8')
  .replace('/main.css', named(/^main-.*\.css$/))
  .replace('/main.js', named(/^main-.*\.js$/))
  .replace('/chunk.js', named(/^chunk-.*\.js$/))
// Names hold the hash of what is inside, so a build never changes a file that is being read: two builds at once, or one
// beside a running server, do no harm. The list says what belongs to the page; index.html is written last.
put(
  LICENCES,
  licenceTexts(
    root,
    [apart, built].flatMap(({ metafile }) => Object.keys(metafile.inputs)),
  ),
)
put('icon.svg', readFileSync(join(root, 'web', 'icon.svg'), 'utf8'))
put('files.json', `${JSON.stringify([...outputs, 'icon.svg', 'index.html'].toSorted())}\n`)
put('index.html', html)
for (const name of readdirSync(target)) {
  const old = Date.now() - statSync(join(target, name)).mtimeMs > KEPT_MS
  if (old && !outputs.includes(name) && !FIXED.includes(name)) rmSync(join(target, name), { force: true })
}

function put(name: string, text: string): void {
  const draft = join(target, `.${name}.${process.pid}`)
  writeFileSync(draft, text)
  renameSync(draft, join(target, name))
}
