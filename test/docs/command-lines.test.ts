import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createProgram } from '../../src/cli/program.ts'
import { fakeRuntime } from '../../src/cli/testing/fake-runtime.ts'

const ROOT = join(import.meta.dirname, '../..')
const program = createProgram(fakeRuntime({}), () => {})

/** What is wrong with a command line that a page prints; undefined where a reader can type it. */
function wrongIn(line: string): string | undefined {
  const words = wordsOf(line)
  const [, name = ''] = words
  // `croft` by itself, `croft VERB` and `croft --version` are no verbs; the parser brings `help` by itself.
  if (name === '' || name === 'help' || !/^[a-z]/.test(name)) return undefined
  const verb = program.commands.find((one) => one.name() === name || one.aliases().includes(name))
  if (verb === undefined) return `there is no croft ${name}`
  const end = words.indexOf('--')
  for (const word of words.slice(2, end === -1 ? undefined : end)) {
    const option = /^--?[a-z][\w-]*/i.exec(word)?.[0]
    if (option === undefined || option === '--help' || option === '-h') continue
    if (!verb.options.some(({ long, short }) => long === option || short === option))
      return `croft ${name} has no ${option}`
  }
  return undefined
}

/** Up to where the shell takes over: a pipe, a redirection, another command, a comment. */
function wordsOf(line: string): readonly string[] {
  const own = line.replace(/\s+#.*$/, '').split(/\s*(?:\||&&|;|>|<<)\s*/)[0] ?? ''
  return own.trim().match(/'[^']*'|"[^"]*"|\S+/g) ?? []
}

/** Returns the lines of all code blocks, and the text between backticks in sentences. */
function linesOf(text: string): readonly string[] {
  let inBlock = false
  const written = text.split('\n').flatMap((line) => {
    if (line.trimStart().startsWith('```')) {
      inBlock = !inBlock
      return []
    }
    return inBlock ? [line] : [...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
  })
  return written.flatMap((line) => {
    const [, command] = /^\s*(?:\$ )?(?:[A-Z_]+=\S+ )*(croft(?: .*)?)$/.exec(line) ?? []
    return command === undefined ? [] : [command]
  })
}

test('every command that a page prints exists, with its options', () => {
  const pages = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'deploy/**/*.md'], { cwd: ROOT })
  const all = pages.flatMap((page) => linesOf(readFileSync(join(ROOT, page), 'utf8')).map((line) => ({ page, line })))
  assert.ok(all.length > 300, `only ${all.length} commands were found`)
  const wrong = all.flatMap(({ page, line }) => {
    const why = wrongIn(line)
    return why === undefined ? [] : [`${page}: ${line}: ${why}`]
  })
  assert.deepEqual(wrong, [])
})

test('a verb and an option that do not exist are found', () => {
  assert.equal(wrongIn('croft paln infra/'), 'there is no croft paln')
  assert.equal(wrongIn('croft plan infra/ --ouput json | head'), 'croft plan has no --ouput')
  assert.equal(wrongIn('croft machine exec web -- ls --all'), undefined)
})
