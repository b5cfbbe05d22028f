import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seedDocument } from '../../../cloudinit/document.ts'
import { seedImage } from '../../../cloudinit/image.ts'
import { defined } from '../../../lib/defined.ts'
import { removed } from '../../../model/destruction.ts'
import type { Mark, ObservedResource, Survey } from '../../../model/resource.ts'
import type { VmSeed, VmSpec } from '../../../model/vm.ts'
import { printDescription, readMark } from '../marks.ts'
import { proxmoxRules } from '../rules.ts'
import { EXAMPLE_UID, exampleObserved, exampleResource } from '../testing/vm-example.ts'
import { seedMoves, seedNotes, seedStorage } from './seed.ts'

const { document, hash } = seedDocument({ hostname: 'web-1', userData: { hostname: 'web-1' } })
const H = hash.slice(0, 12)
const OLD = '0123456789ab'
const seed = (more: Partial<VmSeed> = {}): VmSeed => ({
  document,
  hash,
  onChange: 'ignore',
  slot: 'ide2',
  removeAfterSeconds: 300,
  ...more,
})
const vm = (more: Partial<VmSpec> = {}): VmSpec => ({
  host: 'pve1',
  name: 'web-1',
  power: 'running',
  disks: [],
  nics: [{ slot: 'net0', bridge: 'vmbr0', model: 'virtio' }],
  agent: { enabled: true },
  seed: seed(),
  ...more,
})
const volume = (of = H) => `local:iso/croft-${EXAMPLE_UID}-${of}.iso`

interface Seen {
  readonly mark?: Pick<Mark, 'seed' | 'seeding' | 'unseeding'>
  readonly power?: 'running' | 'stopped' | 'paused'
  readonly inserted?: string
  readonly images?: readonly string[]
  readonly bytes?: number
  readonly agent?: 'up' | 'down'
  readonly addresses?: readonly string[]
  readonly uptimeSeconds?: number
}

function seen(one: Seen): ObservedResource {
  const mark: Mark = { uid: EXAMPLE_UID, owner: 'EnvironmentVM/web-1', estate: 'home', deletion: 'Delete', ...one.mark }
  const base = exampleObserved(
    {
      description: printDescription('people wrote this', mark, '114'),
      ...(one.inserted === undefined ? { ide2: 'none,media=cdrom' } : { ide2: `${one.inserted},media=cdrom,size=58K` }),
      net0: 'virtio=02:00:00:00:00:01,bridge=vmbr0',
      agent: '1',
    },
    { mark, power: one.power ?? 'stopped', uptimeSeconds: one.uptimeSeconds ?? 5 },
  )
  const bytes = one.bytes ?? seedImage(document).length
  return {
    ...base,
    close: {
      ...base.close,
      config: base.close?.config ?? {},
      atMs: 0,
      power: one.power ?? 'stopped',
      ...defined({ seedImages: one.images?.map((id) => ({ id, bytes })), agent: one.agent, addresses: one.addresses }),
    },
  }
}

const coming = { seed: 'none', seeding: { hash: H, storage: 'local' } }
const REST = ['eject', 'discard', 'finish']

