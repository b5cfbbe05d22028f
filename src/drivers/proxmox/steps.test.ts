import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { removed } from '../../model/destruction.ts'
import type { FileSpec } from '../../model/file.ts'
import type { ObservedResource, Resource, Survey } from '../../model/resource.ts'
import type { Step } from '../../model/step.ts'
import type { VmSpec } from '../../model/vm.ts'
import { proxmoxRules as rules } from './rules.ts'
import { exampleObserved, exampleResource } from './testing/vm-example.ts'

const FILE: FileSpec = {
  host: 'pve1',
  storage: 'local',
  content: 'import',
  fileName: 'noble.qcow2',
  url: 'https://cloud-images.test/noble.img',
  checksum: { algorithm: 'sha256', value: 'aa' },
  overwrite: false,
}

const SURVEY: Survey = {
  connection: 'default',
  atMs: 0,
  hosts: [
    { name: 'pve1', online: true },
    { name: 'pve2', online: true },
    { name: 'pve3', online: false },
  ],
  storages: [
    { host: 'pve1', name: 'local', content: ['iso', 'import', 'snippets'], available: true, shared: false },
    { host: 'pve1', name: 'fast', content: ['images'], available: true, shared: false },
    { host: 'pve2', name: 'fast', content: ['images'], available: true, shared: false },
    { host: 'pve2', name: 'big', content: ['images'], available: true, shared: false },
    { host: 'pve1', name: 'nfs', content: ['images'], available: false, shared: true },
  ],
  resources: [],
  tasks: [],
}

const fileResource = (file: Partial<FileSpec> = {}): Resource => ({
  ...exampleResource(),
  desired: { type: 'file', file: { ...FILE, ...file } },
})
const show = (steps: readonly Step[]) => steps.map((step) => `${step.verb} ${step.call?.method} ${step.call?.path}`)
const update = (vm: Partial<VmSpec>, observed: ObservedResource) => {
  const resource = exampleResource(vm)
  return rules.updateSteps(resource, observed, rules.diff(resource, observed))
}
const imported = { slot: 'scsi0', storage: 'fast', sizeGb: 50, importFrom: 'local:import/noble.qcow2' }

