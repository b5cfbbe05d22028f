import assert from 'node:assert/strict'
import { request } from 'node:http'
import { describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { usersFile } from './auth/users.ts'
import { testServer } from './testing/client.ts'
import { withResource } from './testing/fake-controller.ts'

const KEY = 'Machine/k3s-vm-still-fawn'

type It = Awaited<ReturnType<typeof testServer>>

/** Makes a listener that records what it is sent, and whether it was ended. */
function listen(it: It, headers: Readonly<Record<string, string>>) {
  let text = ''
  let ended = false
  const asked = request(
    { port: it.server.port, host: '127.0.0.1', path: '/api/events', headers, agent: false },
    (response) => {
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('close', () => {
        ended = true
      })
    },
  )
  asked.on('error', () => {})
  asked.end()
  return {
    isEnded: () => ended,
    async hears(status: string) {
      const before = text.length
      it.controller.set(
        (view) => withResource(view, KEY, (one) => ({ ...one, status })),
        [{ key: KEY, type: 'Normal', reason: 'Power', message: status }],
      )
      await wait(600)
      return text.slice(before).includes(status)
    },
    async ends(withinMs: number) {
      for (let left = withinMs; left > 0 && !ended; left -= 100) await wait(100)
      return ended
    },
    close: () => asked.destroy(),
  }
}

const usersOf = (it: It) => usersFile(it.paths.users)

/** Ways in which the right to read ends, each with how soon. */
const ENDS: Readonly<Record<string, (it: It, vera: Readonly<Record<string, string>>) => Promise<unknown>>> = {
  'she signs out': (it, vera) => it.post('/api/sign-out', {}, vera),
  'she is removed': (it) =>
    usersOf(it).change(({ users, people }) => ({ people, users: users.filter(({ name }) => name !== 'vera') })),
  'her role changes': (it) =>
    usersOf(it).change(({ users, people }) => ({
      people,
      users: users.map((one) => (one.name === 'vera' ? { ...one, role: 'operator' as const } : one)),
    })),
}

describe('a stream ends with the right to it', { concurrency: true }, () => {
  for (const [what, happens] of Object.entries(ENDS)) {
    test(what, async () => {
      await using it = await testServer({ users: { vera: 'viewer', anna: 'admin' }, signedInOnly: true })
      const vera = await it.signIn('vera')
      const anna = await it.signIn('anna')
      const hers = listen(it, vera)
      const other = listen(it, anna)
      await wait(200)
      assert.ok(await hers.hears('Stopping'))
      await happens(it, vera)
      assert.ok(await hers.ends(10_000))
      assert.equal(await hers.hears('Later'), false)
      assert.equal(other.isEnded(), false, 'the other reader reads on')
      other.close()
    })
  }
})

test('who reads without signing in reads on when others sign out', async () => {
  await using it = await testServer({ users: { vera: 'viewer' } })
  const stranger = listen(it, {})
  const vera = await it.signIn('vera')
  await wait(200)
  await it.post('/api/sign-out', {}, vera)
  await wait(2_500)
  assert.equal(stranger.isEnded(), false)
  assert.ok(await stranger.hears('Stopping'))
  stranger.close()
})
