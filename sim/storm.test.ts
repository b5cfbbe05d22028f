import assert from 'node:assert/strict'
import { test } from 'node:test'
import { integerBetween, type Random, seededRandom } from '../src/lib/random.ts'
import { ROUTES } from './proxmox/handlers/index.ts'
import { findOperation } from './proxmox/validate/index.ts'
import { createTestClient, NOBLE_IMAGE, type TestClient } from './test-client.ts'

const pick = <T>(random: Random, list: readonly T[]): T => list[integerBetween(random, 0, list.length - 1)] as T

/** What a person might send, right or wrong, for any parameter. */
const VALUES = [
  '1',
  '0',
  '114',
  'local',
  'local-zfs',
  'scsi0',
  '+1G',
  'x',
  '',
  'vmbr0',
  'OK',
  'virtio,bridge=vmbr0',
  'local-zfs:1',
  '%',
  'a=b',
  'root@pam',
]
const PATH_VALUES: Readonly<Record<string, readonly string[]>> = {
  node: ['fun-bedbug', 'still-fawn', 'pumped-piglet'],
  vmid: ['108', '109', '114', '115'],
  storage: ['local', 'local-zfs', 'nope'],
  volume: ['local:iso/x.iso', 'local-zfs:vm-114-disk-0', NOBLE_IMAGE, 'x'],
  userid: ['root@pam', 'nobody@pve'],
  upid: ['UPID:fun-bedbug:000003E8:00057E40:6AB13B80:qmcreate:114:root@pam!croft:', 'x'],
}

test('every route that is simulated is an operation of the real API', () => {
  const others = [...ROUTES.keys()].filter((key) => {
    const [method = '', template = ''] = key.split(' ')
    return findOperation(method, template.replace(/\{[^}]+\}/g, 'x'))?.operation.path !== template
  })
  assert.deepEqual(others, [])
})

/** What the real daemon says when it trips over itself. */
const RECORDED = /cannot lookup undefined type!|Can't use an undefined value as (?:an ARRAY|a HASH) reference/

test('whatever is sent to whatever is simulated, the answer is a Proxmox answer and never a crash', async () => {
  const random = seededRandom(11)
  const client = createTestClient()
  for (let round = 0; round < 12; round++) {
    for (const key of ROUTES.keys()) {
      const [method = '', template = ''] = key.split(' ')
      const path = template.replace(/\{([^}]+)\}/g, (_, name: string) =>
        pick(random, PATH_VALUES[name] ?? ['web', '0', 'x1']),
      )
      const names = [...(findOperation(method, path)?.operation.parameters.values() ?? [])].filter(
        (field) => !template.includes(`{${field.name}}`),
      )
      const wanted = names.filter(
        (field) => (!field.optional && random.next() < 0.9) || random.next() < 3 / (names.length + 1),
      )
      const params = Object.fromEntries(
        wanted.map(({ name, shape }) => [
          name,
          shape.choices ? pick(random, shape.choices) : pick(random, PATH_VALUES[name] ?? VALUES),
        ]),
      )
      const query = method === 'GET' || method === 'DELETE' ? `?${new URLSearchParams(params).toString()}` : ''
      // A previous step may have switched a host off; without a running host no API answers.
      for (const host of client.datacentre.world.hosts.keys()) client.datacentre.hostPower(host, 'on')
      const answer = await client.call(method, `${path}${query}`, query === '' ? params : undefined)
      assert.doesNotMatch(
        answer.reason.replace(RECORDED, ''),
        /undefined|not a function|Cannot read|is not iterable|\[object/,
        `${method} ${path} ${JSON.stringify(params)}`,
      )
      assert.ok(answer.status === 200 || answer.status >= 400)
      // A few refusals have no body: no ticket, no host, a daemon that fell over, a key that is none.
      if (![401, 595, 596].includes(answer.status)) JSON.parse(answer.body)
    }
    await client.pass(5_000)
  }
  for (const host of client.datacentre.world.hosts.values()) {
    for (const task of host.tasks)
      assert.doesNotMatch(task.exit ?? '', /undefined|not a function|Cannot read|is not iterable/, task.upid)
  }
})

/** Many hands at once: makes, changes, starts, copies and deletes, waiting for nothing. */
async function storm(seed: number): Promise<TestClient> {
  const random = seededRandom(seed)
  const client = createTestClient({ seed, timing: { callMs: [0, 30], allocateMs: [100, 3_000] } })
  const sent: Promise<unknown>[] = []
  for (let step = 0; step < 120; step++) {
    const vmid = integerBetween(random, 200, 209)
    const at = `/nodes/fun-bedbug/qemu`
    const make = {
      vmid: `${vmid}`,
      name: `g${vmid}`,
      agent: '1',
      scsi0: `local-zfs:0,import-from=${NOBLE_IMAGE}`,
      net0: 'virtio,bridge=vmbr0',
    }
    const deeds: readonly (readonly [string, string, Record<string, string>?])[] = [
      ['POST', at, make],
      ['POST', at, make],
      ['PUT', `${at}/${vmid}/config`, { cores: `${integerBetween(random, 1, 8)}` }],
      ['PUT', `${at}/${vmid}/resize`, { disk: 'scsi0', size: '+1G' }],
      ['POST', `${at}/${vmid}/status/start`],
      ['POST', `${at}/${vmid}/status/stop`],
      ['POST', `${at}/${vmid}/clone`, { newid: `${integerBetween(random, 200, 209)}`, full: '1' }],
      ['DELETE', `${at}/${vmid}`],
    ]
    const [method, path, params] = pick(random, deeds)
    sent.push(client.send(method, path, params))
    await client.pass(integerBetween(random, 0, 4_000))
  }
  await client.clock.runUntil(Promise.all(sent))
  await client.clock.runUntil(() =>
    [...client.datacentre.world.hosts.values()].every((host) => host.runningTasks.size === 0),
  )
  return client
}

test('after any storm every volume has its guest, every guest its volumes, and no lock is left', async () => {
  for (let seed = 1; seed <= 12; seed++) {
    const client = await storm(seed)
    const { world } = client.datacentre
    const host = world.hosts.get('fun-bedbug')
    const named = new Set<string>()
    for (const guest of world.guests.values()) {
      assert.equal(guest.config.has('lock'), false, `seed ${seed}: guest ${guest.vmid} is locked`)
      for (const value of guest.config.values()) {
        const volume = /^local-zfs:(vm-\d+-[^,]+)/.exec(value)?.[1]
        if (volume === undefined) continue
        named.add(volume)
        assert.ok(
          world.hosts.get(guest.node)?.volumes.get('local-zfs')?.has(volume),
          `seed ${seed}: ${volume} is missing`,
        )
      }
    }
    for (const name of host?.volumes.get('local-zfs')?.keys() ?? [])
      assert.ok(named.has(name), `seed ${seed}: nobody has ${name}`)
    assert.equal(host?.locks.size, 0, `seed ${seed}`)
  }
})

test('the same storm is the same storm', async () => {
  const text = async (seed: number) => JSON.stringify((await storm(seed)).datacentre.state())
  assert.equal(await text(3), await text(3))
})
