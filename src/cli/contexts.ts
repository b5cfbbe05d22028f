import { readFileSync } from 'node:fs'
import path from 'node:path'
import { replaceFile } from '../lib/atomic-file.ts'
import { cleanText } from '../lib/clean-text.ts'
import { isRecord } from '../lib/is-record.ts'
import type { Environment } from './runtime.ts'
import { CliError, UsageError } from './verb.ts'

/** A name for an estate: a directory on this computer, or the address of a controller. */
export type EstateContext = { readonly dir: string } | { readonly server: string }

export interface Contexts {
  readonly current?: string
  readonly contexts: ReadonlyMap<string, EstateContext>
}

export const CONTEXT_NAME = /^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$/i

/** Returns the file with the contexts of all of a person's estates. */
export function contextsFile(env: Environment): string {
  const home = env.HOME === undefined || env.HOME === '' ? undefined : path.join(env.HOME, '.config')
  const config = env.XDG_CONFIG_HOME === undefined || env.XDG_CONFIG_HOME === '' ? home : env.XDG_CONFIG_HOME
  if (config === undefined)
    throw new CliError('Neither XDG_CONFIG_HOME nor HOME is set. Set one: contexts are kept there.')
  return path.join(config, 'croft', 'contexts.json')
}

/** ENOTDIR too: a part of the path is a file, so no contexts can be below it. */
const NOT_THERE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR'])

export function readContexts(env: Environment): Contexts {
  const none: Contexts = { contexts: new Map() }
  if ((env.HOME ?? '') === '' && (env.XDG_CONFIG_HOME ?? '') === '') return none
  const file = contextsFile(env)
  const damaged = (why: string) => new CliError(`${file} cannot be read: ${why}. Correct it, or remove it.`)
  let read: unknown
  try {
    read = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (NOT_THERE.has(code)) return none
    throw damaged(error instanceof Error ? cleanText(error.message, 200) : 'it is not JSON')
  }
  if (!isRecord(read) || !isRecord(read.contexts)) throw damaged('it has no contexts')
  const contexts = new Map<string, EstateContext>()
  for (const [name, one] of Object.entries(read.contexts)) {
    if (isRecord(one) && typeof one.dir === 'string') contexts.set(name, { dir: one.dir })
    else if (isRecord(one) && typeof one.server === 'string') contexts.set(name, { server: one.server })
    else throw damaged(`${cleanText(name, 100)} has neither dir nor server`)
  }
  const current = typeof read.current === 'string' && contexts.has(read.current) ? { current: read.current } : {}
  return { ...current, contexts }
}

/** Writes atomically. */
export async function writeContexts(env: Environment, { current, contexts }: Contexts): Promise<void> {
  const file = contextsFile(env)
  const text = JSON.stringify(
    { ...(current === undefined ? {} : { current }), contexts: Object.fromEntries(contexts) },
    undefined,
    2,
  )
  try {
    await replaceFile(file, `${text}\n`)
  } catch (error) {
    throw new CliError(`${file} cannot be written: ${error instanceof Error ? error.message : ''}. Check who owns it.`)
  }
}

/** Returns the context of a command: the given one, else CROFT_CONTEXT, else the current one. Pure. */
export function chosenContext(
  { current, contexts }: Contexts,
  asked: string | undefined,
  env: Environment,
): { readonly name: string; readonly context: EstateContext; readonly asked: boolean } | undefined {
  const named = asked ?? (env.CROFT_CONTEXT === '' ? undefined : env.CROFT_CONTEXT)
  const name = named ?? current
  if (name === undefined) return undefined
  const context = contexts.get(name)
  if (context !== undefined) return { name, context, asked: named !== undefined }
  const known = contexts.size === 0 ? 'There are none yet' : `There are: ${[...contexts.keys()].join(', ')}`
  throw new UsageError(
    `There is no context ${cleanText(name, 100)}. ${known}. Add it with croft context add ${cleanText(name, 100)} DIR.`,
  )
}

/** The directory of a command by its context; undefined: it has none, and the usual rule applies. Pure. */
export function directoryByContext(
  verb: string,
  contexts: Contexts,
  given: { readonly context: string | undefined; readonly dir: string | undefined },
  env: Environment,
): { readonly name: string; readonly dir: string } | undefined {
  const chosen = chosenContext(contexts, given.context, env)
  if (chosen === undefined) return undefined
  const { name, context, asked } = chosen
  const directory = given.dir ?? (asked || env.CROFT_DIR === '' ? undefined : env.CROFT_DIR)
  if (given.context !== undefined && given.dir !== undefined)
    throw new UsageError(`Both --dir ${given.dir} and --context ${given.context} are given. Name one.`)
  if (directory !== undefined) return undefined
  if ('dir' in context) return { name, dir: context.dir }
  // The current context may be a server, while the command is about its own directory.
  if (!asked) return undefined
  throw new UsageError(
    `The context ${name} is the controller at ${context.server}, and croft ${verb} needs a directory. Name one with --dir, or ask the controller with croft ask.`,
  )
}
