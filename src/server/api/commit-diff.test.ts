import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testServer } from '../testing/client.ts'

test('what a commit changes is for who may operate; of a commit that was not followed there is nothing', async () => {
  await using it = await testServer({ users: { otto: 'operator', vera: 'viewer' } })
  const [otto, vera] = [await it.signIn('otto'), await it.signIn('vera')]
  const asked = '/api/commit-diff?source=homelab&commit=1f2e3d4'
  assert.equal((await it.ask(asked)).status, 401)
  assert.equal((await it.ask(asked, { headers: vera })).status, 403)
  const read = await it.ask(asked, { headers: otto })
  assert.equal(read.status, 200)
  const { files } = read.json<{ files: { path: string; lines: unknown[] }[] }>()
  assert.deepEqual(
    files.map(({ path, lines }) => [path, lines.length]),
    [
      ['machines/fawn.yaml', 5],
      ['secrets/machines.yaml', 0],
      ['machines/bedbug.yaml', 1],
    ],
  )
  const unknown = await it.ask('/api/commit-diff?source=homelab&commit=abc', { headers: otto })
  assert.equal(unknown.status, 404)
  assert.match(unknown.text, /nothing to compare commit abc of homelab with/)
})
