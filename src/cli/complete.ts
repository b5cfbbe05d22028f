import type { Command, Option } from 'commander'
import { openExisting, realDirectory, stateFile } from '../state/state-file.ts'
import { SHELLS } from './completion-script.ts'
import { closing } from './load.ts'
import { clean } from './render/text.ts'
import { rowsOf } from './rows.ts'
import type { Runtime } from './runtime.ts'
import { findKind } from './select.ts'
import { EXIT, type ExitCode } from './verb.ts'

interface Suggestion {
  readonly word: string
  readonly about?: string
}

/** Tells the shell to complete directories itself. */
const FILES: readonly Suggestion[] = [{ word: ':files' }]

/** Answers what could come next, one a line. Never fails: a broken manifest must not break a person's prompt. */
export async function complete(runtime: Runtime, program: Command, words: readonly string[]): Promise<ExitCode> {
  try {
    const last = words.at(-1) ?? ''
    for (const { word, about } of await suggestions(runtime, program, words.slice(0, -1), last)) {
      if (word !== ':files' && !word.startsWith(last)) continue
      runtime.out.write(`${clean(word, 200)}${about === undefined ? '' : `\t${clean(about, 100)}`}\n`)
    }
  } catch {
    // No suggestions.
  }
  return EXIT.ok
}

async function suggestions(
  runtime: Runtime,
  program: Command,
  before: readonly string[],
  last: string,
): Promise<readonly Suggestion[]> {
  const command = program.commands.find((one) => one.name() === before[0])
  if (command === undefined) return before.length > 0 ? [] : verbsOf(program)
  const option = valueOption(command, before.at(-1))
  if (option !== undefined) {
    if (option.argChoices !== undefined) return option.argChoices.map((word) => ({ word }))
    return ['--dir', '--state'].includes(option.long ?? '') ? FILES : []
  }
  if (last.startsWith('-')) {
    return command.options
      .filter((one) => !one.hidden)
      .map((one) => ({ word: one.long ?? one.flags, about: one.description }))
  }
  const operands = operandsOf(command, before.slice(1))
  switch (command.name()) {
    case 'validate':
    case 'plan':
    case 'apply':
    case 'doctor':
      return operands.length === 0 ? FILES : []
    case 'completion':
      return operands.length === 0 ? SHELLS.map((word) => ({ word })) : []
    case 'schema':
    case 'explain':
      return operands.length === 0 ? kindsOf(runtime) : []
    case 'get':
    case 'describe':
    case 'delete':
    case 'events':
      return resourcesOf(runtime, operands, directoryOf(before), last)
    default:
      return []
  }
}

function verbsOf(program: Command): readonly Suggestion[] {
  return program
    .createHelp()
    .visibleCommands(program)
    .map((one) => ({ word: one.name(), about: one.description() }))
}

async function kindsOf(runtime: Runtime): Promise<readonly Suggestion[]> {
  return (await runtime.kinds()).map((kind) => ({ word: kind.plural.toLowerCase(), about: kind.summary }))
}

async function resourcesOf(
  runtime: Runtime,
  operands: readonly string[],
  directory: string,
  last: string,
): Promise<readonly Suggestion[]> {
  const [asked] = operands
  if (asked === undefined && !last.includes('/')) return kindsOf(runtime)
  if (operands.length > 1) return []
  const kind = findKind(await runtime.kinds(), asked ?? last.slice(0, last.indexOf('/')))
  const real = realDirectory(runtime, directory)
  const loaded = await runtime.load(real)
  await using store = closing(await openExisting(runtime, stateFile(runtime.env, real, undefined)))
  const rows = rowsOf(loaded, await store.it.records()).filter((row) => row.kind === kind)
  const prefix = asked === undefined ? last.slice(0, last.indexOf('/') + 1) : ''
  return rows.map((row) => ({ word: `${prefix}${row.name}`, about: row.record?.status ?? 'declared' }))
}

function valueOption(command: Command, word: string | undefined): Option | undefined {
  if (word === undefined) return undefined
  return command.options.find((one) => (one.long === word || one.short === word) && (one.required || one.optional))
}

function operandsOf(command: Command, words: readonly string[]): readonly string[] {
  return words.filter((word, index) => !word.startsWith('-') && valueOption(command, words[index - 1]) === undefined)
}

function directoryOf(words: readonly string[]): string {
  const at = words.indexOf('--dir')
  return at === -1 ? '.' : (words[at + 1] ?? '.')
}