describe('steps', () => {
  it('create, grow what was imported, start', () => {
    const vm: Partial<VmSpec> = {
      power: 'running',
      pool: 'k3s',
      disks: [imported, { slot: 'scsi1', storage: 'big', sizeGb: 5 }],
      cloudInit: { storage: 'local', slot: 'ide2' },
    }
    const steps = rules.createSteps(exampleResource(vm), '114')
    assert.deepEqual(show(steps), [
      'create POST /nodes/pve1/qemu',
      'resize PUT /nodes/pve1/qemu/114/resize',
      'start POST /nodes/pve1/qemu/114/status/start',
    ])
    const [create, resize] = steps
    assert.equal(create?.call?.params.vmid, '114')
    assert.equal(create?.call?.params.pool, 'k3s')
    assert.equal(create?.call?.params.scsihw, 'virtio-scsi-pci')
    assert.equal(create?.call?.params.start, undefined)
    assert.equal(create?.call?.params.serial0, undefined)
    assert.deepEqual(create?.queues, ['host/pve1', 'storage/pve1/fast', 'storage/pve1/big', 'storage/pve1/local'])
    assert.deepEqual(resize?.call?.params, { disk: 'scsi0', size: '50G' })
    const shared = rules.createSteps(exampleResource({ disks: [{ slot: 'scsi0', storage: 'nfs' }] }), '114', SURVEY)
    assert.deepEqual(shared[0]?.queues, ['host/pve1', 'storage/*/nfs'])
  })

  it('a template is never started', () => {
    const steps = rules.createSteps(exampleResource({ power: 'running', template: true }), '114')
    assert.deepEqual(show(steps).slice(1), ['template POST /nodes/pve1/qemu/114/template'])
  })

  it('one write for all plain changes, then growth, then a restart; only the first carries the digest', () => {
    const vm: Partial<VmSpec> = {
      cpu: { cores: 4 },
      onBoot: true,
      disks: [{ slot: 'scsi0', storage: 'fast', sizeGb: 50 }],
    }
    const steps = update(vm, exampleObserved({ cores: 2, scsi0: 'fast:vm-114-disk-0,size=10G' }))
    assert.deepEqual(show(steps), [
      'configure PUT /nodes/pve1/qemu/114/config',
      'resize PUT /nodes/pve1/qemu/114/resize',
      'reboot POST /nodes/pve1/qemu/114/status/reboot',
    ])
    assert.deepEqual(steps[0]?.call?.params, { cores: '4', onboot: '1', digest: 'd1' })
    assert.deepEqual(
      steps.map((step) => step.call?.params.digest),
      ['d1', undefined, undefined],
    )
    assert.deepEqual(
      steps.map((step) => step.disruption),
      ['none', 'none', 'restart'],
    )
    const grow = update({ disks: vm.disks ?? [] }, exampleObserved({ scsi0: 'fast:vm-114-disk-0,size=10G' }))
    assert.deepEqual(
      grow.map((step) => step.call?.params),
      [{ disk: 'scsi0', size: '50G', digest: 'd1' }],
    )
  })

  it('steps go to where the guest is, not to where it was declared', () => {
    const [step] = update({ cpu: { cores: 4 } }, exampleObserved({}, { host: 'pve2' }))
    assert.equal(step?.call?.path, '/nodes/pve2/qemu/114/config')
    assert.equal(step?.host, 'pve2')
  })

  it('a new disk from an image is a task; an empty one is not', () => {
    const [task] = update({ disks: [imported] }, exampleObserved())
    assert.equal(task?.call?.method, 'POST')
    assert.deepEqual(task?.queues, ['host/pve1', 'storage/pve1/fast'])
    const [put] = update({ disks: [{ slot: 'scsi1', storage: 'fast', sizeGb: 5 }] }, exampleObserved())
    assert.equal(put?.call?.method, 'PUT')
  })

  it('what cannot be done in place is not tried', () => {
    const observed = exampleObserved({ scsi0: 'fast:vm-114-disk-0,size=90G' })
    assert.deepEqual(update({ disks: [{ slot: 'scsi0', storage: 'fast', sizeGb: 50 }] }, observed), [])
  })

  for (const [declared, power, expected] of [
    ['running', 'stopped', 'start POST /nodes/pve1/qemu/114/status/start'],
    ['running', 'paused', 'start POST /nodes/pve1/qemu/114/status/resume'],
    ['stopped', 'running', 'shutdown POST /nodes/pve1/qemu/114/status/shutdown'],
    ['running', 'running', undefined],
    ['running', 'unknown', undefined],
    [undefined, 'stopped', undefined],
  ] as const) {
    it(`power ${declared} where it is ${power}: ${expected ?? 'nothing'}`, () => {
      const steps = update(declared === undefined ? {} : { power: declared }, exampleObserved({}, { power }))
      assert.deepEqual(show(steps), expected === undefined ? [] : [expected])
    })
  }

  it('[F-08] the guest’s own word on power counts, not the survey’s', () => {
    const seen = exampleObserved({}, { power: 'stopped' })
    const asked = { ...seen, close: { config: {}, atMs: 0, ...seen.close, power: 'running' as const } }
    assert.deepEqual(update({ power: 'running' }, asked), [])
  })

  it('a start needs no restart besides', () => {
    const steps = update({ power: 'running', cpu: { cores: 4 } }, exampleObserved({}, { power: 'stopped' }))
    assert.deepEqual(
      steps.map((step) => step.verb),
      ['configure', 'start'],
    )
  })

  it('a restart that is still owed is made, but not for what somebody else changed', () => {
    const owed = (pending: string[]) => {
      const seen = exampleObserved({ cores: 4, memory: '9999' })
      return update({ cpu: { cores: 4 } }, { ...seen, close: { config: {}, atMs: 0, ...seen.close, pending } })
    }
    assert.deepEqual(show(owed(['cores'])), ['reboot POST /nodes/pve1/qemu/114/status/reboot'])
    assert.deepEqual(show(owed(['memory'])), [])
  })

  it('pool and template', () => {
    const steps = update({ pool: 'k3s', template: true }, exampleObserved({}, { power: 'stopped', pool: 'old' }))
    assert.deepEqual(
      steps.map((step) => [step.call?.path, step.call?.params]),
      [
        ['/pools', { poolid: 'k3s', vms: '114', 'allow-move': '1' }],
        ['/nodes/pve1/qemu/114/template', {}],
      ],
    )
    assert.deepEqual(
      rules.diff(exampleResource({ template: false }), exampleObserved({}, { template: true })).map((c) => c.effect),
      ['replace'],
    )
  })

  it('taking over writes the mark and keeps what people wrote', () => {
    const observed = exampleObserved({ tags: 'prod', description: 'by hand' })
    const [step] = rules.adoptSteps(exampleResource(), observed)
    assert.equal(step?.call?.params.tags, 'prod;croft;croft-0123456789abcdef')
    assert.match(step?.call?.params.description ?? '', /^by hand\ncroft: owner=EnvironmentVM\/web-1 /)
    assert.equal(step?.call?.params.digest, 'd1')
  })

  it('removing shuts down first, whatever kind of guest it is', () => {
    assert.deepEqual(show(rules.deleteSteps(removed(exampleObserved(), []))), [
      'shutdown POST /nodes/pve1/qemu/114/status/shutdown',
      'delete DELETE /nodes/pve1/qemu/114',
    ])
    const container = rules.deleteSteps(removed(exampleObserved({}, { type: 'container', power: 'stopped' }), []))
    assert.deepEqual(show(container), ['delete DELETE /nodes/pve1/lxc/114'])
    assert.deepEqual(container[0]?.call?.params, { purge: '1', 'destroy-unreferenced-disks': '0' })
    assert.equal(container[0]?.disruption, 'data-loss')
  })

  it('a paused guest holds memory and open files: it is shut down before it goes, and restarted for what needs that', () => {
    for (const type of ['vm', 'container'] as const)
      assert.deepEqual(
        rules.deleteSteps(removed(exampleObserved({}, { type, power: 'paused' }), [])).map(({ verb }) => verb),
        ['shutdown', 'delete'],
        type,
      )
    const steps = update({ cpu: { cores: 4 } }, exampleObserved({}, { power: 'paused' }))
    assert.deepEqual(
      steps.map(({ verb, disruption }) => [verb, disruption]),
      [
        ['configure', 'none'],
        ['start', 'none'],
        ['reboot', 'restart'],
      ],
    )
    assert.equal(steps[1]?.call?.path.split('/').at(-1), 'resume')
    const declared = update({ cpu: { cores: 4 }, power: 'running' }, exampleObserved({}, { power: 'paused' }))
    assert.deepEqual(
      declared.map(({ verb }) => verb),
      ['configure', 'start', 'reboot'],
    )
  })

  it('a paused guest hears no request to shut down: it is resumed first', () => {
    for (const wanted of [{ power: 'stopped' }, { template: true }] as const) {
      const steps = update(wanted, exampleObserved({}, { power: 'paused' }))
      const ends = steps.map(({ call }) => call?.path.split('/').at(-1))
      assert.deepEqual(ends.slice(0, 2), ['resume', 'shutdown'], JSON.stringify(wanted))
    }
  })

  it('foreign names cannot leave their place in a path', () => {
    const [step] = rules.deleteSteps(removed(exampleObserved({}, { host: '../access', power: 'stopped' }), []))
    assert.equal(step?.call?.path, '/nodes/..%2Faccess/qemu/114')
  })
})

