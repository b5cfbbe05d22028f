import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passwordInForce } from './present-token.ts'

const CASES = [
  { name: 'all agree with the record', noted: ['a', 'a', 'a'], former: [], is: 'a' },
  { name: 'rotated by hand on the first server', noted: ['new', 'a', 'a'], former: [], is: 'new' },
  { name: 'rotated by hand on the last server', noted: ['a', 'a', 'new'], former: ['b'], is: 'new' },
  { name: 'one server still runs with a former one', noted: ['b', 'a'], former: ['b'], is: 'a' },
  { name: 'every server is back at a former one', noted: ['b', 'b'], former: ['b'], is: 'b' },
  { name: 'nobody can be asked', noted: [], former: ['b'], is: 'a' },
  { name: 'all stand still, and one of them took the new one', noted: ['-a', '-new', '-a'], former: ['b'], is: 'new' },
  { name: 'what stands still with a former one says nothing', noted: ['-b', '-b'], former: ['b'], is: 'a' },
] as const

/** With `-` in front: of a server that does not run. */
const of = (text: string) => ({ password: text.replace('-', ''), runs: !text.startsWith('-') })

for (const { name, noted, former, is } of CASES)
  test(`the password in force: ${name}`, () => assert.equal(passwordInForce(noted.map(of), 'a', former), is))
