// With its Node a server loses vote and password: one that came back since the look keeps it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allReady, driverLab } from './testing/lab.ts'

test('a Node that is Ready without a mark of croft is not deleted, and one that carries it is; what is gone is gone', async () => {
  const lab = driverLab('s1 a1')
  await lab.until(allReady('s1 a1'), 900)
  const deleted = () => lab.perform({ verb: 'delete-node', node: 'a1', lane: 'object' })
  const refused = await deleted()
  assert.match(JSON.stringify(refused), /"reason":"Changed".*came back since the look/)
  assert.equal((await lab.call('GET', '/api/v1/nodes/a1')).status, 200)
  await lab.perform({ verb: 'cordon', node: 'a1', lane: 'object', purpose: 'replace', target: 'replace' })
  assert.deepEqual(await deleted(), { result: 'done' })
  await lab.clock.advanceTo(lab.clock.now() + 10_000)
  assert.equal((await lab.call('GET', '/api/v1/nodes/a1')).status, 404)
  assert.deepEqual(await deleted(), { result: 'done' })
})
