import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KubernetesLab, oneApi } from '../../sim/testing/kubernetes-lab.ts'
import { seededRandom } from '../lib/random.ts'
import { type Wire, WireFailure } from '../lib/wire.ts'
import { createKubernetesClient } from './client.ts'
import { createInformer, type Informer } from './informer.ts'
import { at } from './objects.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'

interface Following {
  readonly informer: Informer
  changes(): number
  stop(): Promise<void>
}

async function follow({ lab, wire }: KubernetesLab, path = MAPS, given: Wire = wire()): Promise<Following> {
  let changes = 0
  const informer = createInformer({
    client: createKubernetesClient(given),
    wire: given,
    clock: lab.clock,
    random: seededRandom(1),
    path,
    onChange: () => void changes++,
  })
  const stop = new AbortController()
  const running = informer.run(stop.signal)
  await lab.until(() => informer.synced())
  return {
    informer,
    changes: () => changes,
    async stop() {
      stop.abort()
      await lab.clock.runUntil(running)
    },
  }
}

const make = ({ lab }: KubernetesLab, name: string, data: object = {}) =>
  lab.call('POST', MAPS, { metadata: { name }, data })

const lists = ({ calls }: KubernetesLab) =>
  calls.filter((call) => call.includes('/configmaps?') && !call.includes('watch=true')).length

test('one list, then every change, through watches that the server ends again and again', async () => {
  const api = await oneApi()
  await make(api, 'one', { a: '1' })
  const following = await follow(api)
  const listed = lists(api)
  assert.ok(following.informer.objects().has('default/one'))
  for (let round = 0; round < 4; round++) {
    await make(api, `more-${round}`)
    await api.lab.call('PATCH', `${MAPS}/one`, { data: { a: `${round + 2}` } })
    await api.lab.until(
      () => at(following.informer.objects().get('default/one'), 'data', 'a') === `${round + 2}`,
      2_000,
    )
    await api.lab.pass(310_000)
  }
  await api.lab.call('DELETE', `${MAPS}/one`)
  await api.lab.until(() => !following.informer.objects().has('default/one'), 2_000)
  assert.equal(lists(api), listed, 'no second list')
  assert.ok(following.informer.objects().has('default/more-3'))
  await following.stop()
})

test('a place that the server has forgotten is left by a new list, and what went meanwhile is gone', async () => {
  const api = await oneApi()
  await make(api, 'goes')
  await make(api, 'stays')
  let cut = false
  const base = api.wire()
  const following = await follow(api, MAPS, {
    ...base,
    stream: (request, onText, signal) => {
      if (cut) throw new WireFailure('no', 'ECONNREFUSED', 'refused')
      return base.stream?.(request, onText, signal) ?? Promise.reject(new Error('no stream'))
    },
  })
  const listed = lists(api)
  cut = true
  await api.lab.pass(310_000)
  await api.lab.call('DELETE', `${MAPS}/goes`)
  api.lab.cluster().store.compacted = api.lab.cluster().store.revision
  await make(api, 'comes')
  cut = false
  await api.lab.until(() => following.informer.objects().has('default/comes'), 60_000)
  assert.equal(following.informer.objects().has('default/goes'), false)
  assert.ok(lists(api) > listed)
  await following.stop()
})

test('a broken connection is taken up where it broke, with pauses that grow', async () => {
  const api = await oneApi()
  const base = api.wire()
  let broken = false
  let attempts = 0
  const following = await follow(api, MAPS, {
    ...base,
    stream: (request, onText, signal) => {
      attempts++
      if (broken) return Promise.reject(new WireFailure('maybe', 'ECONNRESET', 'connection reset by peer'))
      return base.stream?.(request, onText, signal) ?? Promise.reject(new Error('no stream'))
    },
  })
  const listed = lists(api)
  broken = true
  await api.lab.pass(310_000)
  attempts = 0
  await make(api, 'meanwhile')
  await api.lab.pass(300_000)
  assert.ok(attempts > 3 && attempts < 20, `${attempts}`)
  assert.match(following.informer.trouble() ?? '', /reset/)
  broken = false
  await api.lab.until(() => following.informer.objects().has('default/meanwhile'), 60_000)
  assert.equal(lists(api), listed, 'no second list')
  await following.stop()
})

