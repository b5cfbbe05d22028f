import assert from 'node:assert/strict'
import { test } from 'node:test'
import { typed } from './typed.ts'

test('a reader who types what "Your first cluster" and "Day two" say gets a cluster and keeps it', async () => {
  const output = await typed('docs/first-cluster.md', 'docs/day-two.md')
  for (const node of ['home-1', 'home-2', 'home-3']) assert.match(output, new RegExp(`^${node} +Ready`, 'm'))
  assert.match(output, /Machine\/worker-\w+ +True +True/)
  for (const node of ['home-1', 'home-2', 'home-3', 'worker-1'])
    assert.match(output, new RegExp(`^${node} +Ready .* v1\\.34\\.5\\+k3s1$`, 'm'), 'upgraded')
  assert.match(output, /memory\.dedicatedMb: 8192 → 4096\n/, 'drift')
  const [, restored = ''] = output.split('namespace/mistake created')
  assert.match(restored, /^kube-system +Active/m)
  assert.doesNotMatch(restored, /^mistake +Active/m)
  assert.match(restored, /^Cluster\/home .* Off/m)
  assert.match(restored, /EnvironmentVM\/old/, 'imported')
  assert.match(restored, /node\/worker-2 condition met/)
})
