import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build as bundle, type Metafile, type Plugin } from 'esbuild'

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

/** A pack: one file instead of the many that these modules and all that they import would be. */
export interface Pack {
  readonly file: string
  /** Modules that something imports when it needs them, and that are needed together. */
  readonly entries: readonly string[]
}

interface Chunk {
  readonly file: string
  readonly entry: string | undefined
  readonly exports: readonly string[]
  readonly imports: readonly string[]
}

/**
 * Puts the files that are always loaded together into one. Node spends more on finding and linking a module than on most
 * of what is in it, and a split bundle has a file for every set of verbs that share something. What is imported from one
 * of these files when it is needed is still found under its old name, which only points to the pack.
 */
export async function pack(outDir: string, { outputs }: Metafile, packs: readonly Pack[]): Promise<void> {
  const chunks = new Map<string, Chunk>()
  for (const [path, { entryPoint, exports, imports }] of Object.entries(outputs)) {
    const file = basename(path)
    const of = imports.filter(({ kind, external }) => kind === 'import-statement' && external !== true)
    chunks.set(file, { file, entry: entryPoint, exports, imports: of.map((one) => basename(one.path)) })
  }
  const home = new Map<string, string>()
  for (const { file, members } of membersOf(packs, chunks)) {
    const names = new Set(members.map((one) => one.file))
    const contents = members.map(pointingTo).join('\n')
    await bundle({
      stdin: { contents, resolveDir: outDir },
      ...OUTPUT,
      outfile: join(outDir, file),
      format: 'esm',
      plugins: [onlyThese(names)],
    })
    for (const name of names) home.set(name, file)
  }
  for (const { file } of packs) redirect(join(outDir, file), home)
  for (const chunk of chunks.values()) {
    const file = home.get(chunk.file)
    if (file === undefined) redirect(join(outDir, chunk.file), home)
    else writeFileSync(join(outDir, chunk.file), stub(chunk, file))
  }
}

/** What each pack holds: all that its modules import at once and no pack before it holds. Programs stay files of their own. */
function membersOf(packs: readonly Pack[], chunks: ReadonlyMap<string, Chunk>) {
  const taken = new Set<string>()
  const byEntry = new Map([...chunks.values()].map((chunk) => [chunk.entry, chunk]))
  return packs.map(({ file, entries }) => {
    const members: Chunk[] = []
    const add = (chunk: Chunk) => {
      if (taken.has(chunk.file)) return
      taken.add(chunk.file)
      for (const name of chunk.imports) {
        const imported = chunks.get(name)
        if (imported !== undefined) add(imported)
      }
      if (chunk.file.startsWith('code-')) members.push(chunk)
    }
    for (const entry of entries) {
      const chunk = byEntry.get(entry)
      if (chunk === undefined) throw new Error(`${entry} is in the pack ${file}, but nothing imports it when needed`)
      add(chunk)
    }
    return { file, members }
  })
}

/** `code-ABC.js` gives its names to the pack with its own before them: two files may use the same one. */
function named(file: string, name: string): string {
  return `${file.replace(/\W/g, '_')}_${name}`
}

function pointingTo({ file, exports }: Chunk): string {
  if (exports.length === 0) return `import './${file}'`
  return `export {${exports.map((name) => `${name} as ${named(file, name)}`).join(',')}} from './${file}'`
}

function stub({ file, exports }: Chunk, home: string): string {
  if (exports.length === 0) return `import"./${home}";\n`
  return `export{${exports.map((name) => `${named(file, name)} as ${name}`).join(',')}}from"./${home}";\n`
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

const IMPORT = /import(?:\{([^}]*)\}from)?"\.\/(code-[A-Z0-9]+\.js)"/g

/** Imports out of a file that is in a pack come from the pack itself. */
function redirect(path: string, home: ReadonlyMap<string, string>): void {
  const text = readFileSync(path, 'utf8')
  const changed = text.replaceAll(IMPORT, (whole, list: string | undefined, file: string) => {
    const pack = home.get(file)
    if (pack === undefined) return whole
    if (list === undefined) return `import"./${pack}"`
    const names = list.split(',').map((one) => {
      const [name = '', as = name] = one.trim().split(' as ')
      return `${named(file, name)} as ${as}`
    })
    return `import{${names.join(',')}}from"./${pack}"`
  })
  if (changed !== text) writeFileSync(path, changed)
}
