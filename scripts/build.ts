// Builds what is published into dist/: the program with everything it needs in a few files, because most of a short
// command's time is spent opening modules, and the tables that it reads beside them. Node strips types everywhere but
// under node_modules, so a package cannot run from its TypeScript.
import { createHash } from 'node:crypto'
import { cpSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build as bundle, type Metafile, type Plugin } from 'esbuild'
import { BUILD_STAMP } from '../src/source/disk-cache.ts'
import { builtinModules } from './builtin-modules.ts'
import { licenceTexts } from './licence-texts.ts'
import { startedAs } from './started.ts'

/** Options of every bundle. Names stay: a stack trace must say where it happened. */
const OUTPUT = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'silent',
} as const

/** Builds the sources of a tree into a folder; rejects with what esbuild says when it cannot. */
export async function build(outDir: string, root = dirname(import.meta.dirname)): Promise<void> {
  for (const old of globSync('*', { cwd: outDir }))
    if (old !== 'web') rmSync(join(outDir, old), { recursive: true, force: true })
  const { metafile } = await bundle({
    // A worker thread starts from its own file: no module imports it, so it must be named here.
    entryPoints: { main: join(root, 'src/main.ts'), worker: join(root, 'src/source/apart/worker.ts') },
    ...OUTPUT,
    outdir: outDir,
    // One file would be read whole for every --help: parts are loaded when a verb asks for them.
    splitting: true,
    chunkNames: 'code-[hash]',
    format: 'esm',
    banner: { js: PRELUDE },
    plugins: [keepPlaces(root), apart(), oneLanguage(), builtinModules()],
    metafile: true,
    absWorkingDir: root,
    preserveSymlinks: true,
  })
  const libraries = await Promise.all(
    Object.entries(APART).map(([name, file]) => library(root, name, join(outDir, file))),
  )
  for (const file of globSync(['src/**/*.{json,sh}', 'sim/**/*.json'], { cwd: root, exclude: ['**/testing'] }))
    cpSync(join(root, file), join(outDir, file.replace(/^src\//, '')))
  writeFileSync(join(outDir, BUILD_STAMP), stampOf(outDir))
  writeFileSync(
    join(outDir, 'THIRD-PARTY-LICENSES'),
    licenceTexts(
      root,
      [metafile, ...libraries].flatMap(({ inputs }) => Object.keys(inputs)),
    ),
  )
}

/** By this the program knows that it is the same that judged a manifest before. */
function stampOf(outDir: string): string {
  const hash = createHash('sha256')
  for (const file of globSync('**/*', { cwd: outDir, exclude: ['web'] }).sort()) {
    const path = join(outDir, file)
    if (statSync(path).isFile()) hash.update(`${file}\0`).update(readFileSync(path))
  }
  return hash.digest('hex')
}

/** Large libraries that most commands never need. Each is a file that is read when something asks for the library. */
const APART: Readonly<Record<string, string>> = {
  yaml: 'library-yaml.cjs',
  '@bufbuild/cel': 'library-cel.cjs',
  '@bufbuild/re2': 'library-re2.cjs',
  'age-encryption': 'library-age.cjs',
}

async function library(root: string, name: string, outfile: string): Promise<Metafile> {
  const { metafile } = await bundle({
    stdin: { contents: `module.exports = require(${JSON.stringify(name)})`, resolveDir: root },
    ...OUTPUT,
    outfile,
    format: 'cjs',
    metafile: true,
    absWorkingDir: root,
    preserveSymlinks: true,
  })
  return metafile
}

function apart(): Plugin {
  return {
    name: 'apart',
    setup(made) {
      made.onResolve({ filter: /^(?:yaml|age-encryption|@bufbuild\/(?:cel|re2))$/ }, ({ path, kind }) => {
        const file = APART[path]
        return kind === 'require-call' && file !== undefined ? { path: `./${file}`, external: true } : undefined
      })
    },
  }
}

/** Messages of zod in fifty languages are a third of it, and nothing asks for them. */
function oneLanguage(): Plugin {
  return {
    name: 'one-language',
    setup(made) {
      made.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
        contents: "export { default as en } from './en.js'",
      }))
    },
  }
}

/** Bundled, every module still finds its tables as if it lay where it lies among the sources. */
function keepPlaces(root: string): Plugin {
  return {
    name: 'keep-places',
    setup(made) {
      made.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const folder = relative(root, dirname(path)).replace(/^src(?:\/|$)/, '')
        const text = readFileSync(path, 'utf8')
        if (!/^(?:src|sim)\//.test(relative(root, path)) || !text.includes('import.meta.')) return undefined
        const contents = text
          .replaceAll(/createRequire\(import\.meta\.url\)\((?='[\w@/-]+'\))/g, 'require(')
          .replaceAll('import.meta.', `croftAt(${JSON.stringify(folder)}).`)
        return { contents, loader: 'ts' }
      })
    },
  }
}

/** What bundled modules share: `require` for CommonJS among them, and the places above. */
const PRELUDE = [
  "import{createRequire as croftRequire}from'node:module'",
  "import{join as croftJoin}from'node:path'",
  "import{pathToFileURL as croftUrl}from'node:url'",
  'const require=croftRequire(import.meta.url)',
  "const croftAt=(folder)=>{const dirname=croftJoin(import.meta.dirname,folder);return{dirname,url:croftUrl(croftJoin(dirname,'_')).href}}",
].join(';')

if (startedAs(import.meta.filename)) {
  await build(join(dirname(import.meta.dirname), 'dist')).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\nthe build failed\n`)
    process.exit(1)
  })
}
