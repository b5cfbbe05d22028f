import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importsOf, mutantsIn, neighbours } from '../scripts/mutants-made.ts'

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
  assert.deepEqual(neighbours('src/plan/a.ts', imports, 9), [
    'src/plan/a.test.ts',
    'test/simulation/y.test.ts',
    'src/engine/b.test.ts',
  ])
  assert.deepEqual(neighbours('src/plan/a.ts', imports, 1), ['src/plan/a.test.ts'])
})