describe('files', () => {
  const present: ObservedResource = {
    connection: 'default',
    type: 'file',
    externalId: 'local:import/noble.qcow2',
    host: 'pve1',
    close: { config: { size: 5 }, atMs: 0 },
  }

  it('are downloaded with their checksum', () => {
    const [step] = rules.createSteps(
      fileResource({ verifyTls: false, decompression: 'gz' }),
      'local:import/noble.qcow2',
    )
    assert.equal(step?.call?.path, '/nodes/pve1/storage/local/download-url')
    assert.deepEqual(step?.call?.params, {
      url: FILE.url,
      content: 'import',
      filename: 'noble.qcow2',
      checksum: 'aa',
      'checksum-algorithm': 'sha256',
      compression: 'gz',
      'verify-certificates': '0',
    })
  })

  it('[R9] one that is there and was verified is the declared one: nothing to do, and ready', () => {
    assert.deepEqual(rules.diff(fileResource(), present, { verified: 'sha256:aa' }), [])
    assert.equal(rules.readiness(fileResource(), present).ready, true)
    assert.equal(rules.declaredId(fileResource()), 'local:import/noble.qcow2')
  })

  it('[A16] one that was not verified is verified, once for each declared checksum', () => {
    const changes = rules.diff(fileResource(), present, { verified: 'sha256:bb' })
    const [step, ...more] = rules.updateSteps(fileResource(), present, changes)
    assert.deepEqual(show(step === undefined ? [] : [step]), ['verify POST /nodes/pve1/storage/local/download-url'])
    assert.deepEqual(more, [])
    assert.deepEqual(rules.diff(fileResource(), present, step?.learns?.done), [])
    const mismatch = step?.learns?.failed?.facts ?? {}
    assert.match(rules.diff(fileResource(), present, mismatch)[0]?.blocked?.message ?? '', /^checksum mismatch/)
    const allowed = fileResource({ overwrite: true })
    assert.deepEqual(show(rules.updateSteps(allowed, present, rules.diff(allowed, present, mismatch))), [
      'delete DELETE /nodes/pve1/storage/local/content/local%3Aimport%2Fnoble.qcow2',
      'download POST /nodes/pve1/storage/local/download-url',
    ])
  })

  it('[A16] an empty one is reported, and replaced only where that is allowed', () => {
    const empty = { ...present, close: { config: { size: 0 }, atMs: 0 } }
    assert.deepEqual(
      rules.diff(fileResource(), empty).map((c) => c.effect),
      ['replace'],
    )
    assert.deepEqual(rules.updateSteps(fileResource(), empty, rules.diff(fileResource(), empty)), [])
    const allowed = fileResource({ overwrite: true })
    assert.deepEqual(show(rules.updateSteps(allowed, empty, rules.diff(allowed, empty))), [
      'delete DELETE /nodes/pve1/storage/local/content/local%3Aimport%2Fnoble.qcow2',
      'download POST /nodes/pve1/storage/local/download-url',
    ])
    assert.equal(rules.readiness(fileResource(), empty).ready, false)
  })
})

