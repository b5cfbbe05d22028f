import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Problem } from '../../model/declaration.ts'
import { countProblems, countValid, problemsJson, renderProblems } from './problems.ts'
import { PLAIN } from './text.ts'

const typo: Problem = {
  code: 'unknown-field',
  origin: { file: 'instances/web.yaml', line: 12, column: 5 },
  object: 'EnvironmentVM/web-1',
  field: 'spec.forProvider.networkDevce',
  message: 'there is no field networkDevce here',
  hint: 'did you mean networkDevice?',
  excerpt: '12 |     networkDevce:\n   |     ^',
  severity: 'error',
}
const warning: Problem = {
  code: 'old-group',
  origin: { file: 'a.yaml', line: 1, column: 1 },
  message: 'old \x1b[31mname',
  severity: 'warning',
}

test('a problem says what, where, shows the line and what to do', () => {
  assert.equal(
    renderProblems([typo, warning], PLAIN),
    `Warning[old-group]: old name
  --> a.yaml:1:1

Error[unknown-field]: there is no field networkDevce here
  --> instances/web.yaml:12:5  (EnvironmentVM/web-1 spec.forProvider.networkDevce)
  12 |     networkDevce:
     |     ^
hint: did you mean networkDevice?
`,
  )
  assert.equal(countProblems([typo, typo, warning]), '2 errors, 1 warning')
})

test('the JSON form carries the same, flat', () => {
  assert.deepEqual(problemsJson([typo]), [
    {
      severity: 'error',
      code: 'unknown-field',
      file: 'instances/web.yaml',
      line: 12,
      column: 5,
      object: 'EnvironmentVM/web-1',
      field: 'spec.forProvider.networkDevce',
      message: 'there is no field networkDevce here',
      hint: 'did you mean networkDevice?',
      excerpt: '12 |     networkDevce:\n   |     ^',
    },
  ])
})

test('more problems than a person reads are counted, not printed', () => {
  const shown = renderProblems(
    Array.from({ length: 130 }, (_, line) => ({ ...warning, origin: { file: 'a.yaml', line, column: 1 } })),
    PLAIN,
  )
  assert.match(shown, /… and 30 more\. Fix these first\.\n$/)
})

test('one field that is wrong for many machines is one thing to correct', () => {
  const wrong = (name: string): Problem => ({ ...typo, message: `${name}: there is no free address left` })
  const shown = renderProblems([wrong('w-1'), wrong('w-2'), wrong('w-3'), wrong('w-4'), warning], PLAIN)
  assert.equal(shown.match(/free address/g)?.length, 1)
  assert.match(shown, /w-1: there is .*networkDevice\?\n… and 3 more like it, from the same place\n$/s)
  assert.equal(renderProblems([typo, typo, typo], PLAIN).match(/Error/g)?.length, 3, 'few are shown each')
})

test('a reference to what is declared and itself wrong names the mistake, and not a second one', () => {
  const cause: Problem = { ...typo, object: 'Image/noble', origin: { file: 'images.yaml', line: 4, column: 8 } }
  const echo: Problem = {
    code: 'unknown-reference',
    origin: { file: 'web.yaml', line: 9, column: 27 },
    object: 'Machine/web-1',
    message: 'there is no Image noble',
    severity: 'error',
  }
  const shown = renderProblems([cause, echo], PLAIN, 'infra/home')
  assert.match(shown, /: Image noble is declared and is not valid\n {2}--> infra\/home\/web\.yaml:9:27/)
  assert.match(shown, /hint: correct images\.yaml:4:8 first/)
  const composed = { ...echo, message: `${echo.message} (for Pair/shop)` }
  assert.match(
    renderProblems([cause, composed], PLAIN),
    /: Image noble is declared and is not valid \(for Pair\/shop\)/,
  )
  assert.match(renderProblems([echo], PLAIN), /: there is no Image noble\n {2}--> web\.yaml:9:27/)
  assert.equal(countValid(['Image/noble', 'Machine/web-1', 'Machine/web-2'], [cause, echo, warning]), 1)
})
