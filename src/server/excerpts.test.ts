import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testServer } from './testing/client.ts'
import { fakeController } from './testing/fake-controller.ts'
import { richEstate } from './testing/rich-estate.ts'

test('lines of manifests are for who signed in, and are in nothing that others read', async () => {
  const controller = fakeController(richEstate())
  await using it = await testServer({ controller, users: { vera: 'viewer' } })
  const [problem] = controller.view().problems
  assert.match(problem?.excerpt ?? '', /as-a-person-wrote-it/)
  const page = await it.ask('/api/view')
  assert.equal(page.json<{ problems: unknown[] }>().problems.length, 1, 'the problem itself is no secret')
  assert.ok(!page.text.includes('as-a-person-wrote-it'))
  assert.equal((await it.ask('/api/excerpts')).status, 401)
  const seen = await it.ask('/api/excerpts', { headers: await it.signIn('vera') })
  const { file, line, column } = problem?.origin ?? {}
  assert.deepEqual(seen.json(), { excerpts: [{ file, line, column, excerpt: problem?.excerpt }] })
})
