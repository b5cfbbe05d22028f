import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Kind } from '../kinds/kind.ts'
import type { Declaration, Problem } from '../model/declaration.ts'
import { OF_DEEDS } from './found-errors.ts'
import { createProgram } from './program.ts'
import { runCli } from './run.ts'
import { EMPTY_ESTATE, fakeRuntime, planning } from './testing/fake-runtime.ts'

const folder = mkdtempSync(join(tmpdir(), 'found-errors-'))
after(() => rmSync(folder, { recursive: true }))

const problem: Problem = {
  code: 'bad-value',
  origin: { file: 'a.yaml', line: 3, column: 7 },
  message: 'cores is 0',
  severity: 'error',
}
const pool = {
  key: 'AddressPool/nodes',
  kind: 'AddressPool',
  name: 'nodes',
  apiVersion: 'croft.dev/v1alpha1',
  labels: {},
  annotations: {},
  origin: { file: 'a.yaml', line: 1, column: 1 },
  generation: 'g',
} as unknown as Declaration

/** Makes a directory with a sound pool and, if `wrong`, an error elsewhere. There is nothing to do in it. */
async function exitOf(command: string, wrong: boolean) {
  const loaded = {
    ...EMPTY_ESTATE,
    files: 1,
    declarations: [pool],
    estate: { ...EMPTY_ESTATE.estate, problems: wrong ? [problem] : [] },
  }
  const runtime = fakeRuntime({
    cwd: folder,
    env: { HOME: folder },
    load: async () => loaded,
    kinds: async () => [{ kind: 'AddressPool', plural: 'addresspools', shortNames: [] } as unknown as Kind],
    openDrivers: async () => ({ drivers: [], deps: {} as never }),
    ...planning({ entries: [], notes: [], problems: [] }),
  })
  const code = await runCli(command.split(' '), runtime)
  return { code, said: runtime.written.err + runtime.written.out }
}

/** In a sound directory, each of these exits with 0. */
const READING: Readonly<Record<string, string>> = {
  plan: 'plan . --keep-going',
  diff: 'diff . --keep-going',
  apply: 'apply . --yes --keep-going',
  get: 'get all',
  describe: 'describe AddressPool/nodes',
  why: 'why AddressPool/nodes',
  health: 'health .',
  export: 'export all',
  leave: 'leave',
}
/** Verbs with other exit codes in a directory without hosts or controllers: only the rule is checked for them. */
const OTHERS = ['capacity', 'delete', 'doctor', 'move-in', 'move-out', 'pods', 'rehearse', 'selftest']

test('every command is one that reads a directory, or one whose exit code says how one deed ended', () => {
  const names = createProgram(fakeRuntime(), () => {}).commands.map((command) => command.name())
  assert.deepEqual(names.toSorted(), [...Object.keys(READING), ...OTHERS, ...Object.keys(OF_DEEDS)].sort())
})

for (const [verb, command] of Object.entries({ ...READING, validate: 'validate .' }))
  test(`croft ${verb} does not end with 0 where a manifest has errors`, async () => {
    const sound = await exitOf(command, false)
    assert.equal(sound.code, 0, sound.said)
    const { code, said } = await exitOf(command, true)
    assert.equal(code, 1, said)
    assert.match(said, /1 error|cores is 0/)
  })
