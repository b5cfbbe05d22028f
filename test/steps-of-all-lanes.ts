import assert from 'node:assert/strict'
import { rules as objectRules } from '../src/drivers/kubernetes/rules.ts'
import { deletion } from '../src/drivers/kubernetes/steps.ts'
import { applied, MAP, resource as objectResource, seen, wanted } from '../src/drivers/kubernetes/testing/fixture.ts'
import { libvirtRules } from '../src/drivers/libvirt/rules.ts'
import { proxmoxRules } from '../src/drivers/proxmox/rules.ts'
import { exampleObserved, exampleResource } from '../src/drivers/proxmox/testing/vm-example.ts'
import { rules as hostRules } from '../src/drivers/ssh/rules.ts'
import { losingData, removed } from '../src/model/destruction.ts'
import type { Plan } from '../src/model/plan.ts'
import type { Change, ObservedResource, Resource } from '../src/model/resource.ts'
import type { Step } from '../src/model/step.ts'
import { coordinate } from '../src/plan/clusters/coordinate.ts'
import { local, losing } from '../src/plan/clusters/restore.ts'
import {
  clusterSpec,
  FRESH,
  HOUR,
  kubeNode,
  NOW,
  nodeSpec,
  observedCluster,
} from '../src/plan/clusters/testing/fixture.ts'
import {
  clusterWith,
  decide,
  host,
  node,
  observedWith,
  specWith,
  WORKLOADS,
} from '../src/plan/power/testing/fixture.ts'

/* Steps as drivers and coordinators decide them: for files that an earlier version wrote, and for reading them again. */

/** By what they are about. */
export interface StepsOfAllLanes {
  readonly thing: Readonly<Record<string, readonly Step[]>>
  readonly cluster: readonly Step<'cluster'>[]
  readonly operation: readonly Step<'operation'>[]
  readonly power: readonly Step<'power'>[]
}

const MEMORY: Change = { path: 'memory.dedicatedMb', from: 2048, to: 4096, effect: 'live' }
const SECRET = { ...MAP, kind: 'Secret' }

/** The croft that wrote the files sent a password together with the creation: a step with secrets and much else. */
function inOneCall([create, password, ...rest]: readonly Step[]): readonly Step[] {
  assert.ok(create?.lane === 'rest' && password?.lane === 'rest')
  const { secretParams } = password
  assert.ok(secretParams)
  const params = { ...create.call.params, ...password.call.params }
  return [{ ...create, call: { ...create.call, params }, secretParams }, ...rest]
}

/** It also deleted volumes that the configuration did not name. */
function withUnreferenced(steps: readonly Step[]): readonly Step[] {
  return steps.map((step) => {
    if (step.lane !== 'rest' || step.verb !== 'delete') return step
    const params = { ...step.call.params, 'destroy-unreferenced-disks': '1' }
    return { ...step, call: { ...step.call, params } }
  })
}

const LOST = losingData({ name: 's1', k3s: 'unknown' }, 'ordered')

export function stepsOfAllLanes(): StepsOfAllLanes {
  const vm = { memory: { dedicatedMb: 4096 }, cloudInit: { user: 'u', password: { env: 'PW' } } } as never
  const guest = exampleResource(vm)
  const keyed = wanted(SECRET, { plural: 'secrets', secrets: { key: { env: 'KEY' } } })
  const charted = wanted({ ...SECRET, data: { a: 'c2VjcmV0' } } as never, { plural: 'secrets' })
  const there = seen({ object: { ...applied(wanted()), metadata: { name: 'm', namespace: 'n', uid: 'u-1' } } })
  return {
    thing: {
      proxmox: [
        ...inOneCall(proxmoxRules.createSteps(guest, '114')),
        ...proxmoxRules.updateSteps(guest, exampleObserved({ memory: '2048' }), [MEMORY]),
        ...withUnreferenced(proxmoxRules.deleteSteps(removed(exampleObserved({ memory: '2048' }), []))),
      ],
      kubernetes: [
        ...objectRules.createSteps(objectResource(wanted(MAP, { force: true })), 'ConfigMap/n/m'),
        ...objectRules.createSteps(objectResource(keyed), 'Secret/n/m'),
        ...objectRules.createSteps(objectResource(charted), 'Secret/n/m'),
        ...deletion(removed(there, [])),
      ],
      ssh: hostRules.deleteSteps(removed(item(), [])),
      libvirt: [
        ...libvirtRules.createSteps(domain(), '11111111-2222-3333-4444-555555555555'),
        ...libvirtRules.deleteSteps(removed(seenDomain(), [])),
      ],
    },
    cluster: clusterSteps(),
    operation: [
      losing(nodeSpec('s1'), 'restore-snapshot', LOST, 'restore the snapshot on s1', 'it to be restored', 'job-done'),
      local('hold', 'hold the cluster', 'nothing'),
    ],
    power: powerSteps(),
  }
}

