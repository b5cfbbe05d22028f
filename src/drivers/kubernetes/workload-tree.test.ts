import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Foreign } from '../../kubernetes/objects.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { KubeObject } from '../../model/kube-object.ts'
import { workloadTree } from './workload-tree.ts'

const DEPLOYMENT: KubeObject = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'w' } }
const root = (object: KubeObject) => ({ key: `Addon/web/${object.kind}`, object })

function live(apiVersion: string, kind: string, name: string, more: object = {}, owner?: string): Foreign {
  const owners = owner === undefined ? {} : { ownerReferences: [{ uid: owner }] }
  return { apiVersion, kind, metadata: { name, namespace: 'w', uid: `${kind}-${name}`, ...owners }, ...more }
}

function pod(name: string, state: object, more: object = {}): Foreign {
  const containerStatuses = [{ name: 'c', ready: 'running' in state, restartCount: 3, state, ...more }]
  const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'img:1' }] }
  return live('v1', 'Pod', name, { spec, status: { phase: 'Running', containerStatuses } }, 'ReplicaSet-web-2')
}

const CHAIN: readonly Foreign[] = [
  live('apps/v1', 'Deployment', 'web', { spec: { replicas: 2 }, status: { readyReplicas: 1 } }),
  live('apps/v1', 'ReplicaSet', 'web-1', { spec: { replicas: 0 }, status: { replicas: 0 } }, 'Deployment-web'),
  live('apps/v1', 'ReplicaSet', 'web-2', { spec: { replicas: 2 }, status: { replicas: 2 } }, 'Deployment-web'),
  pod('web-2-b', { waiting: { reason: 'CrashLoopBackOff' } }, { lastState: { terminated: { exitCode: 1 } } }),
  pod('web-2-a', { running: {} }),
]

test('owners come before what they own; a replica set of an earlier release is left out', () => {
  const { nodes } = workloadTree([root(DEPLOYMENT)], CHAIN, [])
  assert.deepEqual(
    nodes.map(({ kind, name, parent }) => [kind, name, parent]),
    [
      ['Deployment', 'web', undefined],
      ['ReplicaSet', 'web-2', 'Deployment-web'],
      ['Pod', 'web-2-a', 'ReplicaSet-web-2'],
      ['Pod', 'web-2-b', 'ReplicaSet-web-2'],
    ],
  )
  assert.equal(nodes[0]?.key, 'Addon/web/Deployment')
  assert.equal(nodes[0]?.status, '1/2 ready')
  const [, , fine, broken] = nodes
  assert.deepEqual([fine?.state, fine?.status, fine?.node], ['ok', 'Running', 'n1'])
  assert.deepEqual([broken?.state, broken?.status, broken?.restarts], ['bad', 'CrashLoopBackOff', 3])
  assert.deepEqual(broken?.containers?.[0], {
    name: 'c',
    image: 'img:1',
    state: 'CrashLoopBackOff',
    ready: false,
    restarts: 3,
    previous: true,
  })
})

test('what Helm made of a chart hangs on its HelmChart, in the namespace of its release alone', () => {
  const chart: KubeObject = {
    apiVersion: 'helm.cattle.io/v1',
    kind: 'HelmChart',
    metadata: { name: 'lb', namespace: 'kube-system' },
    spec: { targetNamespace: 'w' },
  }
  const of = (namespace: string) => ({
    'meta.helm.sh/release-name': 'lb',
    'meta.helm.sh/release-namespace': namespace,
  })
  const made = (name: string, namespace: string): Foreign => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace, uid: name, annotations: of(namespace) },
    status: {},
  })
  const { nodes } = workloadTree([root(chart)], [made('own', 'w'), made('other', 'elsewhere')], [])
  assert.deepEqual(
    nodes.map(({ kind, name }) => `${kind} ${name}`),
    ['HelmChart lb', 'DaemonSet own'],
  )
  assert.equal(nodes[1]?.parent, nodes[0]?.id)
})

test('events stand by their object, newest first and not more than a few', () => {
  const events = Array.from({ length: 30 }, (_, index) => ({
    type: index === 29 ? 'Warning' : 'Normal',
    reason: `R${index}`,
    message: 'm\u001b[31m',
    count: 2,
    lastTimestamp: new Date(index * 1000).toISOString(),
    involvedObject: { uid: 'Pod-web-2-a' },
  }))
  const { nodes } = workloadTree([root(DEPLOYMENT)], CHAIN, events)
  const own = nodes.find(({ name }) => name === 'web-2-a')?.events ?? []
  assert.equal(own.length, LIMITS.workloadEvents)
  assert.deepEqual(own[0], { type: 'Warning', reason: 'R29', message: 'm', count: 2, atMs: 29_000 })
  assert.deepEqual(nodes[0]?.events, [])
})

test('what is declared and not there is named; owners in a circle and too many objects end', () => {
  const { nodes } = workloadTree([root(DEPLOYMENT)], [], [])
  assert.deepEqual(
    nodes.map(({ name, state, status }) => [name, state, status]),
    [['web', 'quiet', '']],
  )
  const circle = [live('apps/v1', 'Deployment', 'web', {}, 'Deployment-web')]
  assert.equal(workloadTree([root(DEPLOYMENT)], circle, []).nodes.length, 1)
  const many = Array.from({ length: LIMITS.workloadNodes + 5 }, (_, index) =>
    live('v1', 'Pod', `p${index}`, {}, 'Deployment-web'),
  )
  const full = workloadTree([root(DEPLOYMENT)], [live('apps/v1', 'Deployment', 'web'), ...many], [])
  assert.equal(full.nodes.length, LIMITS.workloadNodes)
  assert.deepEqual(full.notes, ['6 more objects are not shown'])
})
