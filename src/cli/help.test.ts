import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXAMPLES, GROUP_OF } from './help.ts'
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