const CASES: readonly [string, Seen, string, VmSpec?][] = [
  ['just made', { mark: coming, images: [] }, 'upload insert start eject discard finish'],
  ['uploaded', { mark: coming, images: [volume()] }, 'insert start eject discard finish'],
  ['a torn upload', { mark: coming, images: [volume()], bytes: 2048 }, 'upload insert start eject discard finish'],
  ['inserted', { mark: coming, images: [volume()], inserted: volume() }, 'start eject discard finish'],
  ['booting', { mark: coming, inserted: volume(), power: 'running', agent: 'down' }, ''],
  ['agent without an address', { mark: coming, inserted: volume(), power: 'running', agent: 'up', addresses: [] }, ''],
  [
    'read',
    { mark: coming, inserted: volume(), power: 'running', agent: 'up', addresses: ['10.0.0.5'] },
    'eject discard finish',
  ],
  ['up for long', { mark: coming, inserted: volume(), power: 'running', uptimeSeconds: 300 }, 'eject discard finish'],
  ['ejected', { mark: { seed: H, unseeding: 'local' }, images: [volume()], power: 'running' }, 'discard finish'],
  ['discarded', { mark: { seed: H, unseeding: 'local' }, images: [], power: 'running' }, 'finish'],
  ['done', { mark: { seed: H }, power: 'running' }, ''],
  [
    'started by a person before it was there',
    { mark: coming, images: [], power: 'running' },
    `upload shutdown insert start ${REST.join(' ')}`,
  ],
  [
    'another document before it was there',
    { mark: { seed: 'none', seeding: { hash: OLD, storage: 'local' } }, images: [volume(OLD)] },
    `begin upload insert start ${REST.join(' ')}`,
  ],
  [
    'another document while the old one waits in the drive',
    { mark: { seed: 'none', seeding: { hash: OLD, storage: 'local' } }, images: [volume(OLD)], inserted: volume(OLD) },
    'withdraw discard finish',
  ],
  [
    'declared off before it was read',
    { mark: coming, images: [volume()], inserted: volume() },
    'withdraw discard finish',
    vm({ power: 'stopped' }),
  ],
  ['no longer declared', { mark: coming, images: [volume()] }, 'withdraw discard finish', { ...vm(), seed: seed() }],
  ['never read, off', { mark: { seed: 'none' } }, '', vm({ power: 'stopped' })],
  ['never read, to be on', { mark: { seed: 'none' } }, `begin upload insert start ${REST.join(' ')}`],
  ['nobody knows what it read', { mark: {}, power: 'running' }, 'assume'],
  ['changed, ignore', { mark: { seed: OLD }, power: 'running' }, ''],
  ['changed, replace', { mark: { seed: OLD }, power: 'running' }, '', vm({ seed: seed({ onChange: 'replace' }) })],
  [
    'changed, rerun',
    { mark: { seed: OLD }, power: 'running' },
    `begin upload shutdown insert start ${REST.join(' ')}`,
    vm({ seed: seed({ onChange: 'rerun' }) }),
  ],
  ['changed, rerun, off', { mark: { seed: OLD } }, '', vm({ power: 'stopped', seed: seed({ onChange: 'rerun' }) })],
]

describe('moves of a seed', () => {
  for (const [what, observed, expected, declared] of CASES) {
    it(`${what}: ${expected === '' ? 'nothing' : expected}`, () => {
      const { seed: _, ...unseeded } = vm()
      const wanted = what === 'no longer declared' ? unseeded : (declared ?? vm())
      assert.equal(seedMoves(wanted, seen(observed)).join(' '), expected)
    })
  }

  it('are shown as one change, that restarts only where the guest must go down', () => {
    const changes = (one: Seen, declared = vm()) =>
      proxmoxRules
        .diff(exampleResource(declared), seen(one))
        .filter(({ path }) => path.startsWith('seed'))
        .map(({ path, from, to, effect }) => [path, from, to, effect])
    assert.deepEqual(changes({ mark: coming, images: [] }), [['seed', 'none', H, 'live']])
    assert.deepEqual(changes({ mark: { seed: H, unseeding: 'local' }, images: [] }), [
      ['seed.image', 'there', 'removed', 'live'],
    ])
    const rerun = vm({ seed: seed({ onChange: 'rerun' }) })
    assert.deepEqual(changes({ mark: { seed: OLD }, power: 'running' }, rerun), [['seed', OLD, H, 'restart']])
    const replace = vm({ seed: seed({ onChange: 'replace' }) })
    assert.deepEqual(changes({ mark: { seed: OLD }, power: 'running' }, replace), [['seed', OLD, H, 'replace']])
    assert.deepEqual(changes({ mark: { seed: OLD }, power: 'running' }), [])
  })
})

