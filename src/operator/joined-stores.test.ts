import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_POLICY } from '../model/declaration.ts'
import type { ResourceRecord } from '../model/record.ts'
import { createMemoryStore } from '../store/memory.ts'
import { StaleEpoch } from '../store/port.ts'
import { storeConformance } from '../store/testing/conformance.ts'
import { joinStores } from './joined-stores.ts'

storeConformance(
  'two stores as one',
  async () => {
    const disks = [createMemoryStore().disk, createMemoryStore().disk] as const
    return {
      open: async () =>
        joinStores([
          { name: 'fun-bedbug', store: createMemoryStore(disks[0]) },
          { name: 'proxmox', store: createMemoryStore(disks[1]) },
        ]),
      remove: async () => {},
    }
  },
  'of one handle',
)

function record(key: string, connection: string): ResourceRecord {
  return {
    key,
    uid: key,
    connection,
    type: 'vm',
    generation: 'g',
    policy: DEFAULT_POLICY,
    conditions: [],
    createdMs: 0,
    status: 'Running',
  }
}

test('what is about a connection lies in its own store, and moves with it', async () => {
  const [a, b] = [createMemoryStore(), createMemoryStore()]
  const both = joinStores([
    { name: 'a', store: a },
    { name: 'b', store: b },
  ])
  const epoch = await both.beginEpoch()
  await both.putRecords(epoch, [record('VM/1', 'a'), record('VM/2', 'b')])
  await both.putValue(epoch, 'objects', '["VM/1","VM/2"]')
  assert.deepEqual([...a.disk.records.keys()], ['VM/1'])
  assert.deepEqual([...b.disk.records.keys()], ['VM/2'])
  assert.equal(await b.getValue('objects'), '["VM/1","VM/2"]', 'each knows it when they part')
  await both.putRecords(epoch, [record('VM/1', 'b')])
  assert.deepEqual([...a.disk.records.keys()], [])
  assert.deepEqual([...b.disk.records.keys()].toSorted(), ['VM/1', 'VM/2'])
})

test('[F-20] whoever begins an epoch on one of them ends the writes of those who use them as one', async () => {
  const [a, b] = [createMemoryStore(), createMemoryStore()]
  const both = joinStores([
    { name: 'a', store: a },
    { name: 'b', store: b },
  ])
  const epoch = await both.beginEpoch()
  await b.beginEpoch()
  await assert.rejects(both.putRecords(epoch, [record('VM/2', 'b')]), StaleEpoch)
  await assert.rejects(both.putValue(epoch, 'x', 'y'), StaleEpoch)
})
