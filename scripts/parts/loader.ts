import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire, getCompileCacheDir } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { constants, Script } from 'node:vm'
import { readOwnFile } from '../../src/lib/own-file.ts'

/** Where the parts of the program are, as `pack` wrote it into this file when it built the program. */
declare const PARTS: {
  /** The script that each part is in. */
  readonly home: Readonly<Record<string, string>>
  /** A hash of each script: what was compiled of another one is of no use. */
  readonly hash: Readonly<Record<string, string>>
  /** Node's own modules that each script begins with. */
  readonly builtins: Readonly<Record<string, readonly string[]>>
}

type Part = Readonly<Record<string, unknown>>

const WEEK_MS = 7 * 86_400_000
/** To open a file costs more than to compile so little. */
const LEAST_BYTES = 20_000
const MOST_BYTES = 100_000_000
const scripts = new Map<string, Readonly<Record<string, Part>>>()
const outside = createRequire(import.meta.url)
/** Flags of V8 for the work, each with its opposite. The launcher sets and names them; a thread has none. */
const workingFlags = (Reflect.get(globalThis, Symbol.for('croft.workingFlags')) ?? []) as readonly (readonly [
  working: string,
  otherwise: string,
])[]

/** What a part exports. It is loaded, with all parts of its script, when something asks for it first. */
export function part(name: string): Part {
  const script = PARTS.home[name]
  if (script === undefined) throw new Error(`croft has no part ${name}: the installation is not complete`)
  const parts = scripts.get(script) ?? load(script)
  return parts[name] as Part
}

/** In place of `import()`. */
export async function partSoon(name: string): Promise<unknown> {
  return name.startsWith('node:') ? process.getBuiltinModule(name) : part(name)
}

function load(script: string): Readonly<Record<string, Part>> {
  const builtins = PARTS.builtins[script]
  if (builtins !== undefined) loadBuiltins(builtins)
  const filename = join(import.meta.dirname, script)
  // The build writes nothing but ASCII, and V8 keeps that in half of the memory if it is told so.
  const text = readFileSync(filename, 'latin1')
  const kept = text.length < LEAST_BYTES ? undefined : keptCode(script)
  const found = kept?.read()
  // A module is strict by itself, a script only if it says so.
  const compiled = new Script(`(function(require,croftAt,croftPartSoon,module){"use strict";${text}\n})`, {
    filename,
    ...(found === undefined ? {} : { cachedData: found.code }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  const taken = compiled.cachedDataRejected === true ? undefined : found
  if (kept !== undefined && taken?.complete !== true)
    keepAtExit((code) => kept.write(code, taken !== undefined, () => compiled.createCachedData()))
  const given: { exports: Readonly<Record<string, Part>> } = { exports: {} }
  compiled.runInThisContext()(required, at, partSoon, given)
  const parts: Record<string, Part> = {}
  for (const [name, one] of Object.entries(given.exports)) parts[name] = quick(one)
  scripts.set(script, parts)
  return parts
}

const atExit: ((code: number) => void)[] = []

/** One listener for all scripts: Node warns of more than ten. */
function keepAtExit(keep: (code: number) => void): void {
  if (atExit.length === 0)
    process.once('exit', (code) => {
      for (const one of atExit) one(code)
    })
  atExit.push(keep)
}

/**
 * Node holds its own modules compiled, and V8 takes that only while its flags are those with which Node was built:
 * otherwise a plan spends 15 ms on compiling them. What we keep compiled ourselves is made and taken with the others.
 */
function loadBuiltins(names: readonly string[]): void {
  for (const [, otherwise] of workingFlags) setFlagsFromString(otherwise)
  for (const name of names) process.getBuiltinModule(name)
  for (const [working] of workingFlags) setFlagsFromString(working)
}

function required(name: string): unknown {
  return name.startsWith('./code-') ? part(name.slice(2)) : outside(name)
}

/** Bundled, every module still finds its tables as if it lay where it lies among the sources. */
function at(folder: string): { readonly dirname: string; readonly url: string } {
  const dirname = join(import.meta.dirname, folder)
  return { dirname, url: pathToFileURL(join(dirname, '_')).href }
}

/**
 * Behind each name of a part is a function that gives the value. Nothing is exported that changes later (the build refuses
 * `export let`), so each is asked once, here, and not in every call.
 */
function quick(one: Part): Part {
  const made: Record<string, unknown> = {}
  for (const name of Object.keys(one)) made[name] = one[name]
  return made
}

/**
 * What V8 compiled of a script, between runs of a verb. Node keeps what is compiled when a file is loaded; this is read
 * when the verb has ended, and has every function that it called. The first run of a verb calls others than later ones,
 * which find what the first left behind: so what it leaves is made once more, complete, by the second.
 */
function keptCode(script: string) {
  const directory = getCompileCacheDir()
  const verb = process.argv[2] ?? ''
  if (directory === undefined || !/^[a-z-]{1,40}$/.test(verb)) return undefined
  const ending = `-${verb}-${script}.code`
  const name = `${PARTS.hash[script]}${ending}`
  const first = `${name}.first`
  return {
    read(): { readonly code: Buffer; readonly complete: boolean } | undefined {
      const complete = readFresh(join(directory, name))
      const code = complete ?? readFresh(join(directory, first))
      return code === undefined ? undefined : { code, complete: complete !== undefined }
    },
    write(exitCode: number, complete: boolean, code: () => Uint8Array): void {
      // A verb that failed called little, and a thread calls something else.
      if (exitCode !== 0 && exitCode !== 2) return
      if (!process.getBuiltinModule('node:worker_threads').isMainThread) return
      const made = complete ? name : first
      try {
        writeWhole(join(directory, made), code())
        for (const old of readdirSync(directory))
          if (old !== made && (old.endsWith(ending) || old.endsWith(`${ending}.first`)))
            rmSync(join(directory, old), { force: true })
      } catch {
        // A disk that is full or may not be written costs time, nothing else.
      }
    },
  }
}

/** What was kept by a run that did less than others do is made again after a week. */
function readFresh(file: string): Buffer | undefined {
  const own = readOwnFile(file, MOST_BYTES)
  return own === undefined || own.mtimeMs < Date.now() - WEEK_MS ? undefined : own.bytes
}

/** V8 looks at little more than the length: half a file must never have this name, not even after a power cut. */
function writeWhole(file: string, bytes: Uint8Array): void {
  const half = `${file}.${process.pid}`
  try {
    const fd = openSync(half, 'wx', 0o600)
    try {
      writeFileSync(fd, bytes)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(half, file)
  } catch (error) {
    rmSync(half, { force: true })
    throw error
  }
}
