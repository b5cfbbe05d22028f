import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import type { ClusterDeclaration, Estate } from '../../model/estate.ts'
import { NO_REQUESTS } from '../../model/observed-cluster.ts'
import { NO_POWER_REQUESTS } from '../../model/power.ts'
import { createMemoryStore } from '../../store/memory.ts'
import { changeCluster, changePower, createRequests } from './requests.ts'

const NOW = 1_760_000_000_000
const anna = { name: 'page:anna', from: 'page' } as const
const node = (name: string, role: 'server' | 'agent') => ({ name, role, labels: {}, taints: [], flags: {} })
const cluster = {
  key: 'Cluster/edge',
  name: 'edge',
  spec: {
    name: 'edge',
    version: 'v1.34.3+k3s1',
    servers: [node('edge-1', 'server'), node('edge-2', 'server')],
    agents: [node('edge-w', 'agent')],
  },
} as unknown as ClusterDeclaration
const wish = (order: 'pause' | 'resume' | 'replace' | 'remove-member' | 'snapshot', more: object = {}) =>
  ({ wish: 'cluster', cluster: 'edge', order, ...more }) as const

function desk(more: { readonly powers?: boolean; readonly snapshots?: string[] } = {}) {
  const store = createMemoryStore()
  const estate = {
    clusters: [cluster],
    ...(more.powers === true ? { powers: [{ name: 'rack' }] } : {}),
  } as unknown as Estate
  const request = createRequests({
    clock: createVirtualClock(NOW),
    store,
    estate: () => estate,
    ...(more.snapshots === undefined
      ? {}
      : {
          snapshot: async ({ name }) => {
            more.snapshots?.push(name)
            return { ok: true, message: 'taken' }
          },
        }),
  })
  const kept = async (name: string) => JSON.parse((await store.getValue(name)) ?? 'null') as unknown
  return { request, kept }
}

describe('requests for clusters', () => {
  test('go where the commands leave theirs, and add up', async () => {
    const { request, kept } = desk()
    assert.equal((await request(wish('pause'), anna)).ok, true)
    assert.equal((await request(wish('replace', { node: 'edge-2' }), anna)).ok, true)
    assert.deepEqual(await kept('cluster-orders/edge'), {
      ...NO_REQUESTS,
      rolloutPaused: true,
      replace: [{ node: 'edge-2', atMs: NOW, goes: 'unseen' }],
    })
  })

  test('what cannot be meant is refused and nothing is kept', async () => {
    const { request, kept } = desk()
    for (const [asked, reason] of [
      [wish('replace', { node: 'stranger' }), 'not-found'],
      [wish('replace'), 'not-found'],
      [wish('remove-member', { member: '../..' }), 'refused'],
      [wish('snapshot'), 'refused'],
      [{ ...wish('pause'), cluster: 'other' }, 'not-found'],
    ] as const) {
      const granted = await request(asked, anna)
      assert.ok(!granted.ok && granted.reason === reason, JSON.stringify([asked, granted]))
    }
    assert.equal(await kept('cluster-orders/edge'), null)
  })

  test('a snapshot is taken at once by whoever can', async () => {
    const snapshots: string[] = []
    assert.deepEqual(await desk({ snapshots }).request(wish('snapshot'), anna), { ok: true, message: 'taken' })
    assert.deepEqual(snapshots, ['edge'])
  })

  test('to resume takes an abort back', () => {
    const changed = changeCluster(
      { ...NO_REQUESTS, rolloutAborted: 'x', rolloutPaused: true },
      wish('resume'),
      cluster,
      NOW,
    )
    assert.deepEqual('requests' in changed ? changed.requests : changed, { ...NO_REQUESTS, resumedMs: NOW })
  })
})

describe('requests for power', () => {
  const power = (order: 'on' | 'off' | 'hold' | 'release', more: object = {}) =>
    ({ wish: 'power', target: 'rack', order, ...more }) as const

  test('without a Power nothing is kept, and it is said', async () => {
    const { request, kept } = desk()
    const granted = await request(power('off'), anna)
    assert.ok(!granted.ok && granted.message.includes('no Power is declared'))
    assert.equal(await kept('power-orders/rack'), null)
  })

  test('with one they are kept with who and why', async () => {
    const { request, kept } = desk({ powers: true })
    assert.equal((await request(power('off', { reason: 'holidays' }), anna)).ok, true)
    assert.deepEqual(await kept('power-orders/rack'), {
      holds: [],
      wanted: { state: 'off', by: 'page:anna', why: 'holidays', atMs: NOW },
    })
  })

  test('a hold ends by itself, is one for each person, and is released by its owner first', () => {
    const held = changePower(NO_POWER_REQUESTS, power('hold', { untilMs: NOW + 400 * 86_400_000 }), 'page:anna', NOW)
    assert.ok('requests' in held)
    assert.ok((held.requests.holds[0]?.untilMs ?? 0) < NOW + 400 * 86_400_000)
    const both = changePower(held.requests, power('hold'), 'page:ben', NOW)
    assert.ok('requests' in both && both.requests.holds.length === 2)
    const left = changePower(both.requests, power('release'), 'page:ben', NOW)
    assert.deepEqual('requests' in left ? left.requests.holds.map(({ by }) => by) : left, ['page:anna'])
    assert.ok('ok' in changePower(NO_POWER_REQUESTS, power('release'), 'page:ben', NOW))
    assert.ok('ok' in changePower(NO_POWER_REQUESTS, power('off', { untilMs: NOW - 1 }), 'page:ben', NOW))
  })
})
