import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedResource, Resource } from '../../model/resource.ts'
import { libvirtRules } from './rules.ts'

const UID = '0123456789abcdef'

function domain(disks: readonly { dev: string; device?: string; volume: string }[], detached: readonly string[] = []) {
  const views = disks.map(({ dev, device = 'disk', volume }) => ({
    dev,
    bus: 'virtio',
    device,
    path: `/pool/${volume}`,
    pool: 'vms',
    volume,
  }))
  const ours = [...disks.map(({ volume }) => `vms:${volume}`), ...detached]
  return {
    connection: 'kvm',
    type: 'vm',
    externalId: 'u',
    host: 'kvm',
    power: 'stopped',
    mark: { uid: UID },
    close: {
      config: { domain: { disks: views, nics: [], pci: [], usb: [] }, ours, snapshots: 0 },
      digest: 'd',
      atMs: 0,
    },
  } as unknown as ObservedResource
}

test('what would be deleted with a domain besides the disk it starts from is its data: attached or taken out, no seed', () => {
  const system = { dev: 'vda', volume: `croft-${UID}-virtio0` }
  const data = { dev: 'vdb', volume: `croft-${UID}-virtio1` }
  const seed = { dev: 'vdc', volume: `croft-${UID}-seed-0123456789ab.iso` }
  const cdrom = { dev: 'sda', device: 'cdrom', volume: `croft-${UID}-seed-ba9876543210.iso` }
  const table: [string, ObservedResource, readonly string[]][] = [
    ['its system only', domain([system]), []],
    ['a second disk', domain([system, data]), ['virtio1']],
    ['seeds are made again', domain([system, seed, cdrom]), []],
    ['a disk that was taken out', domain([system], [`vms:${data.volume}`]), [`vms:${data.volume}`]],
  ]
  for (const [name, observed, expected] of table) assert.deepEqual(libvirtRules.dataDisks(observed), expected, name)
})

test('a sort of thing that libvirt does not keep is no thing in sync: it is not kept, and asking all the same is an error', () => {
  const item = { key: 'HostConfig/a@x', desired: { type: 'item' }, needs: [] } as unknown as Resource
  assert.equal(libvirtRules.keeps(item), false)
  assert.throws(() => libvirtRules.diff(item, domain([])), /which the driver libvirt does not keep/)
})

test('a change that needs a restart gets one, whatever else changes with it, and only where it runs', () => {
  const vm = { host: 'kvm', name: 'web', power: 'running', disks: [], nics: [] }
  const resource = { key: 'Machine/web', uid: UID, desired: { type: 'vm', vm }, policy: {} } as unknown as Resource
  const live = { path: 'onBoot', from: false, to: true, effect: 'live' } as const
  const restart = { path: 'devices', from: 1, to: 2, effect: 'restart' } as const
  const verbs = (changes: readonly (typeof live | typeof restart)[], power: 'running' | 'stopped') =>
    libvirtRules.updateSteps(resource, { ...domain([]), power }, changes).map(({ verb }) => verb)
  assert.deepEqual(verbs([live, restart], 'running'), ['shutdown', 'reboot'])
  assert.deepEqual(verbs([live], 'running'), [])
  assert.deepEqual(verbs([live, restart], 'stopped'), [])
})

const VIEW = { name: 'web', memoryMb: 2048, cores: 2, disks: [], nics: [], pci: [], usb: [] }

/** A domain as declared below, with a case's changes. */
function seen(power: 'running' | 'stopped', config: object = {}, mark: object = {}): ObservedResource {
  const whole = { name: 'web', onBoot: true, domain: VIEW, live: undefined, volumes: {}, ours: [], snapshots: 0 }
  return {
    ...domain([]),
    power,
    mark: { uid: UID, owner: 'Machine/web', estate: 'home/e1', deletion: 'Delete', ...mark },
    close: { config: { ...whole, ...config }, digest: 'd', atMs: 0 },
  } as unknown as ObservedResource
}

function declaredAs(vm: object = {}, policy: object = {}): Resource {
  return {
    key: 'Machine/web',
    uid: UID,
    estate: 'home/e1',
    desired: {
      type: 'vm',
      vm: { host: 'kvm', name: 'web', disks: [], nics: [], memory: { dedicatedMb: 2048 }, ...vm },
    },
    policy: { deletion: 'Delete', protect: false, ...policy },
  } as unknown as Resource
}

const FULLER = { ...VIEW, memoryMb: 4096 }
const CARD = { alias: 'ua-net1', source: 'lan' }
const DIFFERENCES: readonly [string, Resource, ObservedResource, readonly string[]][] = [
  ['nothing', declaredAs(), seen('running'), []],
  ['memory of one that runs', declaredAs(), seen('running', { domain: FULLER }), ['memory.dedicatedMb restart']],
  ['memory of one that is off', declaredAs(), seen('stopped', { domain: FULLER }), ['memory.dedicatedMb live']],
  [
    'a card that is declared no more',
    declaredAs(),
    seen('running', { domain: { ...VIEW, nics: [CARD] } }),
    ['nics.net1 restart'],
  ],
  ['the same, off', declaredAs(), seen('stopped', { domain: { ...VIEW, nics: [CARD] } }), ['nics.net1 live']],
  ['not to start with its host', declaredAs({ onBoot: false }), seen('stopped'), ['onBoot live']],
  ['to start with its host, as it does', declaredAs({ onBoot: true }), seen('stopped'), []],
  ['whether it starts is not declared', declaredAs(), seen('stopped', { onBoot: false }), []],
  ['another name', declaredAs({ name: 'shop' }), seen('stopped'), ['name live']],
  ['another name, taken over', declaredAs({ name: 'shop' }, { adopt: 'u' }), seen('stopped'), []],
  ['not in force yet', declaredAs(), seen('running', { live: FULLER }), ['restart restart']],
  ['not in force, and may never restart', declaredAs({ restart: 'never' }), seen('running', { live: FULLER }), []],
  ['what ran before it was switched off', declaredAs(), seen('stopped', { live: FULLER }), []],
  ['somebody changed its policy', declaredAs(), seen('stopped', {}, { deletion: 'Orphan' }), ['mark live']],
  ['it is protected now', declaredAs({}, { protect: true }), seen('stopped'), ['mark live own']],
  ['it is protected no more', declaredAs(), seen('stopped', {}, { protect: true }), ['mark live own']],
  ['the estate got a uid', declaredAs(), seen('stopped', {}, { estate: 'home' }), ['mark live own']],
]

for (const [what, resource, sighting, expected] of DIFFERENCES)
  test(`what differs of a domain: ${what}`, () => {
    const found = libvirtRules.diff(resource, sighting)
    assert.deepEqual(
      found.map(({ path, effect, own }) => `${path} ${effect}${own === true ? ' own' : ''}`),
      expected,
    )
  })