/** A plan that would do all of them. */
export function planOfAllLanes(): Plan {
  const { thing, cluster } = stepsOfAllLanes()
  const spec = clusterSpec('s1 s2 s3 a1')
  const observed = observedCluster('s1 s2 s3 a1', { a1: FRESH })
  const decision = { ...coordinate(spec, observed, NOW), steps: cluster }
  return {
    entries: Object.entries(thing).map(([driver, steps]) => ({
      key: `EnvironmentVM/${driver}`,
      uid: 'u',
      connection: driver,
      type: 'vm',
      action: { do: 'create', reason: 'absent', externalId: '114', steps },
    })),
    notes: [],
    problems: [],
    clusters: [{ declaration: { key: 'Cluster/homelab', name: 'homelab', spec }, observed, decision }],
  } as unknown as Plan
}

function clusterSteps(): readonly Step<'cluster'>[] {
  const three = clusterSpec('s1 s2 s3 a1')
  const joining = observedCluster('s1 s2 s3 a1', { a1: FRESH })
  const ghost = observedCluster('s1 s2 s3 a1 a9', { a9: { k3s: 'unknown', kube: { ...kubeNode, ready: 'no' } } })
  const newer = clusterSpec('s1 s2 s3 a1', { version: 'v1.34.4+k3s1' })
  const all = observedCluster('s1 s2 s3 a1', {})
  return [
    ...coordinate(three, joining, NOW).steps,
    ...coordinate(three, ghost, NOW + HOUR).steps,
    ...coordinate(newer, all, NOW).steps,
  ]
}

function powerSteps(): readonly Step<'power'>[] {
  const spec = specWith({ hosts: [host('pve1')], hooks: [] })
  const idle = clusterWith([node('a1')], [])
  return [
    ...decide(spec, observedWith({ cluster: clusterWith([node('s1')], WORKLOADS) })).steps,
    ...decide(spec, observedWith({ cluster: idle })).steps,
    ...decide(specWith({ hosts: [host('pve1')] }), {
      ...observedWith({}),
      machines: [],
      hosts: [{ name: 'pve1', power: 'on', guests: { mine: [], others: [], undeclared: [] } }],
    }).steps,
  ]
}

function item(): ObservedResource {
  const undo = [{ do: 'run', argv: ['apt-get', 'remove', 'htop'] }]
  const mark = { id: 'package:htop', uid: 'u1', owner: 'HostConfig/base@cow', declared: 'd', undo }
  return {
    connection: 'host/cow',
    type: 'item',
    list: 'items',
    externalId: 'package:htop',
    host: 'cow',
    name: 'package:htop',
    close: { config: { look: { answers: new Map(), mark } }, atMs: 0 },
  } as unknown as ObservedResource
}

function domain(): Resource {
  const disks = [{ slot: 'virtio0', storage: 'vms', sizeGb: 8 }]
  const vm = {
    host: 'kvm',
    name: 'web-1',
    disks,
    nics: [],
    memory: { dedicatedMb: 1024 },
    power: 'running',
    tags: ['A'],
  }
  return { ...exampleResource(vm as never), driver: 'libvirt' }
}

function seenDomain(): ObservedResource {
  return {
    connection: 'kvm',
    type: 'vm',
    externalId: '11111111-2222-3333-4444-555555555555',
    host: 'kvm',
    power: 'stopped',
    mark: { uid: '0123456789abcdef' },
    close: { config: { domain: { disks: [] }, ours: ['vms:a'], snapshots: 0 }, digest: 'd', atMs: 0 },
  } as unknown as ObservedResource
}
