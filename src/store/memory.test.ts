import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryStore } from './memory.ts'
import { storeConformance } from './testing/conformance.ts'

storeConformance('memory', async () => {
  const { disk } = createMemoryStore()
  return { open: async () => createMemoryStore(disk), remove: async () => {} }
})

test('[F-25] a snapshot is an older backup: later writes do not reach it, nor its writes the original', async () => {
  const store = createMemoryStore()
  const epoch = await store.beginEpoch()
  await store.putValue(epoch, 'revision', 'old')
  const backup = store.snapshot()
  await store.putValue(epoch, 'revision', 'new')
  const restored = createMemoryStore(backup)
  assert.equal(await restored.getValue('revision'), 'old')
  await restored.putValue(await restored.beginEpoch(), 'revision', 'restored')
  assert.equal(await store.getValue('revision'), 'new')
})
