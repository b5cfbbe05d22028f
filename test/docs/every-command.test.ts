import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { blocksOf, commandsOf, pages, textOf } from './printed.ts'
import { isTyped, stepOf } from './reader.ts'
import { LEFT, OWN_TESTS, TYPED_IN, WALKS } from './walks/all.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Returns commands that no walk types and no reason excuses. */
function untyped(page: string, whole: string): readonly string[] {
  if (page in OWN_TESTS || WALKS.some((walk) => walk.pages.includes(page))) return []
  const left = { ...LEFT[page], ...TYPED_IN[page] }
  return commandsOf(page, whole).flatMap(({ line, name }) => (name in left ? [] : [`${page}:${line}: ${name}`]))
}

/** Blocks in which a command would hide from the test above: those without a language, and output that is a command. */
function hidden(page: string, whole: string): readonly string[] {
  return blocksOf(page, whole).flatMap(({ line, language, text }) => {
    if (language === '') return [`${page}:${line}: a block without a language`]
    // A synopsis has brackets, and is no command that anybody could type.
    const command = language === 'text' && text.split('\n').find((one) => /^(croft|kubectl) [^[]*$/.test(one))
    return command ? [`${page}:${line}: a command in a block of text: ${command}`] : []
  })
}

test('every command that a page prints in a block is typed by a test, or left out with a reason', () => {
  const all = pages()
  assert.ok(all.flatMap((page) => commandsOf(page)).length > 250)
  assert.deepEqual(
    all.flatMap((page) => [...untyped(page, textOf(page)), ...hidden(page, textOf(page))]),
    [],
  )
})

test('what is left out is still printed, and the tests that do it in another way are there', () => {
  for (const [page, commands] of [...Object.entries(LEFT), ...Object.entries(TYPED_IN)]) {
    const printed = commandsOf(page).map(({ name }) => name)
    const gone = Object.keys(commands).filter((name) => !printed.includes(name))
    assert.deepEqual(gone, [], `${page} does not print these any more`)
  }
  const reasons = [
    ...Object.values(LEFT).flatMap((commands) => Object.values(commands)),
    ...WALKS.flatMap(({ steps }) => Object.values(steps).flatMap(({ left }) => left ?? [])),
    ...Object.values(OWN_TESTS),
  ]
  const named = reasons.flatMap((reason) => [...reason.matchAll(/\b(?:test|src)\/[\w./-]+[\w]/g)].map(([path]) => path))
  assert.ok(named.length > 2)
  for (const path of new Set(named)) assert.ok(existsSync(join(ROOT, path)), path)
})

test('what a test types that is no walk stands in it', () => {
  const all = [
    ...Object.values(TYPED_IN).flatMap((commands) => Object.values(commands)),
    ...WALKS.flatMap(({ steps }) => Object.values(steps).flatMap(({ typedIn }) => typedIn ?? [])),
  ]
  assert.ok(all.length > 8)
  for (const { test: file, as } of all) assert.ok(textOf(file).includes(as), `${file}: ${as}`)
})

test('what is typed on another page is typed there', () => {
  const elsewhere = WALKS.flatMap(({ steps }) =>
    Object.entries(steps).flatMap(([name, { typedOn }]) => (typedOn === undefined ? [] : [{ name, page: typedOn }])),
  )
  assert.ok(elsewhere.length > 0)
  for (const { name, page } of elsewhere) {
    const command = commandsOf(page).find((one) => one.name === name)
    const walk = WALKS.find(({ pages: own }) => own.includes(page))
    assert.ok(command !== undefined && walk !== undefined, `${page} prints ${name}`)
    assert.ok(isTyped(stepOf(walk, command)), `${page}: ${name}`)
  }
})

/** What is wrong with a command that starts a script of this repository, without starting it. */
function wrongScript(command: string): string | undefined {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
  const [, name = 'test', words = ''] = /\bnpm (?:run )?([\w:]+)(?: -- (.*))?$/.exec(command) ?? []
  const script = scripts[name]
  if (script === undefined) return `package.json has no script ${name}`
  const files = [...script.matchAll(/node bin\/run (\S+)/g)].map(([, path = '']) => path)
  const folders = files.flatMap((path) => globSync(`${dirname(path)}/**/*.ts`, { cwd: ROOT }))
  const code = folders.map(textOf).join('\n')
  const option = [...words.matchAll(/--([\w-]+)/g)].find(
    ([, word = '']) => !new RegExp(`(?:${word}: \\{|'--${word}')`).test(code),
  )
  return option && `${name} has no ${option[0]}`
}

test('scripts that no test starts are there, with the options that pages print', () => {
  const all = Object.values(LEFT).flatMap((commands) => Object.keys(commands))
  const started = all.filter((name) => /\bnpm (?:run|test)\b/.test(name))
  assert.ok(started.length > 10)
  for (const command of started) assert.equal(wrongScript(command), undefined, command)
  assert.equal(wrongScript('npm run benhc'), 'package.json has no script benhc')
  assert.equal(wrongScript('npm run bench -- --seizes 1'), 'bench has no --seizes')
  for (const path of ['node_modules/.bin/biome', 'src/plan', 'src/store', 'scripts/test.ts'])
    assert.ok(existsSync(join(ROOT, path)), path)
})

test('a command without a test, a block without a language and a command among output are noticed', () => {
  const page = 'docs/new.md'
  const fence = '```'
  assert.deepEqual(untyped(page, `${fence}sh\ncroft plan infra/   # look\n${fence}\n`), [
    'docs/new.md:2: croft plan infra/',
  ])
  assert.deepEqual(hidden(page, `${fence}\ncroft plan\n${fence}\n`), ['docs/new.md:2: a block without a language'])
  assert.match(hidden(page, `${fence}text\ncroft plan infra/\n${fence}\n`).join(), /a command in a block of text/)
  assert.deepEqual(hidden(page, `${fence}text\ncroft import FORMAT [--host NAME]\n${fence}\n`), [])
})

test('commands are read as a shell reads them', () => {
  const text = "```sh\na \\\n  b   # c\ncat > x <<'EOF'\nd # e\nEOF\n\n# only a word\nf 'g#h'\n```\n"
  assert.deepEqual(
    commandsOf('x.md', text).map(({ line, name }) => [line, name]),
    [
      [2, 'a \\\n  b'],
      [4, "cat > x <<'EOF'\nd # e\nEOF"],
      [9, "f 'g#h'"],
    ],
  )
})
