import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyFetchFailed } from './why-fetch-failed.ts'

const coded = (code: unknown) => Object.assign(new Error('connect to 127.0.0.1:1'), { code })

test('why fetch got no answer: the code of the cause, else its message', () => {
  assert.equal(whyFetchFailed(new TypeError('fetch failed', { cause: coded('ECONNREFUSED') })), 'ECONNREFUSED')
  assert.equal(
    whyFetchFailed(new TypeError('fetch failed', { cause: new Error('unexpected redirect') })),
    'unexpected redirect',
  )
  // A timeout carries a number there.
  assert.equal(whyFetchFailed(Object.assign(new Error('it took too long'), { code: 23 })), 'it took too long')
  assert.equal(whyFetchFailed('x'), 'no answer')
})

test('what fetch itself throws where nobody listens', async () => {
  await assert.rejects(fetch('http://127.0.0.1:1/'), (error) => /^E[A-Z]+$|bad port/.test(whyFetchFailed(error)))
})