describe('steps of a seed', () => {
  const steps = (one: Seen, declared = vm()) => {
    const resource = exampleResource(declared)
    const observed = seen(one)
    return proxmoxRules.updateSteps(resource, observed, proxmoxRules.diff(resource, observed))
  }
  const markOf = (description: string | undefined) => {
    const { seed: read, seeding, unseeding } = readMark({ description }, '114') ?? {}
    return { read, seeding: seeding?.hash, unseeding }
  }

  it('write into the mark how far it has got, and keep what people wrote', () => {
    const [eject, discard, finish] = steps({
      mark: coming,
      images: [volume()],
      inserted: volume(),
      power: 'running',
      agent: 'up',
      addresses: ['10.0.0.5'],
    })
    assert.equal(eject?.call?.params.ide2, 'none,media=cdrom')
    assert.equal(eject?.call?.params.digest, 'd1')
    assert.deepEqual(markOf(eject?.call?.params.description), { read: H, seeding: undefined, unseeding: 'local' })
    assert.match(eject?.call?.params.description ?? '', /^people wrote this\ncroft: owner=EnvironmentVM\/web-1 /)
    assert.equal(
      `${discard?.call?.method} ${discard?.call?.path}`,
      `DELETE /nodes/pve1/storage/local/content/${encodeURIComponent(volume())}`,
    )
    assert.deepEqual(markOf(finish?.call?.params.description), { read: H, seeding: undefined, unseeding: undefined })
    assert.deepEqual([eject?.verb, discard?.verb, finish?.verb], ['eject', 'discard', 'mark'])
  })

  it('an image that is taken back unread leaves the machine unread', () => {
    const [withdraw, , finish] = steps(
      { mark: coming, images: [volume()], inserted: volume() },
      vm({ power: 'stopped' }),
    )
    assert.deepEqual(markOf(withdraw?.call?.params.description), {
      read: 'none',
      seeding: undefined,
      unseeding: 'local',
    })
    assert.deepEqual(markOf(finish?.call?.params.description), {
      read: 'none',
      seeding: undefined,
      unseeding: undefined,
    })
  })

  it('a rerun is a restart to everyone who counts restarts', () => {
    const rerun = steps({ mark: { seed: OLD }, power: 'running' }, vm({ seed: seed({ onChange: 'rerun' }) }))
    assert.deepEqual(
      rerun.map(({ verb }) => verb),
      ['mark', 'upload', 'shutdown', 'insert', 'reboot', 'eject', 'discard', 'mark'],
    )
    assert.equal(rerun[2]?.disruption, 'restart')
    const paused = steps({ mark: { seed: OLD }, power: 'paused' }, vm({ seed: seed({ onChange: 'rerun' }) }))
    assert.deepEqual(
      paused.slice(1, 5).map(({ call }) => call?.path.split('/').at(-1)),
      ['upload', 'resume', 'shutdown', 'config'],
    )
  })

  it('a new machine is marked before its image exists, and its drive stands ready', () => {
    const survey = { storages: [{ host: 'pve1', name: 'isos', content: ['iso'], available: true, shared: false }] }
    const made = proxmoxRules.createSteps(exampleResource(vm()), '114', survey as unknown as Survey)
    assert.deepEqual(
      made.map(({ verb }) => verb),
      ['create', 'upload', 'insert', 'start', 'eject', 'discard', 'mark'],
    )
    assert.deepEqual(markOf(made[0]?.call?.params.description), { read: 'none', seeding: H, unseeding: undefined })
    assert.equal(made[0]?.call?.params.ide2, 'none,media=cdrom')
    assert.equal(made[1]?.call?.path, '/nodes/pve1/storage/isos/upload')
    assert.match(
      made[1]?.summary ?? '',
      new RegExp(`^upload croft-${EXAMPLE_UID}-${H}\\.iso \\(\\d+ KiB\\) to isos on pve1$`),
    )
    assert.match(made[1]?.call?.params.checksum ?? '', /^[0-9a-f]{64}$/)
  })

  it('a machine that goes takes its image along first', () => {
    const verbs = (one: Seen) => proxmoxRules.deleteSteps(removed(seen(one), [])).map(({ verb }) => verb)
    assert.deepEqual(verbs({ mark: coming, images: [volume()], inserted: volume(), power: 'running' }), [
      'shutdown',
      'eject',
      'discard',
      'delete',
    ])
    assert.deepEqual(verbs({ mark: coming, images: [volume(), volume(OLD)] }), ['discard', 'discard', 'delete'])
    assert.deepEqual(verbs({ mark: coming, images: [] }), ['delete'])
    assert.deepEqual(verbs({ mark: { seed: H } }), ['delete'])
  })

  it('the image that stands for no guest of ours is left alone', () => {
    const foreign = `local:iso/croft-fedcba9876543210-${H}.iso`
    assert.deepEqual(
      seedMoves(
        vm(),
        seen({ mark: coming, images: [], inserted: foreign, power: 'running', agent: 'up', addresses: ['1.2.3.4'] }),
      )[0],
      'upload',
    )
  })
})

