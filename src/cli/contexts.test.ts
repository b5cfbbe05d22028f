import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import {
  type Contexts,
  chosenContext,
  contextsFile,
  directoryByContext,
  readContexts,
  writeContexts,
} from './contexts.ts'
import { CliError, UsageError } from './verb.ts'

const home = mkdtempSync(path.join(tmpdir(), 'croft-contexts-'))
after(() => rmSync(home, { recursive: true }))
const env = { XDG_CONFIG_HOME: home }
const KNOWN: Contexts = {
  current: 'home',
  contexts: new Map([
    ['home', { dir: '/srv/home' }],
    ['work', { dir: '/srv/work' }],
    ['prod', { server: 'https://croft.lan' }],
  ]),
}

test('the directory is that of --context, else of CROFT_CONTEXT, else CROFT_DIR, else of the context in use', () => {
  for (const [given, more, expected] of [
    [{}, {}, 'home'],
    [{ context: 'work' }, {}, 'work'],
    [{ context: 'work' }, { CROFT_DIR: '/x' }, 'work'],
    [{}, { CROFT_CONTEXT: 'work' }, 'work'],
    [{}, { CROFT_CONTEXT: 'work', CROFT_DIR: '/x' }, 'work'],
    [{}, { CROFT_DIR: '/x' }, undefined],
    [{ dir: '/x' }, {}, undefined],
    [{ dir: '/x' }, { CROFT_CONTEXT: 'work' }, undefined],
  ] as const)
    assert.equal(
      directoryByContext('plan', KNOWN, { context: undefined, dir: undefined, ...given }, more)?.name,
      expected,
      JSON.stringify([given, more]),
    )
  assert.equal(
    directoryByContext('plan', { contexts: new Map() }, { context: undefined, dir: undefined }, {}),
    undefined,
  )
})

test('what cannot be is said with what can be', () => {
  const plan = (given: { context?: string; dir?: string }, known = KNOWN) =>
    directoryByContext('plan', known, { context: given.context, dir: given.dir }, {})
  assert.throws(() => plan({ context: 'wrk' }), /There is no context wrk\. There are: home, work, prod\. Add it with/)
  assert.throws(
    () => plan({ context: 'prod' }),
    /the controller at https:\/\/croft\.lan, and croft plan needs a directory/,
  )
  assert.throws(() => plan({ context: 'work', dir: '.' }), UsageError)
  assert.equal(plan({}, { ...KNOWN, current: 'prod' }), undefined, 'a server in use leaves the directory alone')
  assert.equal(chosenContext({ contexts: new Map() }, undefined, { CROFT_CONTEXT: '' }), undefined)
})

test('contexts are kept for their owner alone; a damaged file is named', async () => {
  assert.deepEqual(readContexts(env), { contexts: new Map() })
  await writeContexts(env, KNOWN)
  assert.deepEqual(readContexts(env), KNOWN)
  assert.equal(statSync(contextsFile(env)).mode & 0o777, 0o600)
  assert.match(readFileSync(contextsFile(env), 'utf8'), /"current": "home"/)
  for (const text of ['{', '[]', '{"contexts": {"a": {"folder": "/x"}}}']) {
    writeFileSync(contextsFile(env), text)
    assert.throws(
      () => readContexts(env),
      (error) => error instanceof CliError && error.message.includes(contextsFile(env)),
      text,
    )
  }
  assert.deepEqual(readContexts({}), { contexts: new Map() })
})
