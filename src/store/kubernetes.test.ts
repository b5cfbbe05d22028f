import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KubernetesLab, oneApi } from '../../sim/testing/kubernetes-lab.ts'
import { createKubernetesClient } from '../kubernetes/client.ts'
import { seededRandom } from '../lib/random.ts'
import { type Wire, WireFailure } from '../lib/wire.ts'
import { DEFAULT_POLICY } from '../model/declaration.ts'
import type { ResourceRecord } from '../model/record.ts'
import { openKubernetesStore } from './kubernetes.ts'
import { StaleEpoch } from './port.ts'
import { storeConformance } from './testing/conformance.ts'

let shared: Promise<KubernetesLab> | undefined
let places = 0

storeConformance('Kubernetes (simulated API)', async () => {
  shared ??= oneApi()
  const { wire } = await shared
  const name = `conformance-${places++}`
  const random = seededRandom(places)
  return {
    open: async () => storeOn(wire(), name, random),
    remove: async () => {},
  }
})

test('a pass that changes nothing writes nothing', async () => {
  const { wire, calls } = await oneApi()
  const store = storeOn(wire())
  const epoch = await store.beginEpoch()
  await store.putRecords(epoch, [record('EnvironmentVM/a')])
  await store.putValue(epoch, 'revision', 'r1')
  await store.markComplete(epoch)
  calls.length = 0
  await store.putRecords(epoch, [record('EnvironmentVM/a')])
  await store.putValue(epoch, 'revision', 'r1')
  await store.markComplete(epoch)
  await store.appendEvents(epoch, [])
  await store.settle(epoch, 'nothing')
  assert.deepEqual(
    calls.filter((call) => !call.startsWith('GET ')),
    [],
  )
})

test('one read of the head serves all who ask at once, and nobody gets an answer from before he asked', async () => {
  const { wire, calls } = await oneApi()
  const store = storeOn(wire())
  const epoch = await store.beginEpoch()
  await store.putRecords(epoch, [record('EnvironmentVM/a')])
  const heads = () =>
    calls.splice(0).filter((call) => call.startsWith('GET ') && call.endsWith('/configmaps/croft')).length
  heads()
  await Promise.all([store.records(), store.intentions(), store.isFresh(), store.valueNames()])
  assert.equal(heads(), 1)
  // The first answer is in flight while another handle writes: a read after that write returns the new value.
  let release = () => {}
  const held = new Promise<void>((over) => {
    release = over
  })
  let holding = true
  const base = wire()
  const slow = storeOn({
    ...base,
    async send(request, signal) {
      const answer = await base.send(request, signal)
      if (holding && request.path.endsWith('/configmaps/croft')) await held
      return answer
    },
  })
  const early = slow.records()
  await store.records()
  await store.putRecords(epoch, [record('EnvironmentVM/b')])
  holding = false
  const late = slow.records()
  await store.records()
  release()
  assert.deepEqual([(await early).length, (await late).length], [1, 2])
})

test('[F-20] a writer that was paused in the middle of a write cannot end it once another has begun an epoch', async () => {
  const { wire, lab } = await oneApi()
  const old = await openEpoch(wire())
  let go = () => {}
  const paused = new Promise<void>((resolve) => {
    go = resolve
  })
  let stopped = () => {}
  const atPause = new Promise<void>((resolve) => {
    stopped = resolve
  })
  const base = wire()
  const slow = storeOn({
    ...base,
    async send(request, signal) {
      if (request.method === 'PATCH') {
        stopped()
        await paused
      }
      return base.send(request, signal)
    },
  })
  const writing = slow.putRecords(old.epoch, [record('EnvironmentVM/late')])
  await atPause
  const next = await openEpoch(wire())
  go()
  await assert.rejects(writing, StaleEpoch)
  assert.deepEqual(await next.store.records(), [])
  await next.store.putValue(next.epoch, 'revision', 'r')
  const names = [...(lab.cluster().store.tables.get('/configmaps')?.keys() ?? [])].filter((one) => /croft/.test(one))
  assert.equal(names.length, 2, `the head and one value: ${names.join(', ')}`)
})

test('[F-04] a write without an answer counts once, whether it arrived or not', async () => {
  for (const arrives of [true, false]) {
    const { wire } = await oneApi()
    const base = wire()
    let lose = 1
    const store = storeOn({
      ...base,
      async send(request, signal) {
        if (request.method !== 'PATCH' || lose-- <= 0) return base.send(request, signal)
        if (arrives) await base.send(request, signal)
        throw new WireFailure('maybe', 'ECONNRESET', 'connection reset by peer')
      },
    })
    const epoch = await store.beginEpoch()
    const [first] = await store.appendEvents(epoch, [{ atMs: 1, type: 'Normal', reason: 'Tested', message: 'once' }])
    assert.deepEqual(await store.events({}), [first])
    assert.equal(first?.seq, 1)
  }
})

test('what a writer left behind in the middle goes with the next epoch, and nothing else does', async () => {
  const { wire, lab } = await oneApi()
  const base = wire()
  const dying = storeOn({
    ...base,
    send: (request, signal) =>
      request.method === 'PATCH'
        ? Promise.reject(new WireFailure('no', 'ECONNREFUSED', 'refused'))
        : base.send(request, signal),
  })
  const epoch = await dying.beginEpoch()
  await assert.rejects(dying.putRecords(epoch, [record('EnvironmentVM/a')]), /refused/)
  const maps = () =>
    [...(lab.cluster().store.tables.get('/configmaps')?.keys() ?? [])].filter((one) => one.includes('/croft'))
  assert.equal(maps().length, 2)
  const { store, epoch: next } = await openEpoch(wire())
  assert.equal(maps().length, 1)
  await store.putRecords(next, [record('EnvironmentVM/a')])
  await openEpoch(wire())
  assert.equal((await store.records()).length, 1)
})

test('a head that somebody deleted ends the writer, and one that somebody overwrote is not taken for empty', async () => {
  const { wire, lab } = await oneApi()
  const { store, epoch } = await openEpoch(wire())
  const path = '/api/v1/namespaces/default/configmaps/croft'
  await lab.call('PATCH', path, { data: { head: 'mine' } })
  await assert.rejects(store.records(), /is not a store of croft/)
  await lab.call('DELETE', path)
  await assert.rejects(store.putValue(epoch, 'a', 'b'), StaleEpoch)
})

async function openEpoch(wire: Wire) {
  const store = storeOn(wire)
  return { store, epoch: await store.beginEpoch() }
}

function storeOn(wire: Wire, name = 'croft', random = seededRandom(7)) {
  return openKubernetesStore({ client: createKubernetesClient(wire), namespace: 'default', name, random })
}

function record(key: string): ResourceRecord {
  return {
    key,
    uid: '0123456789abcdef',
    connection: 'default',
    type: 'vm',
    generation: 'g1',
    policy: DEFAULT_POLICY,
    conditions: [],
    createdMs: 1,
    status: 'Running',
  }
}
