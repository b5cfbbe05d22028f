import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { systemClock } from '../../lib/clock.ts'
import { seededRandom } from '../../lib/random.ts'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import { removed } from '../../model/destruction.ts'
import type { Connection } from '../../model/estate.ts'
import type { ObservedResource, Resource } from '../../model/resource.ts'
import type { SettingValue } from '../../model/rest.ts'
import { Secret } from '../../model/secret.ts'
import type { Step } from '../../model/step.ts'
import { libvirtDriver } from './driver.ts'
import { deletePlaceSteps, diffPlace, type PlaceConfig, undeletablePlace, updatePlaceSteps } from './place-rules.ts'
import { newPlace, viewPlace, writePlace } from './place-view.ts'
import { testDriverShell } from './testing/virsh-session.ts'
import { parseXml, printXml } from './xml.ts'

/* Networks and pools: judged by tables, and created, changed and deleted on the libvirt that is installed here. */

const { rules } = libvirtDriver
const NEVER = new AbortController().signal
const NAT = {
  mode: 'nat',
  bridge: 'virbr9',
  addresses: ['192.168.150.1/24', 'fd00:150::1/64'],
  dhcp: { from: '192.168.150.100', to: '192.168.150.199' },
  dns: true,
  domain: 'lab.home.arpa',
  mtu: 1400,
} as const

function placed(
  definition: 'libvirt-network' | 'libvirt-pool',
  id: string,
  fields: Readonly<Record<string, SettingValue>>,
): Resource {
  const key = `${definition === 'libvirt-network' ? 'LibvirtNetwork' : 'LibvirtPool'}/${id}` as const
  return {
    key,
    uid: '0123456789abcdef',
    kind: 'x',
    name: id,
    driver: 'libvirt',
    connection: 'lab',
    desired: { type: 'setting', setting: { definition, id, host: 'here', fields } },
    needs: [],
    policy: DEFAULT_POLICY,
    origin: { file: 'x.yaml', line: 1, column: 1 },
    generation: '1',
  }
}

for (const [name, kind, fields] of [
  ['NAT', 'network', NAT],
  ['isolated', 'network', { mode: 'isolated', bridge: 'virbr8' }],
  ['bridge', 'network', { mode: 'bridge', bridge: 'br0' }],
  ['VLAN', 'network', { mode: 'bridge', bridge: 'ovsbr0', openvswitch: true, vlan: 42 }],
  ['directory', 'pool', { type: 'dir', path: '/srv/machines' }],
  ['NFS', 'pool', { type: 'netfs', path: '/mnt/x', source: { host: 'nas', path: '/export' } }],
  ['LVM', 'pool', { type: 'logical', volumeGroup: 'vg0' }],
] as const)
  test(`${name}: what is written into a ${kind} is read back from it`, () => {
    const made = newPlace(kind, 'x', '11111111-2222-4333-8444-555555555555')
    assert.equal(writePlace(kind, made, fields), undefined)
    const again = parseXml(printXml(made))
    assert.ok(again)
    const seen = viewPlace(kind, again)
    for (const [field, value] of Object.entries(fields)) assert.deepEqual(seen[field], value, field)
  })

test('what others wrote into a network stays, and a field that nobody knows is refused', () => {
  const theirs = parseXml(
    `<network><name>x</name><forward mode='nat'><nat><port start='1024' end='65535'/></nat></forward><portgroup name='a'/><ip address='10.0.0.1' netmask='255.255.255.0'><dhcp><range start='10.0.0.2' end='10.0.0.9'/><host mac='52:54:00:00:00:01' ip='10.0.0.5'/></dhcp></ip></network>`,
  )
  assert.ok(theirs)
  assert.deepEqual(viewPlace('network', theirs).addresses, ['10.0.0.1/24'])
  writePlace('network', theirs, { addresses: ['10.0.1.1/24'], dhcp: { from: '10.0.1.2', to: '10.0.1.9' }, mtu: 1400 })
  const text = printXml(theirs)
  for (const kept of ["<port start='1024'", "<portgroup name='a'", "mac='52:54:00:00:00:01'"])
    assert.ok(text.includes(kept), kept)
  assert.equal(writePlace('network', theirs, { nothing: 1 }), 'nothing')
})

const config = (more: Partial<PlaceConfig>): ObservedResource => ({
  connection: 'lab',
  type: 'setting',
  list: 'networks/here',
  externalId: '11111111-2222-4333-8444-555555555555',
  host: 'here',
  close: {
    atMs: 0,
    digest: 'd',
    config: {
      place: 'network',
      digest: 'd',
      name: 'x',
      active: true,
      autostart: true,
      fields: NAT,
      live: NAT,
      users: 0,
      ...more,
    },
  },
})
const setting = (fields: Readonly<Record<string, SettingValue>>) => ({
  definition: 'libvirt-network',
  id: 'x',
  host: 'here',
  fields,
})
const verbs = (steps: readonly Step[]) => steps.map(({ verb }) => verb)

test('a network is stopped for a change only when nobody is in it', () => {
  const wanted = setting({ ...NAT, mtu: 1300, autostart: true })
  const changes = diffPlace(wanted, config({}))
  assert.deepEqual(
    changes.map(({ path, blocked }) => [path, blocked]),
    [['mtu', undefined]],
  )
  assert.deepEqual(verbs(updatePlaceSteps(wanted, config({}), changes)), ['configure', 'stop', 'start'])
  for (const users of [1, undefined])
    assert.match(diffPlace(wanted, config({ users }))[0]?.blocked?.message ?? '', /cut off/)
  const off = config({ active: false, live: undefined })
  assert.deepEqual(verbs(updatePlaceSteps(wanted, off, diffPlace(wanted, off))), ['configure', 'start'])
  assert.deepEqual(verbs(deletePlaceSteps(removed(config({}), []))), ['stop', 'delete'])
  assert.deepEqual(verbs(deletePlaceSteps(removed(off, []))), ['delete'])
})

