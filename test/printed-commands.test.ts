import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type Command, CommanderError } from 'commander'
import { createProgram } from '../src/cli/program.ts'
import { fakeRuntime } from '../src/cli/testing/fake-runtime.ts'

/** Replaces a value that the message fills in: the name of a resource, a path, an id. */
const VALUE = 'X1'

/** A command inside a message, and where the message is. */
interface Printed {
  readonly place: string
  readonly sentence: string
  /** Words after `croft`. */
  readonly words: readonly string[]
  /** The message tells its reader to run it. */
  readonly isOrder: boolean
}

const ROOT = join(import.meta.dirname, '..')
const VERBS = verbs()

/** Every text of the program in which `croft` is followed by a word. */
function sentences(): readonly { readonly place: string; readonly text: string }[] {
  return globSync('src/**/*.ts', { cwd: ROOT })
    .filter((file) => !/\.test\.ts$|\/testing\//.test(file))
    .toSorted()
    .flatMap((file) => textsOf(file, readFileSync(join(ROOT, file), 'utf8')))
}

function textsOf(file: string, code: string): readonly { readonly place: string; readonly text: string }[] {
  if (!/croft [a-z$]/.test(code)) return []
  const found: { place: string; text: string }[] = []
  for (const { text, at } of literalsIn(code))
    if (/\bcroft [a-z$]/.test(text)) found.push({ place: `${file}:${code.slice(0, at).split('\n').length}`, text })
  return found
}

const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"|(?<=[(=,:[!&|?{};\n>]\s*|return )\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/|[`{}]/gy

/** The texts of string literals and templates, with a value where a template fills one in. */
function literalsIn(code: string): readonly { readonly text: string; readonly at: number }[] {
  const found: { text: string; at: number }[] = []
  const read = (from: number, end: string): number => {
    let at = from
    while (at < code.length) {
      TOKEN.lastIndex = at
      const [token] = TOKEN.exec(code) ?? []
      if (token === undefined) at++
      else if (token === end) return at + 1
      else if (token === '{') at = read(at + 1, '}')
      else if (token === '`') at = template(at)
      else {
        if (/^['"]/.test(token)) found.push({ text: unescaped(token.slice(1, -1)), at })
        at += token.length
      }
    }
    return at
  }
  const template = (from: number): number => {
    let text = ''
    let at = from + 1
    while (at < code.length && code[at] !== '`') {
      if (code.startsWith('${', at)) {
        text += VALUE
        at = read(at + 2, '}')
      } else {
        const length = code[at] === '\\' ? 2 : 1
        text += unescaped(code.slice(at, at + length))
        at += length
      }
    }
    found.push({ text, at: from })
    return at + 1
  }
  read(0, '')
  return found
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, one: string) => (one === 'n' ? '\n' : one))
}

/** Takes the commands out of a sentence: flags, values and names belong to them, the next plain word is prose. */
function commandsIn(place: string, sentence: string): readonly Printed[] {
  // An example of the help is a command line from its first to its last word.
  const [, example] =
    /^croft (.*)$/.exec(place.startsWith('src/cli/help.ts') ? (sentence.split(/ [>-]{1,2} /)[0] ?? '') : '') ?? []
  if (example !== undefined) return [{ place, sentence, words: example.split(' '), isOrder: true }]
  return [...sentence.matchAll(/(\w+ )?(?<![\w./-])croft ([a-z][a-z-]*)([^\n]*)/g)].flatMap(
    ([, before = '', verb, rest = '']) => {
      const isOrder = /^(?:run|Run|try) $/.test(before)
      const command = VERBS.get(verb ?? '')
      if (command === undefined)
        return isOrder && !PREPOSITION.test(verb ?? '') ? [{ place, sentence, words: [verb ?? ''], isOrder }] : []
      return [{ place, sentence, words: [verb ?? '', ...wordsOf(rest, command)], isOrder }, ...commandsIn(place, rest)]
    },
  )
}

/** `run croft where it is installed` */
const PREPOSITION = /^(?:where|from|as|on|with|again)$/

function wordsOf(rest: string, command: Command): readonly string[] {
  if (!rest.startsWith(' ')) return []
  const words: string[] = []
  const operations = operationsOf(command)
  let takesValue = false
  for (const token of rest.split(/\s+/).slice(1)) {
    const word = token.replace(/^["'`(]+/, '').replace(/["'`).,;:?]+$/, '')
    const isOperation = words.length === 0 && operations.includes(word)
    const isName = word !== '' && !/^[a-z][a-z'-]*$/.test(word) && !/^[(—–=]|^\W+$/.test(token)
    if (!takesValue && !isOperation && !isName) break
    // A flag whose value is called by a word: `--from a server that runs`.
    words.push(word)
    const option = command.options.find(({ long }) => long === word)
    takesValue = option !== undefined && (option.required || option.optional)
    if (/[.,;:?)]$/.test(token) && !takesValue) break
  }
  return takesValue ? [...words, VALUE] : words
}

/** `off, on, status, hold or release: power …` and `build, verify or plan an image`: what the first word may be. */
function operationsOf(command: Command): readonly string[] {
  const [first] = command.registeredArguments
  if (first?.name() !== 'what') return []
  const list = /^[a-z, -]+? or [a-z-]+|^[a-z, -]+(?=:)/.exec(command.description())?.[0] ?? ''
  return list.split(/, | or /)
}

function verbs(): ReadonlyMap<string, Command> {
  const program = createProgram(fakeRuntime(), () => {})
  return new Map(program.commands.flatMap((one) => [one.name(), ...one.aliases()].map((name) => [name, one] as const)))
}

/** What the real program says of a command line; undefined: it would run it. */
async function objection(words: readonly string[]): Promise<string | undefined> {
  const program = createProgram(fakeRuntime(), () => {})
  program.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} })
  for (const command of program.commands)
    command
      .exitOverride()
      .configureOutput({ writeErr: () => {}, writeOut: () => {} })
      .action(() => {})
  try {
    await program.parseAsync([...words], { from: 'user' })
    return undefined
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? undefined : error.message
  }
}

