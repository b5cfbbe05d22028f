import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient } from '../../../sim/test-client.ts'
import { proxmoxDriver } from '../../drivers/proxmox/driver.ts'
import { createEngine } from '../../engine/create.ts'
import { seededRandom } from '../../lib/random.ts'
import { printDrafts } from '../../source/foreign/draft.ts'
import { clusterApi } from '../../source/foreign/formats/cluster-api.ts'
import { kubemox } from '../../source/foreign/formats/kubemox.ts'
import type { ForeignFormat, ForeignReading } from '../../source/foreign/reading.ts'
import { createMemoryStore } from '../../store/memory.ts'
import { CONNECTION, driverDeps, loaded } from './testing/simulated.ts'

/** Guests of the two operators, as kubectl prints them. */
const KUBEMOX = `apiVersion: v1
kind: List
items:
- apiVersion: proxmox.alperen.cloud/v1alpha1
  kind: VirtualMachine
  metadata: {name: web, namespace: default}
  spec:
    name: web
    nodeName: pve1
    template: {name: noble, cores: 2, socket: 1, memory: 2048, disk: [{storage: local, size: 4, device: scsi0}]}
  status: {status: {state: running, node: pve1, uptime: 1h, id: 201}}
- apiVersion: proxmox.alperen.cloud/v1alpha1
  kind: VirtualMachine
  metadata: {name: later}
  spec: {name: later, nodeName: pve1}
- apiVersion: proxmox.alperen.cloud/v1alpha1
  kind: VirtualMachineSet
  metadata: {name: set}
  spec: {replicas: 2}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: other}
`
const CLUSTER_API = `apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: ProxmoxMachine
metadata: {name: barn-control-plane-x7k2p}
spec:
  virtualMachineID: 201
  providerID: proxmox://4a0a0a0a-0000-0000-0000-000000000000
  numCores: 2
  numSockets: 1
  memoryMiB: 2048
  disks: {bootVolume: {disk: scsi0, sizeGb: 4}}
  tags: [k3s]
status: {proxmoxNode: pve1, ready: true}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KThreesControlPlane
metadata: {name: barn-control-plane}
spec: {replicas: 3, version: v1.34.3+k3s1}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: barn-workers}
spec: {replicas: 2}
`

const CASES: readonly (readonly [ForeignFormat, string, string, readonly string[]])[] = [
  [
    kubemox,
    KUBEMOX,
    'EnvironmentVM/web',
    [
      'VirtualMachine web: disk is not declared and stays as it is',
      'VirtualMachine later: its status does not say on which host it is and which number it has; export the objects of the cluster (kubectl get -o yaml), not those of Git',
      'VirtualMachineSet set: its machines are objects of their own, VirtualMachine: export those',
    ],
  ],
  [
    clusterApi,
    CLUSTER_API,
    'EnvironmentVM/barn-control-plane-x7k2p',
    [
      'ProxmoxMachine barn-control-plane-x7k2p: disks is not declared and stays as it is',
      'ProxmoxMachine barn-control-plane-x7k2p: tags are not declared and stay as they are',
      'ProxmoxMachine barn-control-plane-x7k2p: delete the Machine from Cluster API only after its controllers are gone: with the object they delete the VM',
      'KThreesControlPlane barn-control-plane: croft keeps a cluster by its nodes: write a Host for each (croft host enroll) and a Cluster with them, and its first plan takes it over; its version and flags are read from the nodes',
      'MachineDeployment barn-workers: croft has no sets: each Machine of a Cluster is declared',
    ],
  ],
]

for (const [format, text, key, lost] of CASES)
  test(`[R31] a guest of ${format.name} is imported, and its plan is its adoption and nothing else`, async () => {
    const client = createTestClient({ preset: 'empty', hosts: ['pve1'] })
    const made = {
      vmid: '201',
      name: key.split('/')[1] ?? '',
      cores: '2',
      sockets: '1',
      memory: '2048',
      scsi0: 'local:4',
      tags: 'k3s',
    }
    assert.equal(await client.task('POST', '/nodes/pve1/qemu', made), 'OK')
    assert.equal(await client.task('POST', '/nodes/pve1/qemu/201/status/start', {}), 'OK')
    await client.pass(60_000)
    const read = format.read([{ path: 'export.yaml', text }], {})
    assert.ok(!('problem' in read))
    assert.deepEqual(
      read.notCarried.map(({ what, why }) => `${what}: ${why}`),
      lost,
    )
    const { estate } = loaded({ 'c.yaml': CONNECTION, 'i.yaml': printDrafts(read.drafts) })
    assert.deepEqual(estate.problems, [])
    const engine = createEngine({
      clock: client.clock,
      random: seededRandom(3),
      store: createMemoryStore(),
      drivers: [proxmoxDriver],
      driverDeps: driverDeps(client),
    })
    const { signal } = new AbortController()
    const plan = await client.clock.runUntil(engine.plan(estate, signal))
    assert.deepEqual(
      plan.entries.map(({ key: of, action }) => [of, action.do, action.do === 'adopt' ? action.changes : action]),
      [[key, 'adopt', []]],
    )
    await client.clock.runUntil(engine.settle(estate, { signal, deadlineMs: 120_000 }))
    const after = await client.clock.runUntil(engine.plan(estate, signal))
    assert.deepEqual(
      after.entries.map(({ action }) => action.do),
      ['nothing'],
    )
    await engine.close()
  })

test('a stopped machine of Kubemox stays stopped', () => {
  const stopped = KUBEMOX.replaceAll('state: running', 'state: stopped')
  assert.notEqual(stopped, KUBEMOX)
  const { drafts } = kubemox.read([{ path: 'a.yaml', text: stopped }], {}) as ForeignReading
  const spec = drafts[0]?.manifest.spec as { forProvider: { started?: boolean } } | undefined
  assert.equal(spec?.forProvider.started, false)
})
