import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { EQUIVALENT } from '../scripts/mutants-equivalent.ts'
import {
  type Counted,
  importsOf,
  mutantsIn,
  neighbours,
  ranAt,
  reached,
  sampled,
  withoutRepeats,
} from '../scripts/mutants-made.ts'

test('bugs are made one at a time, in code alone', () => {
  const text = `import { a } from './a.ts'
/** a === b && c */
export interface X {
  readonly y: true
}
// if (a === b)
export function f(a: number): boolean {
  return a <= 1 && say('a === b') === \`x === \${a === 2}\`
}
`
  assert.deepEqual(
    mutantsIn('src/plan/f.ts', text).map(({ line, change }) => `${line} ${change.split(':')[0]}`),
    ['8 === → !==', '8 === → !==', '8 && → ||', '8 <= → <'],
  )
  for (const mutant of mutantsIn('src/plan/f.ts', text)) {
    const changed = mutant.text.split('\n').filter((line, at) => line !== text.split('\n')[at])
    assert.equal(changed.length, 1)
  }
})

test('the nearest tests come first, and tests of the page and the binary are not among them', () => {
  const imports = new Map([
    ['src/plan/a.ts', []],
    ['src/plan/a.test.ts', ['src/plan/a.ts']],
    ['src/plan/b.ts', importsOf('src/plan/b.ts', "import { a } from './a.ts'")],
    ['src/engine/b.test.ts', importsOf('src/engine/b.test.ts', "import { b } from '../plan/b.ts'")],
    ['test/binary/x.test.ts', ['src/plan/a.ts']],
    ['test/simulation/y.test.ts', ['src/plan/a.ts']],
  ])
  const costs: Record<string, number> = { 'src/engine/b.test.ts': 500, 'test/simulation/y.test.ts': 9000 }
  assert.deepEqual(
    neighbours('src/plan/a.ts', imports, (test) => costs[test] ?? 0),
    ['src/plan/a.test.ts', 'src/engine/b.test.ts', 'test/simulation/y.test.ts'],
  )
  assert.deepEqual([...reached(['src/plan/b.ts'], imports)], ['src/plan/b.ts', 'src/plan/a.ts'])
  assert.deepEqual(
    [...reached(['src/engine/b.test.ts'], imports, (file) => !file.includes('/a.'))],
    ['src/engine/b.test.ts', 'src/plan/b.ts'],
  )
})

test('a bug that cannot change anything is not made', () => {
  assert.deepEqual(mutantsIn('src/plan/f.ts', 'names.toSorted((a, b) => (a < b ? -1 : 1))'), [])
  assert.equal(mutantsIn('src/plan/f.ts', 'if (a < b) return 1').length, 1)
})

test('the smallest counted part around a place says whether it ran', () => {
  const counted: Counted[] = [
    [0, 100, true],
    [10, 50, false],
    [20, 30, true],
  ]
  assert.deepEqual(
    [5, 12, 25, 60, 100].map((offset) => ranAt(counted, offset)),
    [true, false, true, true, false],
  )
})

test('the same seed chooses the same bugs after an edit elsewhere', () => {
  const before = mutantsIn('src/plan/f.ts', 'if (a === b) c()\nif (d < 1) e()\nif (a === b) c()\n')
  const after = mutantsIn('src/plan/f.ts', '// why\nif (a === b) c()\nif (d < 1) e()\nif (a === b) c()\n')
  const chosen = (all: typeof before, seed: string) => sampled(all, 2, seed).map(({ change }) => change)
  assert.deepEqual(chosen(before, '1'), chosen(after, '1'))
  const orders = new Set(['1', '2', '3', '4', '5', '6'].map((seed) => chosen(before, seed).join()))
  assert.ok(orders.size > 1, 'every seed chooses the same')
})

test('what several processes ran counts once', () => {
  assert.deepEqual(
    withoutRepeats([
      [0, 9, false],
      [0, 9, true],
      [0, 9, false],
      [2, 4, false],
    ]),
    [
      [0, 9, true],
      [2, 4, false],
    ],
  )
})

test('every bug that is called equivalent can still be made, and has its reason', () => {
  for (const { file, change, why } of EQUIVALENT) {
    const made = mutantsIn(file, readFileSync(path.resolve(import.meta.dirname, '..', file), 'utf8'))
    assert.ok(
      made.some((mutant) => mutant.change === change),
      `${file}: ${change} is made no more: take it out of the list`,
    )
    assert.ok(why.length > 20, `${file}: ${change} has no reason`)
  }
})
