import { statSync } from 'node:fs'
import path from 'node:path'
import { cleanText } from '../../lib/clean-text.ts'
import {
  CONTEXT_NAME,
  type Contexts,
  chosenContext,
  type EstateContext,
  readContexts,
  writeContexts,
} from '../contexts.ts'
import { note, styleOf, writeData } from '../output.ts'
import { API_VERSION } from '../render/plan-json.ts'
import { renderTable } from '../render/table.ts'
import type { Runtime } from '../runtime.ts'
import { CliError, EXIT, UsageError, type Verb, type VerbResult } from '../verb.ts'

/** Names for estates: list them, add or remove one, say which is in use. */
export const run: Verb = async (runtime, [what = 'list', name, place], options) => {
  const known = readContexts(runtime.env)
  switch (what) {
    case 'list':
      return list(runtime, known, options.output)
    case 'add':
      return add(runtime, known, name, place)
    case 'use':
      return use(runtime, known, name)
    case 'remove':
      return remove(runtime, known, name)
    default:
      throw new UsageError(`There is no context ${cleanText(what, 100)}. Use list, add, use or remove.`)
  }
}

async function list(runtime: Runtime, { current, contexts }: Contexts, output: unknown): Promise<VerbResult> {
  const rows = [...contexts].map(([name, one]) => ({ name, ...one, current: name === current }))
  if (await writeData(runtime, output, { apiVersion: API_VERSION, kind: 'Contexts', contexts: rows })) return EXIT.ok
  if (rows.length === 0) {
    note(runtime, 'There are no contexts. Add one: croft context add home infra/')
    return EXIT.ok
  }
  const titles = ['CURRENT', 'NAME', 'DIRECTORY OR SERVER'].map((title) => ({ title }))
  const lines = rows.map((row) => [row.current ? '*' : '', row.name, 'dir' in row ? row.dir : row.server])
  runtime.out.write(renderTable(titles, lines, styleOf(runtime, runtime.out)))
  return EXIT.ok
}

async function add(
  runtime: Runtime,
  known: Contexts,
  name: string | undefined,
  place: string | undefined,
): Promise<VerbResult> {
  if (name === undefined || place === undefined)
    throw new UsageError('Give the context a name and a place: croft context add home infra/')
  if (!CONTEXT_NAME.test(name))
    throw new UsageError(`${cleanText(name, 100)} is not a name for a context. Use letters, digits, dots and dashes.`)
  const context = contextAt(runtime, place)
  const contexts = new Map([...known.contexts, [name, context]])
  await writeContexts(runtime.env, { ...known, contexts })
  note(runtime, `${name} is ${placeOf(context)}. Use it: croft context use ${name}`)
  return EXIT.ok
}

function contextAt({ cwd }: Runtime, place: string): EstateContext {
  if (/^[a-z]+:\/\//i.test(place)) {
    const url = URL.parse(place)
    const local = url !== null && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
    if (url === null || !(url.protocol === 'https:' || (url.protocol === 'http:' && local)))
      throw new UsageError(
        `${cleanText(place, 200)} is not an address of a controller. Write https://…, or http:// on this computer.`,
      )
    if (url.username !== '' || url.password !== '')
      throw new UsageError('The address holds a user or a password. Leave it out: croft ask reads CROFT_TOKEN.')
    return { server: url.origin }
  }
  const dir = path.resolve(cwd, place)
  if (statSync(dir, { throwIfNoEntry: false }) === undefined)
    throw new CliError(`${dir} is not there. Create it with croft init ${cleanText(place, 200)}, or correct the path.`)
  return { dir }
}

async function use(runtime: Runtime, known: Contexts, name: string | undefined): Promise<VerbResult> {
  if (name === undefined) throw new UsageError('Name the context to use: croft context use home')
  const context = chosenContext(known, name, {})?.context
  await writeContexts(runtime.env, { ...known, current: name })
  if (context !== undefined) note(runtime, `${name} is in use: ${placeOf(context)}`)
  return EXIT.ok
}

async function remove(runtime: Runtime, known: Contexts, name: string | undefined): Promise<VerbResult> {
  if (name === undefined) throw new UsageError('Name the context to remove: croft context remove home')
  chosenContext(known, name, {})
  const contexts = new Map([...known.contexts].filter(([one]) => one !== name))
  const { current } = known
  await writeContexts(runtime.env, { contexts, ...(current === undefined || current === name ? {} : { current }) })
  note(runtime, `${name} is removed. What it named stays as it is.`)
  return EXIT.ok
}

function placeOf(context: EstateContext): string {
  return 'dir' in context ? context.dir : `the controller at ${context.server}`
}
