import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { LONG_FUNCTIONS, MOST_LINES, MOST_VAGUE_WORDS, VAGUE_WORDS } from './ratchet.ts'

/* The code does not get worse unnoticed: lines, long functions and vague comments are held at what was reached. */

const ROOT = dirname(import.meta.dirname)
const LONG_LINES = 120

interface LongFunction {
  readonly name: string
  readonly lines: number
}

/** The folder of MOST_LINES that a file counts to. Tests and what they share are one folder, wherever they lie. */
function folderOf(path: string): string {
  if (/\.test\.ts$|(?:^|\/)testing\/|^test\//.test(path)) return 'tests'
  const [top = '', area = ''] = path.split('/')
  return top === 'src' && !area.endsWith('.ts') ? `src/${area}` : top
}

/** Functions over LONG_LINES. The formatter puts the last brace of a function where its first line begins. */
function longFunctions(text: string): readonly LongFunction[] {
  const lines = text.split('\n')
  return lines.flatMap((line, start) => {
    const [, indent, name] =
      /^( *)(?:export )?(?:default )?(?:async )?function\*? (\w+)/.exec(line) ??
      /^( *)(?:export )?const (\w+)(?:: [^=]+)? = (?:async )?\(.*(?:=> \{|\()$/.exec(line) ??
      []
    if (indent === undefined || name === undefined) return []
    const end = lines.findIndex((one, at) => at > start && one === `${indent}}`)
    const length = end - start + 1
    return length > LONG_LINES ? [{ name, lines: length }] : []
  })
}

const files = globSync('{src,sim,web,scripts,test}/**/*.{ts,tsx}', { cwd: ROOT })
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')

test('a long function is found by its first and its last line', () => {
  const body = '  work()\n'.repeat(LONG_LINES)
  const found = longFunctions(`function short() {\n  work()\n}\n\nexport async function long() {\n${body}}\n`)
  assert.deepEqual(found, [{ name: 'long', lines: LONG_LINES + 2 }])
})

test('no folder has more lines than were reached', () => {
  const counted = new Map<string, number>()
  for (const path of files) {
    const folder = folderOf(path)
    counted.set(folder, (counted.get(folder) ?? 0) + textOf(path).split('\n').length - 1)
  }
  const grown = [...counted].filter(([folder, lines]) => lines > (MOST_LINES[folder] ?? 0))
  const said = grown.map(([folder, lines]) => `${folder}: ${lines} lines, ${MOST_LINES[folder] ?? 0} are allowed`)
  assert.deepEqual(
    said,
    [],
    'remove what nobody needs, or raise the number in test/ratchet.ts and say why in the commit',
  )
  const gone = Object.keys(MOST_LINES).filter((folder) => !counted.has(folder))
  assert.deepEqual(gone, [], 'these folders of test/ratchet.ts have no files')
})

test(`no function has more than ${LONG_LINES} lines but those that had them before`, () => {
  const long = files
    .filter((path) => folderOf(path) !== 'tests')
    .flatMap((path) => longFunctions(textOf(path)).map(({ name }) => `${path} ${name}`))
  const grown = long.filter((name) => !LONG_FUNCTIONS.includes(name))
  assert.deepEqual(grown, [], 'split the function; test/ratchet.ts lists those that were too long already')
})

test('comments name their subjects', () => {
  const comments = files.flatMap((path) => textOf(path).match(/^\s*(?:\/\/|\*|\/\*).*/gm) ?? [])
  const vague = new RegExp(`\\b(?:${VAGUE_WORDS.join('|')})\\b`, 'gi')
  const words = comments.reduce((sum, comment) => sum + comment.split(/\s+/).length, 0)
  const found = comments.flatMap((comment) => comment.match(vague)?.map((word) => `${word}: ${comment.trim()}`) ?? [])
  const rate = (1000 * found.length) / words
  assert.ok(rate <= MOST_VAGUE_WORDS, `${rate.toFixed(1)} in 1,000 words, such as:\n${found.slice(0, 20).join('\n')}`)
})
