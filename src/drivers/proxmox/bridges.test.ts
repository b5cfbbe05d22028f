import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Clock } from '../../lib/clock.ts'
import type { Resource, Survey } from '../../model/resource.ts'
import type { Api } from './api.ts'
import {
  bridgeObstacles,
  bridgesIn,
  createBridgeLook,
  isOnAll,
  movedCardObstacles,
  nodesToAsk,
  readBridges,
} from './bridges.ts'

const guest = (uid: string, host: string, bridges: readonly string[], more: Partial<Resource> = {}) =>
  ({ uid, desired: { type: 'vm', vm: { host, nics: bridges.map((bridge) => ({ bridge })) } }, ...more }) as Resource

const setting = (definition: string, id: string, host?: string) =>
  ({
    uid: id,
    desired: { type: 'setting', setting: { definition, id, ...(host === undefined ? {} : { scope: { host } }) } },
  }) as unknown as Resource

const survey = (marks: readonly string[] = [], bridges?: readonly string[]): Survey => ({
  connection: 'default',
  atMs: 0,
  hosts: [
    { name: 'pve1', online: true, ...(bridges === undefined ? {} : { bridges }) },
    { name: 'pve2', online: true },
    { name: 'pve3', online: false },
  ],
  storages: [],
  resources: marks.map((uid, at) => ({
    connection: 'default',
    type: 'vm',
    externalId: String(100 + at),
    host: 'pve1',
    mark: { uid },
  })) as Survey['resources'],
  tasks: [],
})

describe('which hosts are asked for their bridges', () => {
  const candidates = ['pve1', 'pve2'].map((node) => ({ host: node, node })) as never
  for (const [why, wanted, asked] of [
    ['a guest to be made', [guest('a', 'pve1', ['vmbr0'])], ['pve1']],
    ['one that is there and on its bridge', [guest('known', 'pve1', ['vmbr0'])], []],
    ['one that is to be on another', [guest('known', 'pve1', ['vmbr0', 'vmbr1'])], ['pve1']],
    ['one that nobody has read yet', [guest('unread', 'pve2', ['vmbr0'])], []],
    ['one without a network card', [guest('a', 'pve1', [])], []],
    ['a host that is off', [guest('a', 'pve3', ['vmbr0'])], []],
    ['two on one host', [guest('a', 'pve1', ['vmbr0']), guest('b', 'pve1', ['vmbr0'])], ['pve1']],
    ['wherever it may go', [guest('a', 'pve1', ['vmbr0'], { placement: { candidates, unfit: [] } })], ['pve1', 'pve2']],
    ['no guest', [setting('bridge', 'vmbr1', 'pve1')], []],
  ] as const)
    test(why, () => {
      const seen = new Map([['100', { net0: 'virtio=BC:24:11:00:00:01,bridge=vmbr0' }]])
      assert.deepEqual(nodesToAsk(wanted, survey(['known', 'unread']), seen), asked)
    })
})

test('the bridges in a configuration', () =>
  assert.deepEqual(
    [
      ...bridgesIn({
        net0: 'virtio=BC:24:11:00:00:01,bridge=vmbr1',
        net1: 'name=eth1,bridge=vmbr2',
        net2: 'e1000',
        name: 'bridge=x',
      }),
    ],
    ['vmbr1', 'vmbr2'],
  ))

test('whether each card is on its bridge, whatever else is said of it', () => {
  const config = { net0: 'virtio=BC:24:11:00:00:01,bridge=vmbr1,tag=7', net1: 'name=eth1,bridge=vmbr2', net2: 7 }
  const on = (slot: string, bridge: string) => isOnAll(config, [{ slot, bridge }])
  assert.deepEqual(
    [
      on('net0', 'vmbr1'),
      on('net1', 'vmbr2'),
      on('net0', 'vmbr'),
      on('net0', 'vmbr2'),
      on('net2', 'x'),
      on('net9', 'x'),
    ],
    [true, true, false, false, false, false],
  )
})

describe('a card that moves', () => {
  const vm = {
    host: 'pve1',
    nics: [
      { slot: 'net0', bridge: 'vmbr8' },
      { slot: 'net1', bridge: 'vmbr9' },
    ],
  }
  const here = survey([], ['vmbr0'])
  for (const [why, path, missing] of [
    ['to a bridge that is not there', 'nics.net1.bridge', ['vmbr9']],
    ['in, on a bridge that is not there', 'nics.net0', ['vmbr8']],
    ['in another way, is on its bridge already', 'nics.net1.firewall', []],
    ['not: something else does', 'memory.dedicatedMb', []],
  ] as const)
    test(why, () => {
      const obstacles = movedCardObstacles(vm, [{ path, from: undefined, to: undefined, effect: 'live' }], here)
      assert.deepEqual(
        obstacles.map(({ message }) => message),
        missing.map((bridge) => `a network card needs bridge ${bridge}, which is not on host pve1`),
      )
    })
})

