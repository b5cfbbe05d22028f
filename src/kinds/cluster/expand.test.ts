import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourceUid } from '../../model/declaration.ts'
import { declare, vmOf as declaredVm } from '../machines/testing/fixture.ts'
import { complaints, fields, grow, KEY, surroundings, THREE, vmOf } from './testing/homelab.ts'

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGj1Zr3mQyv9dQm0yq0S3mX8w1vK5n2bJ7cT4uR6hLpA'

test('[R7] a node is one line: machine, address, document and node follow from it', () => {
  const { cluster, parts } = grow(fields())
  assert.deepEqual(
    parts.map(({ key, as }) => [key, as?.kind, as?.name]),
    [
      ['Machine/s1', 'Machine', 's1'],
      ['Machine/s2', 'Machine', 's2'],
      ['Machine/s3', 'Machine', 's3'],
    ],
  )
  for (const { name, machine, nodeIps } of cluster.spec.servers) {
    assert.deepEqual(machine, { key: `Machine/${name}` })
    const vm = vmOf(parts, name)
    const networkConfig = JSON.stringify(vm.seed?.document.networkConfig)
    assert.equal(nodeIps.length, 1)
    assert.ok(networkConfig.includes(`"${nodeIps[0]}/16"`))
    assert.deepEqual(parts[0]?.needs, ['Image/noble@alpha'])
  }
})

test('the machine of a node is the one that a Machine of its name would be', () => {
  const spec = { host: 'alpha', class: 'worker', networks: [{ network: 'lan' }], user: 'ops', sshKeys: [KEY] }
  const machine = declare('Machine', 's1', spec)
  const alone = declaredVm(machine, [...surroundings(), machine])
  const node = vmOf(grow(fields({ user: 'ops', sshKeys: [KEY] })).parts, 's1')
  const { seed: _a, onBoot: _b, ...bare } = alone
  const { seed: _c, onBoot: _d, ...made } = node
  assert.deepEqual(made, bare)
  assert.deepEqual(node.seed?.document.networkConfig, alone.seed?.document.networkConfig)
  assert.equal(resourceUid('default', 'Machine/s1').length, 16)
})

test('[A18] one declaration, and each host calls the network what it calls it', () => {
  const { parts } = grow(fields())
  assert.deepEqual(
    ['s1', 's2'].map((name) => vmOf(parts, name).nics[0]?.bridge),
    ['vmbr0', 'vmbr25gbe'],
  )
})

test('a class fills in what a node does not say', () => {
  const { parts } = grow(
    fields({ servers: [{ name: 's1', host: 'alpha', memory: '8Gi', cpu: { type: 'host' } }], endpoint: undefined }),
  )
  const vm = vmOf(parts, 's1')
  assert.deepEqual([vm.memory, vm.cpu], [{ dedicatedMb: 8192 }, { cores: 2, type: 'host' }])
  assert.equal(vm.disks[0]?.sizeGb, 20)
})

test('agents by count are named and counted, dealt out to hosts or left to croft', () => {
  const listed = grow(fields({ agents: { name: 'w', count: 3, hosts: ['beta', 'alpha'] } }))
  assert.deepEqual(
    listed.cluster.spec.agents.map(({ name }) => name),
    ['w-1', 'w-2', 'w-3'],
  )
  assert.deepEqual(
    ['w-1', 'w-2', 'w-3'].map((name) => vmOf(listed.parts, name).host),
    ['alpha', 'beta', 'alpha'],
  )
  const free = grow(fields({ agents: { count: 2, spread: 'host' } }))
  const agents = free.parts.filter(({ key }) => key.startsWith('Machine/homelab-agent-'))
  assert.deepEqual(
    agents.map(({ placement }) => [placement?.spread, placement?.candidates.length]),
    [
      ['homelab-agents', 2],
      ['homelab-agents', 2],
    ],
  )
  const apart = grow(fields({ servers: THREE.map(({ name }) => ({ name, host: 'auto' })) }))
  assert.ok(apart.parts.every(({ placement }) => placement?.apart === 'homelab-servers'))
})

test('[R8] servers are kept for their cluster unless that is said not to matter', () => {
  const policies = (more: object) =>
    grow(fields({ agents: [{ name: 'w', host: 'alpha' }], ...more })).parts.map(({ as }) => as?.policy.serverOf)
  assert.deepEqual(policies({}), ['Cluster/homelab', 'Cluster/homelab', 'Cluster/homelab', undefined])
  assert.deepEqual(policies({ protect: false }), [undefined, undefined, undefined, undefined])
})

test('[R26] a machine that sleeps is neither started nor stopped by its declaration', () => {
  const { cluster, parts } = grow(fields({ agents: [{ name: 'duck', host: 'alpha', power: 'onDemand' }] }))
  assert.equal(vmOf(parts, 'duck').power, undefined)
  assert.equal(vmOf(parts, 's1').power, 'running')
  assert.equal(cluster.spec.agents[0]?.power, 'onDemand')
})

