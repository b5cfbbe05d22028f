import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXAMPLES, GROUP_OF } from './help.ts'
import { writeData } from './output.ts'
import { createProgram } from './program.ts'
import { fakeRuntime } from './testing/fake-runtime.ts'

const program = createProgram(fakeRuntime({}), () => {})
const verbs = program.commands.filter((one) => !one.name().startsWith('__'))

test('every verb has its place in the help and an example, and nothing else has', () => {
  const names = verbs.map((one) => one.name()).sort()
  assert.deepEqual(
    Object.keys(GROUP_OF)
      .filter((name) => name !== 'help')
      .sort(),
    names,
  )
  assert.deepEqual(Object.keys(EXAMPLES).sort(), names)
  const help = program.helpInformation()
  assert.ok(
    help.indexOf('Getting started:') < help.indexOf('Change:') && help.indexOf('Change:') < help.indexOf('Inspect:'),
  )
  assert.doesNotMatch(help, /^Commands:/m, 'a group of its own for what nobody sorted')
})

test('the examples are command lines that exist: their verbs, words and options', () => {
  for (const [name, lines] of Object.entries(EXAMPLES)) {
    const command = verbs.find((one) => one.name() === name)
    assert.ok(command, name)
    for (const line of lines) {
      assert.match(line, new RegExp(`\\bcroft ${name}\\b`))
      const own = line.split(' -- ')[0] ?? ''
      for (const option of own.match(/(?<= )--?[a-z][a-z-]*/g) ?? [])
        assert.ok(
          command.options.some(({ long, short }) => long === option || short === option),
          `${line}: there is no ${option}`,
        )
      const words = own.replace(/ > .*/, '').split(' ').slice(2)
      const required = command.registeredArguments.filter((one) => one.required).length
      assert.ok(words.filter((word) => !word.startsWith('-')).length >= required, line)
    }
  }
})

test('what is printed for programs has the same forms everywhere', async () => {
  const printing = verbs.flatMap((one) =>
    one.options.filter(({ short }) => short === '-o').map((option) => [one.name(), option] as const),
  )
  assert.ok(printing.length >= 20, String(printing.length))
  for (const [name, { parseArg, argChoices }] of printing) {
    assert.ok(argChoices?.includes('json') && argChoices.includes('yaml'), name)
    assert.equal(parseArg?.('jsonpath={.kind}', undefined), 'jsonpath={.kind}', name)
    assert.throws(() => parseArg?.('xml', undefined), name)
  }
  const written: string[] = []
  const terminal = { isTty: false, write: (text: string) => void written.push(text) }
  const runtime = { ...fakeRuntime({}), out: terminal as never }
  const data = { kind: 'Plan', steps: [{ name: 'a' }, { name: 'b' }] }
  for (const form of ['json', 'yaml', 'jsonpath={.steps[*].name}'])
    assert.equal(await writeData(runtime, form, data), true)
  assert.deepEqual(written, [
    `${JSON.stringify(data, undefined, 2)}\n`,
    'kind: Plan\nsteps:\n  - name: a\n  - name: b\n',
    'a b\n',
  ])
  for (const forPeople of [undefined, 'wide', 'name']) assert.equal(await writeData(runtime, forPeople, data), false)
})