describe('the bridges of a host', () => {
  const answer = [{ iface: 'vmbr1' }, { iface: 'vmbr0' }]
  for (const [why, said, wanted, bridges] of [
    ['as it answers', answer, [], ['vmbr0', 'vmbr1']],
    ['and what is declared for it', answer, [setting('bridge', 'vmbr2', 'pve1')], ['vmbr0', 'vmbr1', 'vmbr2']],
    ['not what is declared for another', answer, [setting('bridge', 'vmbr2', 'pve2')], ['vmbr0', 'vmbr1']],
    ['a vnet is on every host', answer, [setting('sdn-vnet', 'shop')], ['shop', 'vmbr0', 'vmbr1']],
    ['nothing shown says nothing', [], [setting('bridge', 'vmbr2', 'pve1')], undefined],
    ['no answer says nothing', undefined, [], undefined],
  ] as const)
    test(why, () => assert.deepEqual(readBridges('pve1', said, wanted), bridges))
})

describe('a bridge that is not there', () => {
  const on = (bridge: string) => ({ host: 'pve1', nics: [{ bridge }, { bridge }] })
  test('is named once, with the host and the bridges that are there', () => {
    const [obstacle, ...more] = bridgeObstacles(on('vmbr9'), survey([], ['vmbr0', 'vmbr1']))
    assert.equal(obstacle?.message, 'a network card needs bridge vmbr9, which is not on host pve1')
    assert.match(obstacle.allow, /^pve1 has vmbr0, vmbr1: choose .* declare a ProxmoxBridge vmbr9.* SDN\.Use on/)
    assert.deepEqual(more, [])
  })
  test('one that is there is no obstacle', () =>
    assert.deepEqual(bridgeObstacles(on('vmbr0'), survey([], ['vmbr0'])), []))
  test('nobody could tell', () => assert.deepEqual(bridgeObstacles(on('vmbr9'), survey()), []))
})

test('a host is asked once a minute, and the survey is taken once', async () => {
  const told: string[] = []
  let now = 0
  const tell = <T>(what: string, answer: T): T => {
    told.push(what)
    return answer
  }
  const api = { read: async (path: string) => tell(path, [{ iface: 'vmbr0' }]) } as unknown as Api
  const { look, saw } = createBridgeLook(api, { now: () => now } as Clock)
  const take = async () => tell('survey', survey())
  const signal = new AbortController().signal
  const wanted = [guest('a', 'pve1', ['vmbr9'])]
  const first = await look(take, wanted, signal)
  assert.deepEqual(first.hosts[0]?.bridges, ['vmbr0'])
  assert.deepEqual(told, ['survey', '/nodes/pve1/network?type=any_bridge'])
  now = 59_999
  assert.deepEqual((await look(take, wanted, signal)).hosts[0]?.bridges, ['vmbr0'])
  assert.equal(told.length, 3)
  now = 60_000
  await look(take, wanted, signal)
  assert.equal(told.length, 5)
  await look(take, [], signal)
  assert.equal(told.length, 6, 'nothing is to be made: no host is asked')
  const there = async () => tell('survey', survey(['a']))
  now = 200_000
  await look(there, [guest('a', 'pve1', ['vmbr0'])], signal)
  assert.equal(told.length, 7, 'nobody has read it yet')
  now = 300_000
  const close = { config: { net0: 'virtio,bridge=vmbr0' }, atMs: 0 }
  const read = { externalId: '100', host: 'pve1', mark: { uid: 'a' }, close } as never
  assert.equal((await saw(read, signal))?.close?.hostBridges, undefined)
  await look(there, [guest('a', 'pve1', ['vmbr0'])], signal)
  assert.equal(told.length, 8, 'it is on its bridge: no host is asked')
  await look(there, wanted, signal)
  assert.equal(told.length, 10, 'it is to be on another')
  now = 400_000
  assert.deepEqual((await saw(read, signal))?.close?.hostBridges, ['vmbr0'])
  assert.equal(told.length, 11, 'a process that reads it first asks then')
})