/** How many words come after the operation at least: without them the command asks back. */
const LEAST: Readonly<Record<string, number>> = {
  'cluster replace': 2,
  'cluster remove-member': 2,
  'cluster forget': 2,
  'cluster rotate': 2,
  'machine exec': 1,
  'ask approve': 1,
  'ask adopt': 1,
  'ask revert': 1,
  'ask resume': 1,
  'ask suspend': 1,
  'ask plan': 1,
}

const all = sentences().flatMap(({ place, text }) => commandsIn(place, text))

describe('a command that croft prints', () => {
  test('is found where messages name one', () => {
    assert.ok(all.length > 200, `${all.length}`)
    if (process.env.CROFT_TABLE !== undefined)
      console.log(all.map(({ place, words }) => `${place}\tcroft ${words.join(' ')}`).join('\n'))
  })

  test('exists with these flags', async () => {
    const wrong: string[] = []
    for (const { place, words, isOrder } of all) {
      const [verb = ''] = words
      // `croft delete` as the name of a command is no command line.
      if (words.length === 1 && VERBS.has(verb)) continue
      const said = await objection(words)
      // `croft host enroll does it` names a command; a reader who must run it is told its arguments.
      if (said !== undefined && (isOrder || !said.includes('missing required argument')))
        wrong.push(`${place}: croft ${words.join(' ')}: ${said}`)
    }
    assert.deepEqual(wrong, [])
  })

  test('says everything that it needs', () => {
    const short = all.filter(({ isOrder, words: [verb = '', what = '', ...rest] }) => {
      const command = VERBS.get(verb)
      if (!isOrder || command === undefined || what === '' || operationsOf(command).length === 0) return false
      const names = rest.filter((word) => !word.startsWith('-'))
      const needed = LEAST[`${verb} ${what}`] ?? (verb === 'cluster' ? 1 : 0)
      return names.length < needed
    })
    assert.deepEqual(
      short.map(({ place, words }) => `${place}: croft ${words.join(' ')}`),
      [],
    )
  })

  test('is no pattern that its reader must fill in', () => {
    const patterns = all.filter(({ isOrder, words }) => isOrder && words.some((word) => /^[A-Z]+\/[A-Z]+$/.test(word)))
    assert.deepEqual(
      patterns.map(({ place, words }) => `${place}: croft ${words.join(' ')}`),
      [],
    )
  })
})
