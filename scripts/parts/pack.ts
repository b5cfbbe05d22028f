import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build as bundle, type Metafile, type Plugin } from 'esbuild'
import { builtinModules } from '../builtin-modules.ts'

/** How every file of the installed program is written. Names stay: a stack trace must say where it happened. */
export const OUTPUT = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'silent',
} as const

/** A pack: one script instead of the many that these modules and all that they import would be. */
export interface Pack {
  readonly file: string
  /** Modules that something imports when it needs them, and that are needed together. */
  readonly entries: readonly string[]
}

interface Chunk {
  readonly file: string
  readonly entry: string | undefined
  readonly imports: readonly string[]
}

const LOADER = 'parts.js'

/**
 * Turns the files of a split bundle (`code-….js`) into scripts that loader.ts runs, and puts those that are always loaded
 * together into one. Node spends more on finding and linking a module than on most of what is in it; and of a script
 * everything that a verb calls can be kept compiled, of a module only what is compiled when it is loaded. The programs
 * themselves stay modules.
 */
export async function pack(outDir: string, { outputs }: Metafile, packs: readonly Pack[]): Promise<void> {
  const chunks = new Map<string, Chunk>()
  for (const [path, { entryPoint, imports }] of Object.entries(outputs)) {
    const file = basename(path)
    const of = imports.filter(({ kind, external }) => kind === 'import-statement' && external !== true)
    chunks.set(file, { file, entry: entryPoint, imports: of.map((one) => basename(one.path)) })
  }
  const home = new Map<string, string>()
  const hash = new Map<string, string>()
  const builtins = new Map<string, readonly string[]>()
  const packed = membersOf(packs, chunks)
  const taken = new Set(packed.flatMap(({ parts }) => parts))
  const alone = [...chunks.keys()].filter((file) => isPart(file) && !taken.has(file))
  for (const { file, parts } of [...packed, ...alone.map((part) => ({ file: scriptOf(part), parts: [part] }))]) {
    const text = await script(outDir, parts)
    writeFileSync(join(outDir, file), text)
    hash.set(file, createHash('sha256').update(text).digest('hex').slice(0, 16))
    // As builtin-modules.ts wrote them.
    const names = [...text.matchAll(/getBuiltinModule\("(node:[\w/]+)"\)/g)].map(([, name = '']) => name)
    if (names.length > 0) builtins.set(file, [...new Set(names)])
    for (const part of parts) home.set(part, file)
  }
  for (const file of chunks.keys()) {
    if (isPart(file)) rmSync(join(outDir, file))
    else usingParts(join(outDir, file))
  }
  await writeLoader(join(outDir, LOADER), {
    home: Object.fromEntries(home),
    hash: Object.fromEntries(hash),
    builtins: Object.fromEntries(builtins),
  })
}

function isPart(file: string): boolean {
  return file.startsWith('code-')
}

function scriptOf(part: string): string {
  return part.replace(/\.js$/, '.cjs')
}

/** What each pack holds: all that its modules import at once and no pack before it holds. */
function membersOf(packs: readonly Pack[], chunks: ReadonlyMap<string, Chunk>) {
  const taken = new Set<string>()
  const byEntry = new Map([...chunks.values()].map((chunk) => [chunk.entry, chunk]))
  return packs.map(({ file, entries }) => {
    const parts: string[] = []
    const add = (chunk: Chunk) => {
      if (taken.has(chunk.file)) return
      taken.add(chunk.file)
      for (const name of chunk.imports) {
        const imported = chunks.get(name)
        if (imported !== undefined) add(imported)
      }
      if (isPart(chunk.file)) parts.push(chunk.file)
    }
    for (const entry of entries) {
      const chunk = byEntry.get(entry)
      if (chunk === undefined) throw new Error(`${entry} is in the pack ${file}, but nothing imports it when needed`)
      add(chunk)
    }
    return { file, parts }
  })
}

/** One script of some parts: a function gives each part under its name. */
async function script(outDir: string, parts: readonly string[]): Promise<string> {
  const contents = parts.map((file) => `export * as ${JSON.stringify(file)} from './${file}'`).join('\n')
  const { outputFiles } = await bundle({
    stdin: { contents, resolveDir: outDir },
    ...OUTPUT,
    write: false,
    format: 'cjs',
    plugins: [onlyThese(new Set(parts))],
  })
  return withLaterParts(outputFiles[0]?.text ?? '')
}

/** Everything else stays outside, and so does what is imported only when it is needed. */
function onlyThese(names: ReadonlySet<string>): Plugin {
  return {
    name: 'only-these',
    setup(made) {
      made.onResolve({ filter: /./ }, ({ path, kind }) =>
        kind === 'import-statement' && names.has(basename(path)) ? undefined : { path, external: true },
      )
    },
  }
}

const LATER = /\bimport\("(?:\.\/(code-[A-Z0-9]+\.js)|(node:[a-z_/]+))"\)/g

function withLaterParts(text: string): string {
  return text.replaceAll(LATER, (_whole, part, builtin) => `croftPartSoon("${part ?? builtin}")`)
}

const AT_ONCE = /import(?:\{([^}]*)\}from)?"\.\/(code-[A-Z0-9]+\.js)";?/g

/** A program stays a module, and takes what it imports from the parts. */
function usingParts(path: string): void {
  const text = readFileSync(path, 'utf8')
  const changed = withLaterParts(text).replaceAll(AT_ONCE, (_whole, list: string | undefined, part: string) => {
    const names = list?.split(',').map((one) => one.trim().replace(' as ', ':'))
    return `${names === undefined ? '' : `const{${names.join(',')}}=`}croftPart("${part}");`
  })
  if (changed !== text)
    writeFileSync(path, `import{part as croftPart,partSoon as croftPartSoon}from"./${LOADER}";${changed}`)
}

async function writeLoader(path: string, parts: unknown): Promise<void> {
  await bundle({
    ...OUTPUT,
    entryPoints: [join(import.meta.dirname, 'loader.ts')],
    outfile: path,
    format: 'esm',
    plugins: [builtinModules()],
    define: { PARTS: JSON.stringify(parts) },
  })
}
