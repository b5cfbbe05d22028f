import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseForeignJson } from './foreign-json.ts'
import { LIMITS } from './limits.ts'

const list = (item: string, bytes: number) => `{"items":[${`${item},`.repeat(Math.floor(bytes / (item.length + 1)))}0]}`

test('[S-48] an answer of millions of tiny values is refused before it is read', () => {
  for (const item of ['{}', '[[]]', '0', '""'])
    assert.throws(() => parseForeignJson(list(item, LIMITS.responseBytes)), /more than \d+ lists and maps/, item)
})

test('[S-48] a usual answer is read, however large it may be', () => {
  const pod = JSON.stringify({
    metadata: { name: 'web-1', namespace: 'default', labels: { app: 'web' }, uid: '0'.repeat(36) },
    spec: { containers: [{ name: 'web', image: 'registry.example/web:1.2.3', env: [{ name: 'A', value: 'b' }] }] },
    status: { phase: 'Running', podIP: '10.42.0.7', conditions: [{ type: 'Ready', status: 'True' }] },
  })
  const text = list(pod, LIMITS.responseBytes)
  assert.deepEqual(parseForeignJson(text), JSON.parse(text))
  assert.deepEqual(parseForeignJson(list('{}', 30_000)), JSON.parse(list('{}', 30_000)))
})
