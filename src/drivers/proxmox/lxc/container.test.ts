import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkRequest } from '../../../../sim/proxmox/validate/index.ts'
import type { ContainerSpec } from '../../../model/container.ts'
import type { Change, Resource } from '../../../model/resource.ts'
import { proxmoxRules as rules } from '../rules.ts'
import { exampleObserved, exampleResource } from '../testing/vm-example.ts'

const BASE: ContainerSpec = { host: 'pve1', name: 'web-1', mounts: [], nics: [] }

function resourceOf(container: Partial<ContainerSpec>): Resource {
  return { ...exampleResource(), desired: { type: 'container', container: { ...BASE, ...container } } }
}

/** A running container of ours. */
function seen(config: Readonly<Record<string, unknown>>, power: 'running' | 'stopped' = 'running') {
  return exampleObserved(
    { name: undefined, hostname: 'web-1', rootfs: 'local:x,size=4G', ...config },
    { type: 'container', power },
  )
}

const told = (changes: readonly Change[]) => changes.map(({ path, from, to, effect }) => [path, from, to, effect])
const nic = { slot: 'net0', name: 'eth0', bridge: 'vmbr0' }
const mount = { slot: 'mp0', path: '/data', storage: 'local', sizeGb: 8 }

/** Declared value; sent parameters; equal answers; a differing one, its changes, and what is sent. */
const ROWS: readonly (readonly [
  string,
  Partial<ContainerSpec>,
  Readonly<Record<string, string>>,
  readonly object[],
  object,
  readonly (readonly unknown[])[],
  Readonly<Record<string, string>>,
])[] = [
  ['cores', { cpu: { cores: 2 } }, { cores: '2' }, [{ cores: 2 }], {}, [['cpu.cores', 0, 2, 'live']], { cores: '2' }],
  [
    'limits, the usual shares left out',
    { cpu: { limit: 1.5, units: 100 } },
    { cpulimit: '1.5', cpuunits: '100' },
    [{ cpulimit: '1.5' }, { cpulimit: 1.5, cpuunits: 100 }],
    { cpuunits: 200 },
    [
      ['cpu.limit', 0, 1.5, 'live'],
      ['cpu.units', 200, 100, 'live'],
    ],
    { cpulimit: '1.5', cpuunits: '100' },
  ],
  [
    'memory and swap',
    { memory: { dedicatedMb: 512, swapMb: 0 } },
    { memory: '512', swap: '0' },
    [{ swap: 0 }, { memory: 512, swap: 0 }],
    { memory: 256 },
    [
      ['memory.dedicatedMb', 256, 512, 'live'],
      ['memory.swapMb', 512, 0, 'live'],
    ],
    { memory: '512', swap: '0' },
  ],
  [
    'a card with its address; the hardware address stays',
    { nics: [{ ...nic, v4: '10.0.0.9/24', gateway4: '10.0.0.1', vlan: 5, firewall: true }] },
    { net0: 'name=eth0,bridge=vmbr0,tag=5,firewall=1,ip=10.0.0.9/24,gw=10.0.0.1' },
    [
      {
        net0: 'name=eth0,bridge=vmbr0,firewall=1,gw=10.0.0.1,hwaddr=BC:24:11:00:00:99,ip=10.0.0.9/24,tag=5,type=veth',
      },
    ],
    { net0: 'name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:99,ip=dhcp,type=veth' },
    [
      ['nics.net0.vlan', undefined, 5, 'live'],
      ['nics.net0.firewall', false, true, 'live'],
      ['nics.net0.v4', 'dhcp', '10.0.0.9/24', 'live'],
      ['nics.net0.gateway4', undefined, '10.0.0.1', 'live'],
    ],
    {
      net0: 'name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:99,ip=10.0.0.9/24,type=veth,tag=5,firewall=1,gw=10.0.0.1',
    },
  ],
  [
    'a mounted volume',
    { mounts: [{ ...mount, backup: true, mountOptions: ['noatime', 'nodev'] }] },
    { mp0: 'local:8,mp=/data,backup=1,mountoptions=noatime;nodev' },
    [{ mp0: 'local:114/vm-114-disk-1.raw,mp=/data,backup=1,mountoptions=nodev;noatime,size=8G' }],
    { mp0: 'local:114/vm-114-disk-1.raw,mp=/data,size=4G' },
    [
      ['mounts.mp0.sizeGb', 4, 8, 'live'],
      ['mounts.mp0.backup', false, true, 'restart'],
      ['mounts.mp0.mountOptions', [], ['noatime', 'nodev'], 'restart'],
    ],
    { mp0: 'local:114/vm-114-disk-1.raw,mp=/data,size=4G,backup=1,mountoptions=noatime;nodev' },
  ],
  [
    'name servers',
    { dns: { servers: ['1.1.1.1', '8.8.8.8'], domain: 'x.test' } },
    { nameserver: '1.1.1.1 8.8.8.8', searchdomain: 'x.test' },
    [{ nameserver: '1.1.1.1 8.8.8.8', searchdomain: 'x.test' }],
    { searchdomain: 'x.test' },
    [['dns.servers', [], ['1.1.1.1', '8.8.8.8'], 'restart']],
    { nameserver: '1.1.1.1 8.8.8.8' },
  ],
  [
    'nesting',
    { unprivileged: true, features: { nesting: true, fuse: false } },
    { unprivileged: '1', features: 'nesting=1' },
    [{ unprivileged: 1, features: 'nesting=1' }],
    { unprivileged: 1 },
    [['features.nesting', false, true, 'restart']],
    { features: 'nesting=1' },
  ],
  [
    'environment, in any order',
    { environment: { B: '2', A: '1' } },
    { env: 'A=1\0B=2' },
    [{ env: 'B=2\0A=1' }],
    { env: 'A=1' },
    [['environment', { A: '1' }, { B: '2', A: '1' }, 'restart']],
    { env: 'A=1\0B=2' },
  ],
]

