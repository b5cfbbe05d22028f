import { statSync } from 'node:fs'
import path from 'node:path'
import { shellWord } from '../lib/shell-quoted.ts'
import { wordSet } from '../lib/word-list.ts'
import type { Runtime, Terminal } from './runtime.ts'
import { CliError, type Options } from './verb.ts'

/** How each command takes its directory. Commands without one are absent. */
export type DirectoryOf = ReadonlyMap<string, 'argument' | 'option'>

/** Verbs whose standard output is prose for people, if no `--output` is given. */
const PROSE = wordSet('apply capacity cluster delete describe diff get health machine plan rehearse selftest why')

/**
 * Completes the commands that a sentence prints with the directory that the person named: without it they would look in
 * the present one, with another state. A command that names one already stays as it is. Pure.
 */
export function withDirectory(text: string, directory: string, verbs: DirectoryOf): string {
  const word = shellWord(directory)
  return text.replaceAll(
    /\bcroft ([a-z]+)(?![\w/-])( [a-z][a-z-]*)?/g,
    (whole, verb: string, next = '', at: number) => {
      const takes = verbs.get(verb)
      const own = /^[^;\n]{0,160}/.exec(text.slice(at + 6))?.[0].split(/\bcroft /)[0] ?? ''
      if (takes === undefined || /--(?:dir|help|context)\b|\b[A-Z]{3,}\b/.test(own) || own.includes(word)) return whole
      if (takes === 'option') {
        const start = OF_A_THING.has(verb) ? `croft ${verb}${next}` : `croft ${verb}`
        return `${start} --dir ${word}${whole.slice(start.length)}`
      }
      // Another word than these may be a saved plan.
      const isBare = /^ *(?:$|[.,:)]|--)/.test(own.slice(verb.length)) || GOES_ON.has(next.trim())
      return isBare ? `croft ${verb} ${word}${next}` : whole
    },
  )
}

/** Commands whose first word is a verb. */
const OF_A_THING = wordSet('cluster host image machine power')
/** Words that go on with a sentence after a command. */
const GOES_ON = wordSet(`
  again and does goes instead makes once or performs reports said says shows tells then to when where would
`)

/** Runs a verb so that the commands in its output name the directory. */
export async function namingDirectory<T>(
  runtime: Runtime,
  verb: string,
  options: Options,
  directory: string | undefined,
  verbs: DirectoryOf,
  run: (runtime: Runtime) => Promise<T>,
): Promise<T> {
  // A saved plan stands where a directory does.
  const isDirectory =
    directory !== undefined && statSync(path.resolve(runtime.cwd, directory), { throwIfNoEntry: false })?.isDirectory()
  if (directory === undefined || isDirectory !== true) return run(runtime)
  const complete = (terminal: Terminal): Terminal => ({
    ...terminal,
    write: (text) => terminal.write(withDirectory(text, directory, verbs)),
  })
  const isProse = PROSE.has(verb) && options.output === undefined && options.json !== true
  try {
    return await run({ ...runtime, err: complete(runtime.err), ...(isProse ? { out: complete(runtime.out) } : {}) })
  } catch (error) {
    if (error instanceof CliError) error.message = withDirectory(error.message, directory, verbs)
    throw error
  }
}