test('a connection that died without a word is left when the server should have ended the watch', async () => {
  const api = await oneApi()
  const base = api.wire()
  let dead = true
  const following = await follow(api, MAPS, {
    ...base,
    stream: (request, onText, signal) => {
      if (!dead) return base.stream?.(request, onText, signal) ?? Promise.reject(new Error('no stream'))
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new WireFailure('maybe', 'ABORTED', 'called off'))),
      )
    },
  })
  await make(api, 'unseen')
  await api.lab.pass(250_000)
  assert.equal(following.informer.objects().has('default/unseen'), false)
  dead = false
  await api.lab.until(() => following.informer.objects().has('default/unseen'), 120_000)
  await following.stop()
})

for (const goes of [false, true]) {
  const why = goes
    ? 'one went just before, so it may be declared still, for a while'
    : 'what was there is what there was'
  test(`objects of a kind that is served no more are unknown, not gone: ${why}`, async () => {
    const api = await oneApi()
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const definition = {
      metadata: { name: 'widgets.example.org' },
      spec: {
        group: 'example.org',
        scope: 'Cluster',
        names: { plural: 'widgets', kind: 'Widget', singular: 'widget' },
        versions: [{ name: 'v1', served: true, storage: true }],
      },
    }
    const widgets = '/apis/example.org/v1/widgets'
    await api.lab.call('POST', definitions, definition)
    await api.lab.pass(1_000)
    const one = { apiVersion: 'example.org/v1', kind: 'Widget', metadata: { name: 'one' } }
    if (goes) await api.lab.call('POST', widgets, one)
    const following = await follow(api, widgets)
    assert.equal(following.informer.objects().size, goes ? 1 : 0)
    if (goes) await api.lab.call('DELETE', `${widgets}/one`)
    await api.lab.pass(1_000)
    await api.lab.call('DELETE', `${definitions}/widgets.example.org`)
    await api.lab.until(() => !following.informer.synced(), 600_000)
    assert.equal(following.informer.vanished(), !goes)
    await api.lab.pass(700_000)
    assert.equal(following.informer.vanished(), true, 'whoever deletes a definition with its objects is done by now')
    await api.lab.call('POST', definitions, definition)
    await api.lab.until(() => following.informer.synced(), 600_000)
    assert.equal(following.informer.vanished(), false)
    await following.stop()
  })
}

test('what a write answered is taken, unless the watch was faster', async () => {
  const api = await oneApi()
  await make(api, 'one', { a: '1' })
  const following = await follow(api)
  const { informer } = following
  const now = informer.objects().get('default/one') ?? {}
  const version = Number(at(now, 'metadata', 'resourceVersion'))
  const as = (resourceVersion: number, a: string) => ({
    metadata: { name: 'one', namespace: 'default', resourceVersion: `${resourceVersion}` },
    data: { a },
  })
  informer.note(as(version + 5, 'newer'))
  informer.note(as(version, 'older'))
  assert.equal(at(informer.objects().get('default/one'), 'data', 'a'), 'newer')
  await following.stop()
})

test('who wrote which field is not kept, whether a list, a watch or a write brought the object', async () => {
  const api = await oneApi()
  const apply = (name: string, value: string) =>
    api.lab.call(
      'PATCH',
      `${MAPS}/${name}?fieldManager=somebody`,
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name },
        data: { a: value },
      },
      { 'Content-Type': 'application/apply-patch+yaml' },
    )
  await apply('listed', '1')
  const following = await follow(api)
  await apply('watched', '1')
  await api.lab.until(() => following.informer.objects().has('default/watched'), 2_000)
  const written = JSON.parse((await apply('listed', '2')).body)
  following.informer.note(written)
  assert.ok(at(written, 'metadata', 'managedFields') !== undefined)
  assert.equal(at(following.informer.objects().get('default/listed'), 'data', 'a'), '2')
  for (const name of ['listed', 'watched']) {
    const object = following.informer.objects().get(`default/${name}`)
    assert.ok(object)
    assert.equal(at(object, 'metadata', 'managedFields'), undefined, name)
    assert.equal(at(object, 'metadata', 'name'), name)
  }
  await following.stop()
})
