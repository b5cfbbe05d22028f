import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testServer } from '../testing/client.ts'

test('a kubeconfig is for admins; the audit log has who took it, and nothing has the key', async () => {
  const warnings: string[] = []
  await using it = await testServer({
    users: { anna: 'admin', otto: 'operator' },
    warn: (message) => warnings.push(message),
  })
  const [anna, otto] = [await it.signIn('anna'), await it.signIn('otto')]
  it.audit.length = 0
  const body = { cluster: 'homelab', hours: 2 }
  assert.equal((await it.post('/api/kubeconfig', body)).status, 401)
  assert.equal((await it.post('/api/kubeconfig', body, otto)).status, 403)
  assert.equal((await it.ask('/api/kubeconfig', { headers: anna })).status, 404, 'a link cannot ask for it')
  const given = await it.post('/api/kubeconfig', body, anna)
  assert.equal(given.status, 200)
  assert.equal(given.headers['cache-control'], 'no-store')
  assert.match(given.json<{ yaml: string }>().yaml, /canary-of-a-key/)
  assert.equal((await it.post('/api/kubeconfig', { cluster: 'none' }, anna)).status, 404)
  assert.equal((await it.post('/api/kubeconfig', { ...body, hours: 999 }, anna)).status, 400)
  const entries = it.audit.map(({ actor, what, result }) => [actor.name, what, result])
  assert.deepEqual(entries.slice(0, 3), [
    ['nobody', 'kubeconfig', 'refused'],
    ['page:otto', 'kubeconfig', 'refused'],
    ['page:anna', 'kubeconfig', 'done'],
  ])
  assert.match(it.audit[2]?.message ?? '', /^Kubeconfig of homelab, good until /)
  assert.doesNotMatch(JSON.stringify([it.audit, warnings]), /canary/)
})

test('where a second factor is required, it comes before the kubeconfig', async () => {
  await using it = await testServer({ users: { anna: 'admin' }, needsSecondFactor: true })
  const anna = await it.signIn('anna')
  const refused = await it.post('/api/kubeconfig', { cluster: 'homelab' }, anna)
  assert.equal(refused.status, 403)
  assert.match(refused.text, /second factor/)
})