describe('options of a container', () => {
  const own = ['vmid', 'hostname', 'description', 'tags']
  for (const [what, declared, create, same, other, changes, update] of ROWS) {
    it(what, () => {
      const resource = resourceOf(declared)
      const sent = rules.createSteps(resource, '114')[0]?.call?.params ?? {}
      assert.deepEqual(Object.fromEntries(Object.entries(sent).filter(([key]) => !own.includes(key))), create)
      for (const config of same) assert.deepEqual(told(rules.diff(resource, seen({ ...config }))), [])
      const observed = seen({ ...other })
      const found = rules.diff(resource, observed)
      assert.deepEqual(told(found), changes)
      const step = rules.updateSteps(resource, observed, found).find(({ verb }) => verb === 'configure')
      const { digest: _, description: __, ...params } = step?.call?.params ?? {}
      assert.deepEqual(params, update)
      assert.deepEqual(step && checkRequest('PUT', `/api2/json${step.call?.path}`, step.call?.params), [])
    })
  }

  it('the root disk grows, moves while it is stopped, and never shrinks', () => {
    const resource = resourceOf({ rootDisk: { storage: 'fast', sizeGb: 8 } })
    const running = rules.diff(resource, seen({ rootfs: 'local:114/vm-114-disk-0.raw,size=4G' }))
    assert.match(running.find(({ path }) => path === 'rootDisk.storage')?.blocked?.message ?? '', /while it runs/)
    const stopped = seen({ rootfs: 'local:114/vm-114-disk-0.raw,size=4G' }, 'stopped')
    const steps = rules.updateSteps(resource, stopped, rules.diff(resource, stopped))
    assert.deepEqual(
      steps.map(({ call }) => [call?.path, call?.params]),
      [
        ['/nodes/pve1/lxc/114/move_volume', { volume: 'rootfs', storage: 'fast', delete: '1', digest: 'd1' }],
        ['/nodes/pve1/lxc/114/resize', { disk: 'rootfs', size: '8G' }],
      ],
    )
    const larger = seen({ rootfs: 'fast:x,size=9G' })
    assert.deepEqual(told(rules.diff(resource, larger)), [['rootDisk.sizeGb', 9, 8, 'replace']])
  })

  for (const [path, container] of [
    ['features.keyctl', { features: { keyctl: true } }],
    ['features.nesting', { unprivileged: false, features: { nesting: true } }],
    ['devices.dev0', { devices: [{ slot: 'dev0', path: '/dev/dri/renderD128' }] }],
    ['mounts.mp0', { mounts: [{ slot: 'mp0', path: '/srv', source: '/srv' }] }],
    ['hookScript', { hookScript: 'local:snippets/x.sh' }],
  ] as const) {
    it(`${path} is refused before anything runs: only root may`, () => {
      const blocked = rules.diff(resourceOf(container), seen({})).filter((change) => change.blocked !== undefined)
      assert.deepEqual(
        blocked.map((change) => change.path),
        [path],
      )
      const survey = {
        connection: 'c',
        atMs: 0,
        hosts: [{ name: 'pve1', online: true }],
        storages: [],
        resources: [],
        tasks: [],
      }
      assert.ok(rules.obstacles(resourceOf(container), survey).some(({ message }) => message.includes('SSH lane')))
    })
  }

  for (const [what, declared, observed, expected] of [
    ['becomes a template', { template: true }, seen({}), ['shutdown', 'template']],
    ['is off and becomes a template', { template: true }, seen({}, 'stopped'), ['template']],
    ['is to be off', { power: 'stopped' }, seen({}), ['shutdown']],
    ['is to run', { power: 'running' }, seen({}, 'stopped'), ['start']],
    ['is as declared', { power: 'running' }, seen({}), []],
  ] as const)
    it(`a container that ${what}: ${expected.join(', ')}`, () => {
      const resource = resourceOf(declared)
      const steps = rules.updateSteps(resource, observed, rules.diff(resource, observed))
      assert.deepEqual(
        steps.map(({ verb }) => verb),
        expected,
      )
    })

  it('a new container is started where it is to run, and a template never', () => {
    const verbs = (declared: Partial<ContainerSpec>) =>
      rules.createSteps(resourceOf(declared), '114').map(({ verb }) => verb)
    assert.deepEqual(verbs({ power: 'running' }), ['create', 'start'])
    assert.deepEqual(verbs({ power: 'stopped' }), ['create'])
    assert.deepEqual(verbs({ power: 'running', template: true }), ['create', 'template'])
  })

  it('a running container is restarted for what needs it, unless nobody may, and put into a pool only when that changed', () => {
    const change = (path: string, effect: Change['effect']): Change => ({ path, from: 1, to: 2, effect })
    const verbs = (changes: readonly Change[], declared: Partial<ContainerSpec> = {}, power?: 'stopped') =>
      rules.updateSteps(resourceOf({ pool: 'k3s', ...declared }), seen({}, power), changes).map(({ verb }) => verb)
    assert.deepEqual(verbs([change('x', 'restart')]), ['reboot'])
    assert.deepEqual(verbs([change('x', 'restart')], { restart: 'never' }), [])
    assert.deepEqual(verbs([change('x', 'restart')], {}, 'stopped'), [])
    assert.deepEqual(verbs([change('x', 'live')]), [])
    assert.deepEqual(verbs([change('pool', 'live')]), ['configure'])
  })

  it('a password is only ever a reference, and is sent once', () => {
    const [create] = rules.createSteps(resourceOf({ password: { env: 'PW' } }), '114')
    assert.deepEqual(create?.secretParams, ['password'])
    assert.deepEqual(rules.diff(resourceOf({ password: { env: 'OTHER' }, sshKeys: ['x'] }), seen({})), [])
  })
})
