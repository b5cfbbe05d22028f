import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LIMITS } from '../../lib/limits.ts'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import type { CoordinatedIntention, Intention, NewEvent, ResourceRecord, ThingIntention } from '../../model/record.ts'
import { StaleEpoch, type Store } from '../port.ts'

/** The data of a store. Each `open` is a new handle on the same data, like a second or restarted process. */
export interface StorePlace {
  open(): Promise<Store>
  remove(): Promise<void>
}

/** Every sentence of the store port as a test. An implementation is one when it passes. */
export function storeConformance(
  name: string,
  createPlace: () => Promise<StorePlace>,
  /** An epoch counts only on the handle that began it: several stores as one have no number of their own on disk. */
  epochs: 'shared' | 'of one handle' = 'shared',
): void {
  const rule = (title: string, body: (store: Store, place: StorePlace) => Promise<void>) => {
    test(title, async () => {
      const place = await createPlace()
      const store = await place.open()
      try {
        await body(store, place)
      } finally {
        await store.close()
        await place.remove()
      }
    })
  }

  describe(`store conformance: ${name}`, () => {
    describe('epochs', () => {
      rule('each epoch is greater than the one before, also from another handle', async (store, place) => {
        const first = await store.beginEpoch()
        const second = await store.beginEpoch()
        const other = await place.open()
        const third = await other.beginEpoch()
        await other.close()
        assert.ok(first > 0 && second > first && third > second, `${first}, ${second}, ${third}`)
      })

      for (const [write, attempt] of writes()) {
        rule(`${write} is refused once a newer epoch has begun, and changes nothing`, async (store, place) => {
          const old = await store.beginEpoch()
          await fill(store, old)
          const other = await place.open()
          const current = await other.beginEpoch()
          const before = await everything(other)
          await assert.rejects(attempt(store, old), StaleEpoch)
          assert.deepEqual(await everything(other), before)
          await attempt(other, current)
          assert.notDeepEqual(await everything(other), before, 'the same write of the current epoch goes through')
          await other.close()
        })

        rule(`${write} is refused for an epoch that has not begun`, async (store) => {
          const epoch = await store.beginEpoch()
          await assert.rejects(attempt(store, epoch + 1), StaleEpoch)
        })
      }

      rule('writes are refused before any epoch has begun', async (store) => {
        await assert.rejects(store.putValue(1, 'a', 'b'), StaleEpoch)
      })

      rule('beginning an epoch keeps all that is there', async (store) => {
        await fill(store, await store.beginEpoch())
        const before = await everything(store)
        await store.beginEpoch()
        assert.deepEqual(await everything(store), before)
      })
    })

    describe('freshness', () => {
      rule('a new store is fresh, whatever was written, until a pass is complete', async (store, place) => {
        assert.equal(await store.isFresh(), true)
        const epoch = await store.beginEpoch()
        await store.putRecords(epoch, [record('EnvironmentVM/a')])
        assert.equal(await store.isFresh(), true)
        await store.markComplete(epoch)
        assert.equal(await store.isFresh(), false)
        await store.close()
        const again = await place.open()
        assert.equal(await again.isFresh(), false)
        await again.close()
      })
    })

    describe('intentions', () => {
      rule('an intention is there for another process as soon as intend resolves', async (store, place) => {
        const epoch = await store.beginEpoch()
        await store.intend(epoch, intention('1'))
        const other = await place.open()
        assert.deepEqual(await other.intentions(), [intention('1')])
        await other.close()
      })

      rule('they come back in the order in which they were written, past a restart', async (store, place) => {
        const epoch = await store.beginEpoch()
        for (const id of ['c', 'a', 'b']) await store.intend(epoch, intention(id))
        await store.close()
        const again = await place.open()
        assert.deepEqual(ids(await again.intentions()), ['c', 'a', 'b'])
        await again.close()
      })

      rule('the same id again replaces what was written, in its place', async (store) => {
        const epoch = await store.beginEpoch()
        for (const id of ['a', 'b']) await store.intend(epoch, intention(id))
        await store.intend(epoch, { ...intention('a'), externalId: '115' })
        assert.deepEqual(await store.intentions(), [{ ...intention('a'), externalId: '115' }, intention('b')])
      })

      rule('those of clusters and Powers come back as they were written, past a restart', async (store, place) => {
        const epoch = await store.beginEpoch()
        const begun = { epoch, key: 'Cluster/homelab', atMs: 1, state: 'intended' } as const
        const step = { node: 'n1', lane: 'node-program', summary: 's', awaits: 'a' } as const
        const all: readonly CoordinatedIntention[] = [
          { ...begun, id: 'a', step: { ...step, about: 'cluster', verb: 'stop-k3s', reason: '', sinceMs: 1 } },
          { ...begun, id: 'b', step: { ...step, about: 'power', verb: 'stop-k3s', tier: 'servers' } },
          { ...begun, id: 'c', step: { ...step, about: 'operation', verb: 'rotate-token' } },
        ]
        for (const one of all) await store.intend(epoch, one)
        await store.close()
        const again = await place.open()
        assert.deepEqual(await again.intentions(), all)
        await again.close()
      })

      rule('a noted task makes it started and changes nothing else', async (store, place) => {
        const epoch = await store.beginEpoch()
        await store.intend(epoch, intention('a'))
        await store.intend(epoch, intention('b'))
        await store.noteTask(epoch, 'a', TASK)
        const other = await place.open()
        assert.deepEqual(await other.intentions(), [
          { ...intention('a'), state: 'started', taskId: TASK },
          intention('b'),
        ])
        await other.close()
      })

      rule('a task for an intention that is not there is refused', async (store) => {
        const epoch = await store.beginEpoch()
        await assert.rejects(store.noteTask(epoch, 'nobody', TASK), /no intention nobody/)
      })

      rule('a settled one is gone; settling again is not an error; the others stay', async (store) => {
        const epoch = await store.beginEpoch()
        await store.intend(epoch, intention('a'))
        await store.intend(epoch, intention('b'))
        await store.settle(epoch, 'a')
        await store.settle(epoch, 'a')
        assert.deepEqual(ids(await store.intentions()), ['b'])
      })
    })

    describe('records', () => {
      rule('they are found by key and listed in the order of their keys', async (store) => {
        const epoch = await store.beginEpoch()
        await store.putRecords(epoch, [record('EnvironmentVM/b'), record('EnvironmentVM/a')])
        await store.putRecords(epoch, [record('EnvironmentVM/B')])
        assert.deepEqual(await store.records(), [
          record('EnvironmentVM/B'),
          record('EnvironmentVM/a'),
          record('EnvironmentVM/b'),
        ])
        assert.deepEqual(await store.record('EnvironmentVM/b'), record('EnvironmentVM/b'))
        assert.equal(await store.record('EnvironmentVM/c'), undefined)
      })

      rule('a record replaces the one of the same key as a whole', async (store) => {
        const epoch = await store.beginEpoch()
        await store.putRecords(epoch, [{ ...record('EnvironmentVM/a'), host: 'still-fawn' }])
        await store.putRecords(epoch, [record('EnvironmentVM/a')])
        assert.deepEqual(await store.records(), [record('EnvironmentVM/a')])
      })

      rule('a dropped record is gone, and dropping what is not there is no error', async (store) => {
        const epoch = await store.beginEpoch()
        await store.putRecords(epoch, [record('EnvironmentVM/a'), record('EnvironmentVM/b')])
        await store.dropRecord(epoch, 'EnvironmentVM/a')
        await store.dropRecord(epoch, 'EnvironmentVM/a')
        assert.deepEqual(await store.records(), [record('EnvironmentVM/b')])
      })

      rule('many are put all or none', async (store) => {
        const epoch = await store.beginEpoch()
        const unwritable = { ...record('EnvironmentVM/b'), details: { toJSON: fail } } as unknown as ResourceRecord
        await assert.rejects(store.putRecords(epoch, [record('EnvironmentVM/a'), unwritable]), /cannot be written/)
        assert.deepEqual(await store.records(), [])
        await store.putRecords(epoch, [])
        assert.deepEqual(await store.records(), [])
      })
    })

    describe('events', () => {
      rule('they are numbered upward, answered as kept, and listed oldest first', async (store, place) => {
        const epoch = await store.beginEpoch()
        const first = await store.appendEvents(epoch, [event('one'), event('two')])
        const second = await store.appendEvents(epoch, [event('three')])
        const appended = [...first, ...second]
        assert.deepEqual(
          appended.map(({ message }) => message),
          ['one', 'two', 'three'],
        )
        for (const [index, { seq }] of appended.entries()) assert.ok(seq > (appended[index - 1]?.seq ?? 0))
        assert.deepEqual(await store.events({}), appended)
        await store.close()
        const again = await place.open()
        assert.deepEqual(await again.events({}), appended)
        await again.close()
      })

      rule('nothing appended is nothing written', async (store) => {
        const epoch = await store.beginEpoch()
        assert.deepEqual(await store.appendEvents(epoch, []), [])
        assert.deepEqual(await store.events({}), [])
      })

      rule('a filter picks one resource, what came later, and so many', async (store) => {
        const epoch = await store.beginEpoch()
        const [a1, b1, none, a2, a3] = await store.appendEvents(epoch, [
          event('a1', 'EnvironmentVM/a'),
          event('b1', 'EnvironmentVM/b'),
          event('none'),
          event('a2', 'EnvironmentVM/a'),
          event('a3', 'EnvironmentVM/a'),
        ])
        assert.ok(a1 && b1 && none && a2 && a3)
        assert.deepEqual(await store.events({ key: 'EnvironmentVM/a' }), [a1, a2, a3])
        assert.deepEqual(await store.events({ key: 'EnvironmentVM/none' }), [])
        assert.deepEqual(await store.events({ afterSeq: none.seq }), [a2, a3])
        assert.deepEqual(await store.events({ limit: 2 }), [a2, a3], 'the newest')
        assert.deepEqual(await store.events({ afterSeq: 0, limit: 2 }), [a1, b1], 'the next page')
        assert.deepEqual(await store.events({ key: 'EnvironmentVM/a', afterSeq: a1.seq, limit: 1 }), [a2])
        assert.deepEqual(await store.events({ limit: 0 }), [])
        assert.deepEqual(await store.events({ afterSeq: a3.seq }), [])
      })

      rule('only the newest are kept, and their numbers go on', async (store) => {
        const epoch = await store.beginEpoch()
        const many = Array.from({ length: LIMITS.eventsKept }, (_, index) => event(String(index)))
        await store.appendEvents(epoch, many)
        const [next, last] = await store.appendEvents(epoch, [event('next'), event('last')])
        const kept = await store.events({ afterSeq: 0, limit: LIMITS.eventsKept + 100 })
        assert.equal(kept.length, LIMITS.eventsKept)
        assert.equal(kept[0]?.message, '2')
        assert.deepEqual(kept.slice(-2), [next, last])
        assert.equal(last?.seq, LIMITS.eventsKept + 2)
      })
    })

    describe('values', () => {
      rule('a value is kept by name, replaced by the next, and may hold any text', async (store, place) => {
        const epoch = await store.beginEpoch()
        assert.equal(await store.getValue('revision'), undefined)
        const texts = ['', 'a1b2c3d', 'zwölf ☃ 🦊', 'line\nline\ttab "quoted" \\', '__proto__']
        for (const text of texts) {
          await store.putValue(epoch, 'revision', text)
          assert.equal(await store.getValue('revision'), text)
        }
        await store.putValue(epoch, '__proto__', 'x')
        assert.equal(await store.getValue('constructor'), undefined)
        await store.close()
        const again = await place.open()
        assert.equal(await again.getValue('__proto__'), 'x')
        await again.close()
      })

      rule('the names of all values and orders are known', async (store) => {
        assert.deepEqual(await store.valueNames(), [])
        await store.putValue(await store.beginEpoch(), 'b/2', 'x')
        await store.putRequests('cluster-orders/a', '{}')
        assert.deepEqual(await store.valueNames(), ['b/2', 'cluster-orders/a'])
      })

      rule('a value beyond the limit is refused', async (store) => {
        const epoch = await store.beginEpoch()
        const long = 'x'.repeat(LIMITS.storedValueLength + 1)
        await assert.rejects(store.putValue(epoch, 'long', long), /too long/)
        await assert.rejects(store.keepValue(epoch, 'long', long), /too long/)
        assert.equal(await store.getValue('long'), undefined)
      })

      rule('a kept value is there for another process as soon as keepValue resolves', async (store, place) => {
        const epoch = await store.beginEpoch()
        await store.putValue(epoch, 'outbox', '{}')
        await store.keepValue(epoch, 'outbox', '{"phone":[]}')
        const other = await place.open()
        assert.equal(await other.getValue('outbox'), '{"phone":[]}')
        await other.close()
        await store.putValue(epoch, 'outbox', '{}')
        assert.equal(await store.getValue('outbox'), '{}')
      })
    })

    describe('handles', () => {
      rule('what is handed in and handed out is not what is kept', async (store) => {
        const epoch = await store.beginEpoch()
        const details = { ip: '10.0.0.1' }
        await store.putRecords(epoch, [{ ...record('EnvironmentVM/a'), details }])
        details.ip = 'changed by the writer'
        const handedOut = await store.record('EnvironmentVM/a')
        try {
          Object.assign(handedOut?.details ?? {}, { ip: 'changed by a reader' })
        } catch (error) {
          assert.ok(error instanceof TypeError, 'frozen')
        }
        assert.deepEqual((await store.record('EnvironmentVM/a'))?.details, { ip: '10.0.0.1' })
      })

      rule('two handles see each other at once', async (store, place) => {
        const other = await place.open()
        const epoch = await store.beginEpoch()
        await fill(store, epoch)
        assert.deepEqual(await everything(other), await everything(store))
        await other.putValue(epochs === 'shared' ? epoch : await other.beginEpoch(), 'from', 'the other')
        assert.equal(await store.getValue('from'), 'the other')
        await other.close()
        assert.equal(await store.getValue('from'), 'the other', 'closing one leaves the other open')
      })

      rule('a restart keeps everything', async (store, place) => {
        await fill(store, await store.beginEpoch())
        const before = await everything(store)
        await store.close()
        const again = await place.open()
        assert.deepEqual(await everything(again), before)
        await again.close()
      })

      rule('after close everything fails, and closing again is not an error', async (store) => {
        const epoch = await store.beginEpoch()
        await store.close()
        await store.close()
        for (const [, attempt] of writes()) await assert.rejects(attempt(store, epoch))
        await assert.rejects(store.beginEpoch())
        await assert.rejects(store.isFresh())
        await assert.rejects(store.intentions())
        await assert.rejects(store.records())
        await assert.rejects(store.record('EnvironmentVM/a'))
        await assert.rejects(store.events({}))
        await assert.rejects(store.getValue('a'))
      })
    })
  })
}

