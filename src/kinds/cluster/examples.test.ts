import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { configYaml, nodeConfig } from '../../k3s/config.ts'
import { resourceUid } from '../../model/declaration.ts'
import type { ClusterDeclaration, Estate } from '../../model/estate.ts'
import { link } from '../../plan/link.ts'
import type { Revision } from '../../source/git/revision.ts'
import { readTree } from '../../source/read-tree.ts'
import { ROOT, readText } from '../../source/testing/fixture.ts'
import { findKind } from '../registry.ts'

function linked(revision: Revision): Estate {
  return link(revision, { findKind, problemAt: revision.problemAt })
}

async function example(name: string): Promise<{ readonly estate: Estate; readonly cluster: ClusterDeclaration }> {
  const estate = linked(await readTree(join(ROOT, 'examples', name)))
  assert.deepEqual(
    estate.problems.filter(({ severity }) => severity === 'error'),
    [],
  )
  const [cluster, ...others] = estate.clusters ?? []
  assert.ok(cluster)
  assert.equal(others.length, 0)
  return { estate, cluster }
}

/** config.yaml of a node, as flags. */
function configOf({ spec }: ClusterDeclaration, name: string): Readonly<Record<string, unknown>> {
  const node = [...spec.servers, ...spec.agents].find((one) => one.name === name)
  assert.ok(node)
  const text = configYaml(nodeConfig(spec, node))
  return Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(`[${line.replace(': ', ',')}]`) as [string, unknown]),
  )
}

test('[R20] [R24] the metal cluster is started with the flags that its owner used by hand', async () => {
  const { cluster, estate } = await example('k3s-metal')
  const made = estate.resources.filter(({ desired }) => desired.type !== 'object')
  assert.deepEqual(made, [], 'no machine is made: only what stands inside the cluster')
  assert.equal(cluster.estate, 'default')
  assert.deepEqual([...cluster.hosts.keys()].sort(), ['cow', 'duck', 'sheep'])
  const server = configOf(cluster, 'cow')
  assert.deepEqual(server.disable, ['coredns', 'servicelb', 'traefik'])
  for (const [flag, value] of Object.entries({
    'disable-cloud-controller': true,
    'secrets-encryption': true,
    'flannel-backend': 'none',
    'node-ip': '192.168.14.2,fd12:3456:789a:14::2',
    'cluster-cidr': '10.42.0.0/16,fd22:2025:6a6a:42::/104',
    'service-cidr': '10.43.0.0/16,fd22:2025:6a6a:43::/112',
    'kube-controller-manager-arg': ['node-cidr-mask-size-ipv6=120'],
    'disable-network-policy': true,
    'disable-kube-proxy': true,
    'tls-san': ['k3s.farm.example'],
    'node-name': 'cow',
  }))
    assert.deepEqual(server[flag], value, flag)
  const agent = configOf(cluster, 'duck')
  assert.equal(agent['node-ip'], '192.168.14.4,fd12:3456:789a:14::4')
  assert.equal(agent.server, 'https://k3s.farm.example:6443')
  // An agent does not know the flags of servers and would not start with them.
  assert.equal(agent['flannel-backend'], undefined)
  assert.deepEqual(
    cluster.spec.agents.map(({ name, power }) => [name, power]),
    [
      ['duck', 'onDemand'],
      ['sheep', 'always'],
    ],
  )
})

test('[R12] [A13] the libvirt cluster has the addresses that are written, and waits for no lease', async () => {
  const { cluster, estate } = await example('k3s-libvirt')
  const nodes = [...cluster.spec.servers, ...cluster.spec.agents]
  assert.deepEqual(
    nodes.map(({ name, nodeIps }) => [name, ...nodeIps]),
    [
      ['k3s-cp-01', '192.168.122.10'],
      ['k3s-worker-01', '192.168.122.11'],
      ['k3s-worker-02', '192.168.122.12'],
    ],
  )
  const vms = estate.resources.flatMap(({ desired }) => (desired.type === 'vm' ? [desired.vm] : []))
  assert.equal(vms.length, 3)
  for (const { seed, cpu, memory } of vms) {
    assert.deepEqual([cpu?.cores, memory?.dedicatedMb], [6, 10_240])
    const config = JSON.stringify(seed?.document.networkConfig)
    assert.match(config, /"dhcp4":false,.*"192\.168\.122\.1[012]\/24".*"via":"192\.168\.122\.1"/)
  }
  assert.deepEqual(new Set(estate.resources.map(({ driver }) => driver)), new Set(['libvirt']))
})