describe('a seed', () => {
  it('goes to the declared storage, else to one of the host alone, else to a shared one', () => {
    const storage = (name: string, more: object) => ({
      host: 'pve1',
      name,
      content: ['iso'],
      available: true,
      shared: false,
      ...more,
    })
    const survey = (...storages: object[]) => ({ storages }) as unknown as Survey
    assert.equal(seedStorage(vm({ seed: seed({ storage: 'here' }) }), survey()), 'here')
    const all = [
      storage('nfs', { shared: true }),
      storage('z', {}),
      storage('b', {}),
      storage('a', { content: ['images'] }),
    ]
    assert.equal(seedStorage(vm(), survey(...all)), 'b')
    assert.equal(seedStorage(vm(), survey(all[0] ?? {}, storage('off', { available: false }))), 'nfs')
  })

  it('is in the way when no storage of the host takes it', () => {
    const survey = {
      hosts: [{ name: 'pve1', online: true }],
      storages: [],
      resources: [],
      tasks: [],
      connection: 'c',
      atMs: 0,
    }
    const [obstacle] = proxmoxRules.obstacles(exampleResource(vm()), survey)
    assert.match(obstacle?.message ?? '', /the seed image needs a storage on host pve1 that holds iso/)
  })

  it('that changed and is left alone is told', () => {
    assert.match(seedNotes(vm(), seen({ mark: { seed: OLD } }))[0] ?? '', /keeps the old data/)
    assert.deepEqual(seedNotes(vm(), seen({ mark: { seed: H } })), [])
    const seeding = { hash: H, storage: 'local' }
    assert.deepEqual(seedNotes(vm(), seen({ mark: { seed: OLD, seeding } })), [], 'something is done about it')
    assert.deepEqual(seedNotes(vm(), seen({ mark: { seed: OLD, unseeding: 'local' as never } })), [])
    assert.deepEqual(seedNotes(vm(), seen({ mark: { seed: 'none' } })), [])
  })

  it('keeps a machine from being Ready until its image is gone', () => {
    const ready = (one: Seen) =>
      proxmoxRules.readiness(exampleResource(vm()), seen({ power: 'running', agent: 'up', ...one })).ready
    assert.equal(ready({ mark: coming }), false)
    assert.equal(ready({ mark: { seed: H, unseeding: 'local' } }), false)
    assert.equal(ready({ mark: { seed: H } }), true)
  })
})

it('[S-40] a seed for which a storage is chosen lands on one that its grant lists, or nowhere', () => {
  const vm = (storages?: readonly string[]): VmSpec => ({
    host: 'alpha',
    name: 'a',
    disks: [],
    nics: [],
    power: 'running',
    seed: {
      document: { userData: {}, metaData: {} },
      hash: 'a'.repeat(64),
      onChange: 'ignore',
      slot: 'ide2',
      removeAfterSeconds: 60,
      ...defined({ storages }),
    },
  })
  const storage = (name: string) => ({ host: 'alpha', name, available: true, shared: false, content: ['iso'] })
  const survey = { storages: [storage('a-local'), storage('tank'), storage('lab-iso')] } as unknown as Survey
  assert.equal(seedStorage(vm(), survey), 'a-local')
  assert.equal(seedStorage(vm(['lab-*']), survey), 'lab-iso')
  assert.equal(seedStorage(vm(['tank']), survey), 'tank')
  for (const granted of [[], ['other'], ['none-*']])
    assert.ok(!['a-local', 'tank', 'lab-iso', 'local'].includes(seedStorage(vm(granted), survey)))
})
