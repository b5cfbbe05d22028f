import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../../model/resource.ts'
import { readPending } from './guest-details.ts'
import { withoutTakenBack } from './guest-diff.ts'

/** A guest with declared memory and cores; both take effect with a restart. */
const compare =
  (wanted: Readonly<Record<string, unknown>>) =>
  (config: Readonly<Record<string, unknown>>): readonly Change[] =>
    Object.keys(wanted).flatMap((path) =>
      config[path] === wanted[path]
        ? []
        : [{ path, from: config[path], to: wanted[path], effect: 'restart' } as Change],
    )

const CASES: readonly [string, unknown[], Record<string, unknown>, string[], string[]][] = [
  [
    'somebody wrote another value, which waits: writing the one in force again needs no restart',
    [{ key: 'memory', value: 4096, pending: 8192 }],
    { memory: 4096 },
    ['memory live'],
    [],
  ],
  [
    'the declared value waits for its restart',
    [{ key: 'memory', value: 4096, pending: 8192 }],
    { memory: 8192 },
    [],
    ['memory'],
  ],
  [
    'neither is the declared one',
    [{ key: 'memory', value: 4096, pending: 8192 }],
    { memory: 2048 },
    ['memory restart'],
    ['memory'],
  ],
  [
    'a removal that waits is taken back',
    [{ key: 'memory', value: 4096, delete: 1 }],
    { memory: 4096 },
    ['memory live'],
    [],
  ],
  [
    'one is taken back, and the other still waits',
    [
      { key: 'memory', value: 4096, pending: 8192 },
      { key: 'cores', value: 1, pending: 2 },
    ],
    { memory: 4096, cores: 2 },
    ['memory live'],
    ['cores'],
  ],
  [
    'what is not declared stays as it was',
    [{ key: 'balloon', value: 0, pending: 1024 }],
    { memory: 4096 },
    ['memory restart'],
    ['balloon'],
  ],
]

for (const [name, answer, wanted, changes, pending] of CASES)
  test(`pending values: ${name}`, () => {
    const look = readPending(answer)
    assert.ok(look !== undefined)
    const told = withoutTakenBack(look, compare(wanted))
    assert.deepEqual(
      told.changes.map(({ path, effect }) => `${path} ${effect}`),
      changes,
    )
    assert.deepEqual(told.pending, pending)
  })