test('[R20] boxes that were there before, plain machines and EnvironmentVMs are nodes too', () => {
  const around = [
    ...surroundings(),
    declare('Host', 'cow', { ssh: { address: '10.9.0.2', user: 'k3s', hostKeys: [HOST_KEY] } }),
    declare('Machine', 'm1', { host: 'alpha', class: 'worker', networks: [{ network: 'lan', address: '10.0.0.9' }] }),
    declare('EnvironmentVM', 'vm1', {
      forProvider: { nodeName: 'alpha', initialization: { ipConfig: [{ ipv4: { address: '10.0.0.10/16' } }] } },
    }),
  ]
  const { cluster, parts } = grow(
    fields({
      servers: [{ machine: 'Host/cow' }, { machine: 'Machine/m1' }, { machine: 'EnvironmentVM/vm1' }],
    }),
    around,
  )
  assert.deepEqual(parts, [])
  assert.deepEqual(
    cluster.spec.servers.map(({ name, machine, nodeIps }) => [name, machine, nodeIps]),
    [
      ['cow', { host: 'cow' }, ['10.9.0.2']],
      ['m1', { key: 'Machine/m1' }, ['10.0.0.9']],
      ['vm1', { key: 'EnvironmentVM/vm1' }, ['10.0.0.10']],
    ],
  )
  assert.deepEqual([...cluster.hosts.keys()], ['cow'])
  assert.deepEqual([cluster.hosts.get('cow')?.user, cluster.hosts.get('cow')?.sudo], ['k3s', 'passwordless'])
})

test('[R24] dual stack is one field; nodes state both families in the order of the ranges', () => {
  const { cluster } = grow(
    fields({
      family: 'dual',
      servers: [{ name: 's1', host: 'alpha', address: '10.0.0.5', ipv6: 'fd00:1::5/64' }],
      endpoint: undefined,
    }),
  )
  assert.deepEqual(cluster.spec.network.podCidrs, ['10.42.0.0/16', 'fd42:42::/56'])
  assert.deepEqual(cluster.spec.network.serviceCidrs, ['10.43.0.0/16', 'fd42:43::/112'])
  assert.deepEqual(cluster.spec.servers[0]?.nodeIps, ['10.0.0.5', 'fd00:1::5'])
})

test('addresses that are known only in part are left to the node', () => {
  const { cluster } = grow(
    fields({ family: 'dual', servers: [{ name: 's1', host: 'alpha', ipv6: 'auto' }], endpoint: undefined }),
  )
  assert.deepEqual(cluster.spec.servers[0]?.nodeIps, [])
})

test('[R13] the endpoint and stated addresses are given to nobody else', () => {
  const around = surroundings().map((one) =>
    one.kind === 'AddressPool'
      ? declare('AddressPool', 'lan', { cidr: '10.0.0.0/16', ranges: [{ from: '10.0.3.77', to: '10.0.3.81' }] })
      : one,
  )
  const { cluster } = grow(fields(), around)
  const ips = cluster.spec.servers.flatMap(({ nodeIps }) => nodeIps)
  assert.equal(new Set([...ips, '10.0.3.79']).size, 4)
  const four = fields({ agents: { name: 'w', count: 2, hosts: ['alpha'] } })
  assert.match(complaints(four, around).join(), /AddressPool lan .* has no free address left/)
  const machine = declare('Machine', 'x', {
    host: 'alpha',
    class: 'worker',
    networks: [{ network: 'lan', address: '10.0.0.9' }],
  })
  const clash = fields({ servers: [{ name: 's1', host: 'alpha', address: '10.0.0.9' }], endpoint: undefined })
  assert.match(complaints(clash, [...surroundings(), machine]).join(), /servers\.0\.address: 10\.0\.0\.9 is used twice/)
})