const TASK = 'UPID:fun-bedbug:0000A1B2:00C3D4E5:68F00000:qmcreate:114:root@pam!croft:'

/** All writing calls. Each changes values that `fill` has stored. */
function writes(): readonly (readonly [string, (store: Store, epoch: number) => Promise<unknown>])[] {
  return [
    ['markComplete', (store, epoch) => store.markComplete(epoch)],
    ['intend', (store, epoch) => store.intend(epoch, intention('new'))],
    ['noteTask', (store, epoch) => store.noteTask(epoch, 'filled', TASK)],
    ['settle', (store, epoch) => store.settle(epoch, 'filled')],
    ['putRecords', (store, epoch) => store.putRecords(epoch, [record('EnvironmentVM/new')])],
    ['dropRecord', (store, epoch) => store.dropRecord(epoch, 'EnvironmentVM/filled')],
    ['appendEvents', (store, epoch) => store.appendEvents(epoch, [event('new')])],
    ['putValue', (store, epoch) => store.putValue(epoch, 'new', 'value')],
    ['keepValue', (store, epoch) => store.keepValue(epoch, 'new', 'value')],
  ]
}

async function fill(store: Store, epoch: number): Promise<void> {
  await store.intend(epoch, intention('filled'))
  await store.putRecords(epoch, [record('EnvironmentVM/filled')])
  await store.appendEvents(epoch, [event('filled', 'EnvironmentVM/filled')])
  await store.putValue(epoch, 'filled', 'value')
}

