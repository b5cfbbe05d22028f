import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKubernetesClient } from '../kubernetes/client.ts'
import { at } from '../kubernetes/objects.ts'
import { seededRandom } from '../lib/random.ts'
import { createClusterSource } from './cluster-source.ts'
import { createGround, VMS } from './testing/harness.ts'
import { madeByCrossplane, providerVms } from './testing/made-by-crossplane.ts'

async function followed() {
  const ground = await createGround()
  const [vm] = providerVms(1, ['fun-bedbug'])
  assert.ok(vm)
  const made = await ground.call('POST', VMS, madeByCrossplane(vm))
  const wire = ground.api.wire()
  let changes = 0
  const source = createClusterSource({
    client: createKubernetesClient(wire),
    wire,
    clock: ground.api.lab.clock,
    random: seededRandom(1),
    home: 'croft-system',
    onChange: () => changes++,
    warn: (message) => assert.fail(message),
  })
  const stop = new AbortController()
  const running = source.run(stop.signal)
  await ground.until(() => source.synced())
  await ground.pass(1_000)
  const shard = source.shards()?.find(({ objects }) => objects.some(({ served }) => served.plural === 'environmentvms'))
  assert.ok(shard)
  let told = 0
  const part = source.part(shard, () => told++)
  return {
    ground,
    part,
    path: `${VMS}/${String(at(made, 'metadata', 'name'))}`,
    counts: () => ({ changes, told }),
    object: () => part.objects().find(({ served }) => served.plural === 'environmentvms'),
    async end() {
      stop.abort()
      await ground.api.lab.clock.runUntil(running)
    },
  }
}

test('a status that somebody writes divides nothing anew and makes nobody look, and is seen all the same', async () => {
  const { ground, path, counts, object, end } = await followed()
  const before = counts()
  await ground.call('PATCH', `${path}/status`, { status: { conditions: [{ type: 'Ready', status: 'False' }] } })
  await ground.pass(1_000)
  assert.deepEqual(counts(), before)
  assert.deepEqual(at(object()?.object, 'status', 'conditions'), [{ type: 'Ready', status: 'False' }])
  await end()
})

test('an object that says something else, or that is being deleted, makes its shard look; only one that names something else divides anew', async () => {
  const { ground, path, counts, object, end } = await followed()
  const before = counts()
  await ground.call('PATCH', path, { spec: { forProvider: { onBoot: false } } })
  await ground.pass(1_000)
  assert.deepEqual(counts(), { changes: before.changes, told: before.told + 1 })
  await ground.call('PATCH', path, { metadata: { annotations: { 'crossplane.io/paused': 'true' } } })
  await ground.pass(1_000)
  assert.deepEqual(counts(), { changes: before.changes, told: before.told + 2 })
  assert.equal(at(object()?.object, 'metadata', 'annotations', 'crossplane.io/paused'), 'true')
  await ground.call('PATCH', path, { metadata: { annotations: { 'croft.dev/depends-on': 'EnvironmentVM/other' } } })
  await ground.pass(1_000)
  assert.deepEqual(counts(), { changes: before.changes + 1, told: before.told + 3 })
  await ground.call('DELETE', path)
  await ground.pass(1_000)
  assert.equal(counts().told, before.told + 4)
  assert.equal(object()?.deleting ?? true, true)
  await end()
})
