import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKubernetesClient } from '../../kubernetes/client.ts'
import { removed } from '../../model/destruction.ts'
import { clusterApi } from './api.ts'
import { deletion } from './steps.ts'
import { MAP, seen } from './testing/fixture.ts'
import { send } from './writing.ts'

test('only the very object that was looked at is deleted: one that was made anew meanwhile stays', async () => {
  let there = 'the second'
  const bodies: string[] = []
  const client = createKubernetesClient({
    async send({ method, body }) {
      bodies.push(`${method} ${String(body)}`)
      const { uid } = (JSON.parse(String(body)) as { preconditions?: { uid?: string } }).preconditions ?? {}
      const fits = uid === undefined || uid === there
      if (fits) there = ''
      const answer = { kind: 'Status', status: fits ? 'Success' : 'Failure', reason: fits ? '' : 'Conflict' }
      return { status: fits ? 200 : 409, reason: '', headers: {}, body: JSON.stringify(answer) }
    },
    close: async () => undefined,
  })
  const object = { ...MAP, metadata: { ...MAP.metadata, uid: 'the first' } }
  const [step] = deletion(removed(seen({ object } as never), []))
  assert.ok(step)
  const deps = { resolveSecret: () => Promise.reject(new Error('no secret is meant')) }
  await send(client, step, { api: clusterApi(undefined), deps }, new AbortController().signal)
  assert.equal(there, 'the second', bodies.join('\n'))
})

test('an object that is deleted as it was read stays if it changed meanwhile', async () => {
  const sent: unknown[] = []
  const client = createKubernetesClient({
    async send({ body }) {
      sent.push((JSON.parse(String(body)) as { preconditions?: unknown }).preconditions)
      return { status: 200, reason: '', headers: {}, body: '{}' }
    },
    close: async () => undefined,
  })
  const [step] = deletion(removed(seen({ object: MAP } as never), []))
  assert.ok(step?.lane === 'object' && step.write.do === 'delete')
  const deps = { resolveSecret: () => Promise.reject(new Error('no secret is meant')) }
  const write = { ...step.write, uid: 'u-1', resourceVersion: '7' }
  await send(client, { ...step, write }, { api: clusterApi(undefined), deps }, new AbortController().signal)
  assert.deepEqual(sent, [{ uid: 'u-1', resourceVersion: '7' }])
})
