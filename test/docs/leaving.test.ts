import assert from 'node:assert/strict'
import { test } from 'node:test'
import { typed } from './typed.ts'

test('a reader who types what "Leaving croft" says keeps the cluster and loses croft', async () => {
  const output = await typed('docs/first-cluster.md', 'docs/leaving.md')
  const [, left = ''] = output.split('croft has left Cluster/home.')
  for (const node of ['home-1', 'home-2', 'home-3', 'worker-1']) assert.match(left, new RegExp(`^${node} +Ready`, 'm'))
  assert.match(left, /^"node-name": "home-1"$/m)
  assert.match(left, /croft has left everything\./)
  assert.match(left, /^Plan: 0 to add, 0 to change, 0 to destroy/m)
})