test('[R3] the Proxmox cluster makes five machines from one object, and each knows where it is written', async () => {
  const { cluster, estate } = await example('k3s-proxmox')
  const machines = estate.resources.filter(({ kind }) => kind === 'Machine')
  assert.deepEqual(
    machines.map(({ name, uid, key, origin }) => [name, uid === resourceUid('default', key), origin.file]),
    [...cluster.spec.servers, ...cluster.spec.agents].map(({ name }) => [name, true, 'cluster.yaml']),
  )
  assert.ok(new Set(machines.map(({ origin }) => origin.line)).size >= 4)
  const gpu = machines.find(({ name }) => name === 'k3s-vm-pumped-piglet-gpu')
  assert.ok(gpu?.desired.type === 'vm')
  assert.deepEqual(
    gpu.desired.vm.pci?.map(({ mapping }) => mapping),
    ['rtx3070'],
  )
  assert.deepEqual(
    gpu.desired.vm.nics.map(({ bridge }) => bridge),
    ['vmbr1'],
  )
})

const REST = `apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: alpha}
spec: {bindings: {networks: {lan: {bridge: vmbr0}}, storages: {fast: local-zfs, files: local}}}
---
apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: "https://127.0.0.1:8006", token: {env: T}, estate: attic}
---
apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: noble}
spec: {url: "https://example.com/noble.qcow2", storage: files}
---
apiVersion: croft.dev/v1alpha1
kind: MachineClass
metadata: {name: node}
spec: {cpu: {cores: 2}, memory: 4Gi, disks: [{size: 20Gi, image: noble, storage: fast}]}
---
`
const cluster = (spec: string) => `${REST}apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: c}
spec: {version: v1.34.3+k3s1, network: lan, class: node, ${spec}}
`

test('a cluster belongs to the estate of its machines', () => {
  const estate = linked(readText(cluster('servers: [{name: s1, host: alpha}]')))
  assert.deepEqual(
    estate.clusters?.map((one) => one.estate),
    ['attic'],
  )
  assert.equal(estate.incomplete, false)
})

test('what cannot be read of a cluster is not taken for gone', () => {
  for (const wrong of ['servers: [{name: s1, host: beta}]', 'servers: [{name: s1, hots: alpha}]']) {
    const estate = linked(readText(cluster(wrong)))
    assert.deepEqual(estate.unreadable, ['Cluster/c'])
    assert.equal(estate.incomplete, true)
    assert.equal(estate.clusters, undefined)
  }
})

test('a machine that a class is missing for keeps its cluster from being accepted in part', () => {
  const estate = linked(
    readText(cluster('servers: [{name: s1, host: alpha}, {name: s2, host: alpha, class: big}], endpoint: {dns: k}')),
  )
  assert.deepEqual(
    estate.problems
      .filter(({ severity }) => severity === 'error')
      .map(({ message, origin }) => `${origin.line}:${origin.column} ${message}`),
    ['24:124 there is no MachineClass big'],
  )
  assert.deepEqual(
    estate.resources.map(({ key }) => key).filter((key) => key.startsWith('Machine/')),
    [],
  )
})

test('a vmid that two machines claim is told where each is written, and no half of a cluster is followed', () => {
  const two =
    'servers: [{name: s1, host: alpha, proxmox: {vmid: 200}}], agents: [{name: a1, host: alpha, proxmox: {vmid: 200}}]'
  const estate = linked(readText(cluster(two)))
  assert.deepEqual(
    estate.problems.filter(({ code }) => code === 'id-claimed-twice').map(({ field }) => field),
    ['spec.agents[0].proxmox.vmid', 'spec.servers[0].proxmox.vmid'],
  )
  assert.match(estate.problems.map(({ message }) => message).join(), /Machine\/s1, Machine\/a1 could not be accepted/)
  assert.deepEqual([estate.clusters, estate.unreadable, estate.incomplete], [undefined, ['Cluster/c'], true])
})

test('a cluster whose connection cannot be read is not gone, and that is said once', () => {
  const text = cluster('servers: [{name: s1, host: alpha}]').replace('token: {env: T}', 'token: {evn: T}')
  const estate = linked(readText(text))
  const wrong = estate.problems.filter(({ severity }) => severity === 'error').map(({ object }) => object)
  assert.deepEqual([...new Set(wrong)], ['Proxmox/default'])
  assert.ok(estate.unreadable.includes('Cluster/c'))
  assert.equal(estate.clusters, undefined)
})
