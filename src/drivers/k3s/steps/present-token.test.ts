import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../../model/secret.ts'
import { passwordInForce } from './present-token.ts'

const CASES = [
  { name: 'all agree with the record', noted: ['a', 'a', 'a'], former: [], is: 'a' },
  { name: 'rotated by hand on the first server', noted: ['new', 'a', 'a'], former: [], is: 'new' },
  { name: 'rotated by hand on the last server', noted: ['a', 'a', 'new'], former: ['b'], is: 'new' },
  { name: 'one server still runs with a former one', noted: ['b', 'a'], former: ['b'], is: 'a' },
  { name: 'every server is back at a former one', noted: ['b', 'b', 'b'], former: ['b'], is: 'b' },
  { name: 'the server that was asked is being restarted', noted: ['b', 'b'], former: ['b'], is: 'a' },
  {
    name: 'the others are at a former one, and one ends with the recorded',
    noted: ['b', '-b!a'],
    former: ['b'],
    is: 'p',
  },
  { name: 'nobody can be asked', noted: [], former: ['b'], is: 'a' },
  { name: 'all stand still, and one of them took the new one', noted: ['-a', '-new', '-a'], former: ['b'], is: 'new' },
  { name: 'what stands still with a former one says nothing', noted: ['-b', '-b'], former: ['b'], is: 'a' },
  { name: 'a rotation reached one server and was not recorded', noted: ['p', 'a', 'a'], former: [], is: 'p' },
  { name: 'a rotation reached a server that stands still now', noted: ['a', '-p'], former: [], is: 'p' },
  {
    name: 'the server that was asked is gone, and another ends with the recorded one',
    noted: ['-a!a'],
    former: [],
    is: 'p',
  },
  { name: 'a rotation was prepared and reached nobody', noted: ['a', 'a'], former: ['p'.repeat(2)], is: 'a' },
] as const

/** `-` in front: a server that does not run; `!`: the password with which it fails. */
const of = (text: string) => {
  const [password = '', refused] = text.replace('-', '').split('!')
  return { password, runs: !text.startsWith('-'), ...(refused === undefined ? {} : { refused }) }
}

for (const { name, noted, former, is } of CASES)
  test(`the password in force: ${name}`, () => {
    const record = {
      password: new Secret('a'),
      pendingPassword: new Secret('p'),
      formerPasswords: former.map((one) => new Secret(one)),
    }
    assert.equal(passwordInForce(noted.map(of), record, 3), is)
  })

test('the password in force: no rotation is prepared, and a server ends with the recorded one: that of those that run', () => {
  const record = { password: new Secret('a'), formerPasswords: [new Secret('b')] }
  assert.equal(passwordInForce(['b', '-b!a'].map(of), record, 3), 'b')
})
