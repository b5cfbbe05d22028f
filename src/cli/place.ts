import { statSync } from 'node:fs'
import path from 'node:path'
import { wordSet } from '../lib/word-list.ts'
import type { Environment } from './runtime.ts'
import { UsageError } from './verb.ts'

/** Verbs with a kind or a resource first. After a resource, a plain word that is a directory is the directory. */
const KIND_FIRST = wordSet('get describe delete leave')

/** Verbs whose words are kinds and names, never paths: a last word in the form of a directory is one. */
export const NAMES_ONLY = wordSet('get describe events why delete leave pods selftest console power image')

/**
 * Finds the directory by one rule for all verbs: an argument, else `--dir`, else CROFT_DIR, else the current directory.
 * Returns the other words, with the directory in front if the verb takes it there.
 */
export function placed(
  verb: { readonly name: string; readonly takesDirectory: boolean; readonly most: number },
  words: readonly string[],
  option: string | undefined,
  env: Environment,
  cwd: string,
  isKind: (word: string) => boolean = () => true,
): { readonly words: readonly string[]; readonly dir: string } {
  const fallback = option ?? (env.CROFT_DIR === undefined || env.CROFT_DIR === '' ? '.' : env.CROFT_DIR)
  const given = verb.takesDirectory
    ? words[0]
    : NAMES_ONLY.has(verb.name)
      ? directoryIn(words, cwd, followsResource(verb.name, words, isKind) ? 1 : verb.most)
      : undefined
  if (given !== undefined && option !== undefined && path.resolve(cwd, given) !== path.resolve(cwd, option))
    throw new UsageError(`Both ${given} and --dir ${option} are given. Name one directory.`)
  const dir = given ?? fallback
  if (verb.takesDirectory) return { words: [dir, ...words.slice(1)], dir }
  return { words: given === undefined ? words : words.slice(0, -1), dir }
}

/** Reports whether the kinds must be known to place these words. */
export function needsKinds(verb: string, words: readonly string[]): boolean {
  return KIND_FIRST.has(verb) && words.length === 2
}

/** Reports whether a resource precedes the last word, which may then be the directory: `describe web-1 infra`. */
function followsResource(verb: string, words: readonly string[], isKind: (word: string) => boolean): boolean {
  const [first = ''] = words
  return needsKinds(verb, words) && (first.includes('/') || !isKind(first))
}

/**
 * Returns the directory among the words: `infra/`, `.`, `../home`, `/srv/infra`, which no kind or name looks like. If
 * the verb takes no further word, plain `infra` may be one too.
 */
function directoryIn(words: readonly string[], cwd: string, most: number): string | undefined {
  const last = words.at(-1)
  if (last === undefined || (words.length <= most && !/^\.{0,2}\/|^\.{1,2}$|\/$/.test(last))) return undefined
  return statSync(path.resolve(cwd, last), { throwIfNoEntry: false })?.isDirectory() === true ? last : undefined
}