test('a crash between writing and starting again is made good', () => {
  const wanted = setting({ ...NAT, mtu: 1300 })
  const between = config({ fields: { ...NAT, mtu: 1300 } })
  const changes = diffPlace(wanted, between)
  assert.deepEqual(
    changes.map(({ path }) => path),
    ['restart'],
  )
  assert.deepEqual(verbs(updatePlaceSteps(wanted, between, changes)), ['stop', 'start'])
})

test('a pool stays where it is, and is not taken away with volumes in it', () => {
  const pool = (users: number | undefined) =>
    config({ place: 'pool', fields: { type: 'dir', path: '/a' }, live: undefined, users })
  const wanted = { definition: 'libvirt-pool', id: 'x', host: 'here', fields: { type: 'dir', path: '/b' } }
  assert.match(diffPlace(wanted, pool(0))[0]?.blocked?.message ?? '', /stays where it is/)
  assert.equal(undeletablePlace(pool(0)), undefined)
  assert.match(undeletablePlace(pool(2))?.message ?? '', /2 volumes are in it/)
  assert.ok(undeletablePlace(pool(undefined)))
  assert.match(undeletablePlace(config({ users: 1 }))?.message ?? '', /1 card is in it/)
})

const connection: Connection = {
  name: 'lab',
  driver: 'libvirt',
  endpoint: 'test:///default',
  ssh: { name: 'here', address: 'localhost', port: 22, user: 'root', hostKeys: [], sudo: 'none', local: true },
  estate: 'x',
  ids: { from: 1, to: 1 },
  limits: { perHost: 2, perStorage: 1, reads: 4 },
  origin: { file: 'x.yaml', line: 1, column: 1 },
}
const hasVirsh = spawnSync('virsh', ['-c', 'test:///default', 'version']).status === 0
const skip = hasVirsh || process.env.CI !== undefined ? false : 'needs virsh (apt: libvirt-clients, libvirt-daemon)'

for (const [definition, id, first, second] of [
  ['libvirt-network', 'lab', { ...NAT, autostart: true }, { ...NAT, mtu: 1300, autostart: false }],
  [
    'libvirt-network',
    'cameras',
    { mode: 'bridge', bridge: 'br0', autostart: true },
    { mode: 'bridge', bridge: 'br1', autostart: true },
  ],
  [
    'libvirt-pool',
    'machines',
    { type: 'dir', path: '/srv/machines', autostart: true },
    { type: 'dir', path: '/srv/machines', autostart: false },
  ],
] as const)
  test(`${definition} ${id} on the test driver of libvirt: made, the same, changed, drift put back, gone`, {
    skip,
  }, async () => {
    const shell = testDriverShell('test:///default')
    const session = libvirtDriver.connect(connection, {
      clock: systemClock,
      random: seededRandom(1),
      openWire: () => assert.fail('libvirt needs no wire'),
      openShell: () => shell,
      resolveSecret: () => Promise.resolve(new Secret('x')),
    })
    const perform = async (steps: readonly Step[]) => {
      for (const step of steps) assert.deepEqual(await session.perform(step, NEVER), { result: 'done' }, step.summary)
    }
    const see = async (resource: Resource) =>
      (await session.list(rules.listOf(resource) ?? '', NEVER)).find(
        ({ externalId }) => externalId === rules.declaredId(resource),
      )
    const change = async (resource: Resource) => {
      const observed = (await see(resource)) ?? assert.fail('it is not there')
      await perform(rules.updateSteps(resource, observed, rules.diff(resource, observed)))
      const after = (await see(resource)) ?? assert.fail('it is gone')
      assert.deepEqual(rules.diff(resource, after), [])
      assert.equal(rules.readiness(resource, after).ready, true)
    }
    try {
      const one = placed(definition, id, first)
      assert.equal(await see(one), undefined)
      const others = await session.list(rules.listOf(one) ?? '', NEVER)
      await perform(rules.createSteps(one, rules.declaredId(one) ?? ''))
      await change(one)
      // A person stops it: only then does this driver accept a change of a network.
      await shell.direct(`${definition === 'libvirt-network' ? 'net' : 'pool'}-destroy ${id}`)
      await change(placed(definition, id, second))
      await shell.direct(`${definition === 'libvirt-network' ? 'net' : 'pool'}-destroy ${id}`)
      await change(one)
      // The UUID decides, never the name: another declaration with that name is refused.
      const other = { ...one, uid: 'fedcba9876543210' }
      const [create] = rules.createSteps(other, rules.declaredId(other) ?? '')
      assert.ok(create)
      const taken = await session.perform(create, NEVER)
      assert.equal(taken.result === 'refused' ? taken.refusal.reason : taken.result, 'IdTaken')
      const last = (await see(one)) ?? assert.fail('it is gone')
      await perform(rules.deleteSteps(removed(last, [])))
      const left = await session.list(rules.listOf(one) ?? '', NEVER)
      assert.deepEqual(
        left.map(({ name }) => name),
        others.map(({ name }) => name),
      )
    } finally {
      await session.close()
    }
  })