const WRONG: readonly [what: string, more: object, expected: string][] = [
  ['an unknown class', { class: 'wroker' }, 'spec.class: there is no MachineClass wroker'],
  [
    'an unknown host',
    { servers: [{ name: 's1', host: 'gamma' }], endpoint: undefined },
    'spec.servers.0.host: there is no Host gamma',
  ],
  [
    'an unknown machine',
    { servers: [{ machine: 'Machine/m9' }], endpoint: undefined },
    'spec.servers.0.machine: there is no Machine m9',
  ],
  [
    'a host without SSH',
    { servers: [{ machine: 'Host/alpha' }], endpoint: undefined },
    'spec.servers.0.machine: the Host alpha does not say how it is reached over SSH',
  ],
  [
    'a check that is not declared',
    { upgrade: { healthChecks: ['ceph'] } },
    'spec.upgrade.healthChecks.0: there is no HealthCheck ceph',
  ],
  [
    'an unbound network',
    { network: 'dmz' },
    'spec.network: s1: host alpha does not bind the network dmz, and no other host does',
  ],
  [
    'ranges that overlap',
    { podCidrs: ['10.42.0.0/16'], serviceCidrs: ['10.42.128.0/20'] },
    "spec.podCidrs: the pods' 10.42.0.0/16 and the services' 10.42.128.0/20 overlap",
  ],
  ['a node in the pod range', { podCidrs: ['10.0.0.0/16'] }, 'lies in 10.0.0.0/16'],
  ['no range', { podCidrs: ['10.42.0.1/16'] }, 'spec.podCidrs.0: 10.42.0.1/16 is not a range like'],
  ['a wide service range', { serviceCidrs: ['10.0.0.0/8'] }, 'spec.serviceCidrs: 10.0.0.0/8 is wider than /12'],
  [
    'the endpoint among pods',
    { endpoint: { vip: '10.42.0.7' } },
    'spec.endpoint.vip: the vip 10.42.0.7 lies in 10.42.0.0/16',
  ],
  ['a token as a flag', { serverFlags: { token: 'x' } }, 'spec.serverFlags.token: token is set by croft itself'],
  [
    'a flag with a field',
    { serverFlags: { 'cluster-cidr': 'x' } },
    'spec.serverFlags.cluster-cidr: cluster-cidr has its own field in the cluster',
  ],
  [
    'a mask as an argument',
    { serverFlags: { 'kube-controller-manager-arg': ['node-cidr-mask-size=22'] } },
    'nodeMasks',
  ],
  [
    'a flag that must be alike',
    { servers: [{ name: 's1', host: 'alpha', flags: { disable: ['traefik'] } }], endpoint: undefined },
    'spec.servers.0.flags.disable: disable must be alike on all servers; say it in serverFlags',
  ],
  [
    'user data that contradicts',
    { userData: { manage_etc_hosts: true } },
    'spec.userData.manage_etc_hosts: manage_etc_hosts is also written by croft, and differently',
  ],
  [
    'user data that is none',
    { userData: { runcdm: [] } },
    'spec.userData.runcdm: "runcdm" is nothing that cloud-init knows',
  ],
]

for (const [what, more, expected] of WRONG) {
  test(`${what} is refused at its place`, () => {
    const found = complaints(fields(more))
    assert.ok(
      found.some((one) => one.includes(expected)),
      found.join('\n'),
    )
  })
}

test('a machine belongs to one node of one cluster', () => {
  const machine = declare('Machine', 's1', { host: 'alpha', class: 'worker' })
  assert.deepEqual(complaints(fields(), [...surroundings(), machine]), [
    'spec.servers.0.host: the machine of s1 would be Machine/s1, and that is declared at a.yaml:1:1',
  ])
  const other = declare('Cluster', 'other', fields({ servers: [{ name: 's2', host: 'beta' }], endpoint: undefined }))
  assert.deepEqual(complaints(fields(), [...surroundings(), other]), [
    'spec.servers.1.name: Machine/s2 is also node s2 of Cluster/other',
  ])
  const cow = declare('Host', 'cow', { ssh: { address: '10.9.0.2', hostKeys: [HOST_KEY] } })
  const twice = fields({
    servers: [{ machine: 'Host/cow' }],
    agents: [{ name: 'calf', machine: 'Host/cow' }],
    endpoint: undefined,
  })
  assert.equal(complaints(twice, [...surroundings(), cow]).length, 2)
})

test('[R2] a declared machine must call itself what the node is called', () => {
  const machine = declare('Machine', 'm1', { host: 'alpha', class: 'worker', hostname: 'web' })
  const spec = fields({ servers: [{ name: 'm1', machine: 'Machine/m1' }], endpoint: undefined })
  assert.deepEqual(complaints(spec, [...surroundings(), machine]), [
    'spec.servers.0.name: the node is called m1 and Machine/m1 calls itself web',
  ])
})

test('durations, windows and sources mean what is written', () => {
  const { cluster } = grow(
    fields({
      upgrade: {
        soak: '1h30m',
        windows: [{ days: ['sun', 'sat'], from: '22:30', to: '05:00', timeZone: 'Europe/Berlin' }],
      },
      remediation: { evictAfter: '7d' },
      artifacts: [{ file: '/opt/k3s/{version}/k3s' }, { mirror: 'https://mirror.home.arpa/k3s/' }, { release: true }],
      backup: { schedule: '0 */6 * * *', to: { nfs: { server: 'nas', path: '/srv/etcd' } } },
    }),
  )
  const { upgrade, remediation, backup } = cluster.spec
  assert.equal(upgrade.soakMs, 5_400_000)
  assert.deepEqual(upgrade.windows, [{ days: [0, 6], fromMinute: 1350, toMinute: 300, timeZone: 'Europe/Berlin' }])
  assert.equal(remediation.evictAfterMs, 604_800_000)
  assert.deepEqual(cluster.artifacts, [
    { file: '/opt/k3s/{version}/k3s' },
    { mirror: 'https://mirror.home.arpa/k3s' },
    { release: true },
  ])
  assert.deepEqual(backup, { schedule: '0 */6 * * *', keep: 12, to: { nfs: { server: 'nas', path: '/srv/etcd' } } })
})