describe('obstacles', () => {
  const about = (vm: Partial<VmSpec>) => rules.obstacles(exampleResource(vm), SURVEY)

  it('[A19] a storage that is not on the host: names the hosts that have it', () => {
    const [obstacle] = about({ disks: [{ slot: 'scsi0', storage: 'big' }] })
    assert.equal(obstacle?.message, 'disk scsi0 needs storage big, which is not on host pve1')
    assert.match(obstacle?.allow ?? '', /big serves on pve2/)
  })

  for (const [why, vm, message] of [
    [
      'wrong content',
      { disks: [{ slot: 'scsi0', storage: 'local' }] },
      'disk scsi0 needs storage local on host pve1 to hold images; it holds import, iso, snippets',
    ],
    [
      'not available now',
      { disks: [{ slot: 'scsi0', storage: 'nfs' }] },
      'disk scsi0 needs storage nfs, which is not available on host pve1 right now',
    ],
    [
      'image on another storage',
      { disks: [{ ...imported, importFrom: 'big:import/x.qcow2' }] },
      'the image big:import/x.qcow2 needs storage big, which is not on host pve1',
    ],
    [
      'snippet',
      { cloudInit: { storage: 'fast', slot: 'ide2', userData: 'fast:snippets/u.yaml' } },
      'the snippet fast:snippets/u.yaml needs storage fast on host pve1 to hold snippets; it holds images',
    ],
    ['unknown host', { host: 'pve9' }, 'there is no host pve9'],
    ['host that is off', { host: 'pve3' }, 'host pve3 is offline'],
  ] as const) {
    it(why, () =>
      assert.deepEqual(
        about(vm).map((obstacle) => obstacle.message),
        [message],
      ),
    )
  }

  it('nothing in the way', () => {
    assert.deepEqual(
      about({ disks: [imported], cloudInit: { storage: 'fast', slot: 'ide2', userData: 'local:snippets/u.yaml' } }),
      [],
    )
    assert.deepEqual(rules.obstacles(fileResource(), SURVEY), [])
    assert.equal(rules.obstacles(fileResource({ storage: 'fast' }), SURVEY).length, 1)
  })
})

describe('readiness', () => {
  const imported = { slot: 'scsi0', storage: 'local', importFrom: 'local:import/noble.qcow2' }
  const agent = { agent: { enabled: true }, disks: [imported] }
  const withAgent = (state: 'up' | 'down' | undefined) => {
    const seen = exampleObserved()
    return { ...seen, close: { config: {}, atMs: 0, ...seen.close, ...(state === undefined ? {} : { agent: state }) } }
  }
  for (const [why, vm, observed, ready, status] of [
    ['running, no agent declared [R11]', { power: 'running' }, exampleObserved(), true, 'Running'],
    ['running, agent up', agent, withAgent('up'), true, 'Running'],
    ['running, agent down', agent, withAgent('down'), false, 'Booting'],
    ['running, agent not asked', agent, withAgent(undefined), false, 'Running'],
    ['stopped though it should run', { power: 'running' }, exampleObserved({}, { power: 'stopped' }), false, 'Stopped'],
    [
      'stopped as declared [R26]',
      { power: 'stopped', ...agent },
      exampleObserved({}, { power: 'stopped' }),
      true,
      'Stopped',
    ],
    ['stopped, power not declared', agent, exampleObserved({}, { power: 'stopped' }), true, 'Stopped'],
    ['running though it should not', { power: 'stopped' }, exampleObserved(), false, 'Running'],
    ['locked', {}, exampleObserved({}, { lock: 'clone' }), false, 'Creating'],
    ['template', { template: true }, exampleObserved({}, { power: 'stopped', template: true }), true, 'Template'],
    ['unknown', {}, exampleObserved({}, { power: 'unknown' }), false, 'Unknown'],
  ] as const) {
    it(why, () => {
      const readiness = rules.readiness(exampleResource(vm), observed)
      assert.deepEqual([readiness.ready, readiness.status], [ready, status])
    })
  }
})
