import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placed } from './place.ts'
import { UsageError } from './verb.ts'

const PLAN = { name: 'plan', takesDirectory: true, most: 1 }
const GET = { name: 'get', takesDirectory: false, most: 2 }
const COPY = { name: 'host', takesDirectory: false, most: 3 }

test('the directory is an argument, else --dir, else CROFT_DIR, else here', () => {
  for (const [verb, words, option, env, expected] of [
    [PLAN, ['infra'], undefined, {}, { words: ['infra'], dir: 'infra' }],
    [PLAN, [], 'infra', {}, { words: ['infra'], dir: 'infra' }],
    [PLAN, [], undefined, { CROFT_DIR: '/srv' }, { words: ['/srv'], dir: '/srv' }],
    [PLAN, [], 'infra', { CROFT_DIR: '/srv' }, { words: ['infra'], dir: 'infra' }],
    [PLAN, [], undefined, {}, { words: ['.'], dir: '.' }],
    [PLAN, [], undefined, { CROFT_DIR: '' }, { words: ['.'], dir: '.' }],
    [GET, ['machines'], undefined, { CROFT_DIR: '/srv' }, { words: ['machines'], dir: '/srv' }],
    [GET, ['machines', '/usr/'], undefined, {}, { words: ['machines'], dir: '/usr/' }],
    [GET, ['/usr'], undefined, {}, { words: [], dir: '/usr' }],
    [GET, ['.'], undefined, {}, { words: [], dir: '.' }],
    [GET, ['machine/web-1'], undefined, {}, { words: ['machine/web-1'], dir: '.' }],
    [GET, ['machine', 'usr'], undefined, {}, { words: ['machine', 'usr'], dir: '.' }],
    [GET, ['machine', 'web-1', 'usr'], undefined, {}, { words: ['machine', 'web-1'], dir: 'usr' }],
    [GET, ['a', 'b', 'no-such'], undefined, {}, { words: ['a', 'b', 'no-such'], dir: '.' }],
    [COPY, ['copy', 'cow', './motd', '/usr'], undefined, {}, { words: ['copy', 'cow', './motd', '/usr'], dir: '.' }],
  ] as const)
    assert.deepEqual(placed(verb, words, option, env, '/'), expected, `${verb.name} ${words.join(' ')}`)
})

test('after a resource a word that is a directory is the directory, as for why', () => {
  const isKind = (word: string) => word === 'machine'
  for (const name of ['get', 'describe', 'delete'])
    for (const [words, expected] of [
      [['web-1', 'usr'], { words: ['web-1'], dir: 'usr' }],
      [['machine/web-1', 'usr'], { words: ['machine/web-1'], dir: 'usr' }],
      [['machine', 'usr'], { words: ['machine', 'usr'], dir: '.' }],
      [['web-1', 'no-such'], { words: ['web-1', 'no-such'], dir: '.' }],
    ] as const)
      assert.deepEqual(placed({ name, takesDirectory: false, most: 2 }, words, undefined, {}, '/', isKind), expected)
  const power = { name: 'power', takesDirectory: false, most: 2 }
  assert.deepEqual(placed(power, ['off', 'usr'], undefined, {}, '/', isKind).words, ['off', 'usr'])
})

test('two different directories are one too many', () => {
  assert.throws(() => placed(PLAN, ['a'], 'b', {}, '/'), UsageError)
  assert.deepEqual(placed(PLAN, ['a'], './a', {}, '/').dir, 'a')
})
