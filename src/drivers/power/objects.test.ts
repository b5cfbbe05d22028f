import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKubernetesClient } from '../../kubernetes/client.ts'
import type { Foreign } from '../../kubernetes/objects.ts'
import type { Step } from '../../model/step.ts'
import { MARKS } from './marks.ts'
import { pause, restore } from './objects.ts'

/** One workload behind an API that supports merge patches: the wire is ours, and nothing else exists. */
function deployment(replicas: number) {
  return workload('Deployment', { replicas })
}

function workload<Spec extends object>(kind: string, spec: Spec) {
  const object = { metadata: { resourceVersion: '1', annotations: {} as Record<string, string> }, spec }
  const client = createKubernetesClient({
    async send({ method, body }) {
      if (method === 'PATCH') {
        const patch = JSON.parse(String(body)) as Foreign & typeof object
        for (const [key, value] of Object.entries(patch.metadata?.annotations ?? {})) {
          if (value === null) delete object.metadata.annotations[key]
          else object.metadata.annotations[key] = value
        }
        Object.assign(object.spec, patch.spec)
      }
      return { status: 200, reason: 'OK', headers: {}, body: JSON.stringify(object) }
    },
    close: async () => undefined,
  })
  const step = {
    summary: 'pause web',
    workload: { kind, namespace: 'default', name: 'web' },
  } as unknown as Step<'power'>
  const signal = new AbortController().signal
  return {
    object,
    pause: () => pause(client, step, signal),
    restore: () => restore(client, step, signal),
    before: () => object.metadata.annotations[MARKS.before],
  }
}

test('a second pause remembers what the first one found, whoever scaled the workload meanwhile', async () => {
  const web = deployment(3)
  await web.pause()
  assert.deepEqual([web.object.spec.replicas, web.before()], [0, '3'])
  await web.pause()
  assert.deepEqual([web.object.spec.replicas, web.before()], [0, '3'], 'nothing to do a second time')
  // An autoscaler starts one again before the power is off.
  web.object.spec.replicas = 1
  await web.pause()
  assert.deepEqual([web.object.spec.replicas, web.before()], [0, '3'])
  await web.restore()
  assert.deepEqual([web.object.spec.replicas, web.before()], [3, undefined])
})

test('what a person scaled while it was paused stands, and what was at nothing stays there', async () => {
  const web = deployment(3)
  await web.pause()
  web.object.spec.replicas = 5
  await web.restore()
  assert.deepEqual([web.object.spec.replicas, web.before()], [5, undefined])
  const none = deployment(0)
  await none.pause()
  await none.restore()
  assert.deepEqual([none.object.spec.replicas, none.before()], [0, undefined])
})

test('a CronJob is suspended and goes on again; one that a person suspended stays so', async () => {
  const backup = workload('CronJob', { suspend: false })
  await backup.pause()
  assert.equal(backup.object.spec.suspend, true)
  await backup.restore()
  assert.deepEqual([backup.object.spec.suspend, backup.before()], [false, undefined])
  const off = workload('CronJob', { suspend: true })
  await off.pause()
  await off.restore()
  assert.deepEqual([off.object.spec.suspend, off.before()], [true, undefined])
})

test('a database is hibernated and wakes again', async () => {
  const database = workload('Database', {})
  const asleep = () => database.object.metadata.annotations['cnpg.io/hibernation']
  await database.pause()
  assert.equal(asleep(), 'on')
  await database.restore()
  assert.deepEqual([asleep(), database.before()], [undefined, undefined])
})