async function everything(store: Store): Promise<unknown> {
  return {
    fresh: await store.isFresh(),
    intentions: await store.intentions(),
    records: await store.records(),
    events: await store.events({}),
    values: [await store.getValue('filled'), await store.getValue('new')],
  }
}

function intention(id: string): ThingIntention {
  return {
    id,
    epoch: 1,
    key: 'EnvironmentVM/k3s-vm-fun-bedbug',
    uid: '0123456789abcdef',
    connection: 'default',
    externalId: '114',
    host: 'fun-bedbug',
    step: {
      verb: 'create',
      summary: 'create 114 on fun-bedbug',
      lane: 'rest',
      host: 'fun-bedbug',
      queues: ['host/fun-bedbug'],
      call: { method: 'POST', path: '/nodes/fun-bedbug/qemu', params: { vmid: '114', name: 'zwölf' } },
      disruption: 'none',
    },
    generation: 'g1',
    atMs: 1_760_000_000_000,
    state: 'intended',
  }
}

function record(key: string): ResourceRecord {
  return {
    key,
    uid: '0123456789abcdef',
    connection: 'default',
    type: 'vm',
    generation: 'g1',
    policy: DEFAULT_POLICY,
    conditions: [{ type: 'Ready', status: 'True', reason: 'Running', message: 'runs', sinceMs: 1_760_000_000_000 }],
    createdMs: 1_760_000_000_000,
    status: 'Running',
  }
}

function event(message: string, key?: string): NewEvent {
  return { atMs: 1_760_000_000_000, type: 'Normal', reason: 'Tested', message, ...(key === undefined ? {} : { key }) }
}

function ids(intentions: readonly Intention[]): string[] {
  return intentions.map(({ id }) => id)
}

function fail(): never {
  throw new Error('cannot be written')
}
