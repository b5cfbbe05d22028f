import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Foreign } from '../../kubernetes/objects.ts'
import { celProblem, holds } from '../../lib/cel.ts'
import type { ObjectDetails } from './marks.ts'
import { objectReadiness } from './readiness.ts'

/* The rules of kstatus, row by row; a row says if ours are stricter or milder. */

const INSTALL = { failures: 0, workloads: [] }
const workload = (status: 'Current' | 'InProgress' | 'Failed') => ({
  what: 'Deployment cert-manager/cert-manager-webhook',
  readiness: { ready: status === 'Current', reason: 'Pods', message: 'readyReplicas is 0 of 1', status },
})

type Row = readonly [what: string, object: Foreign, status: string, more?: Partial<ObjectDetails>]

const yes = (type: string, reason?: string) => ({ type, status: 'True', ...(reason === undefined ? {} : { reason }) })
const no = (type: string, reason?: string) => ({ type, status: 'False', ...(reason === undefined ? {} : { reason }) })
const said = (kind: string, ...conditions: readonly object[]) => ({ kind, status: { conditions } })
const pods = (kind: string, status: object, spec: object = {}) => ({
  kind,
  metadata: { generation: 2 },
  spec,
  status: { observedGeneration: 2, ...status },
})
const all = (count: number) => ({
  replicas: count,
  updatedReplicas: count,
  availableReplicas: count,
  readyReplicas: count,
})
const daemons = (count: number) => ({
  desiredNumberScheduled: count,
  currentNumberScheduled: count,
  updatedNumberScheduled: count,
  numberAvailable: count,
  numberReady: count,
})

const ROWS: readonly Row[] = [
  ['a map is there', { kind: 'ConfigMap' }, 'Current'],
  ['anything that goes', { kind: 'ConfigMap', metadata: { deletionTimestamp: 'x' } }, 'Terminating'],
  ['anything that nobody has looked at again', pods('Any', { observedGeneration: 1 }), 'InProgress'],
  ['anything that is being worked on', said('Any', yes('Reconciling'), yes('Ready')), 'InProgress'],
  ['anything that cannot go on', said('Any', yes('Stalled'), yes('Ready')), 'Failed'],
  ['a Deployment that cannot go on says so like anything', said('Deployment', yes('Stalled')), 'Failed'],
  ['anything ready', said('Any', yes('Ready')), 'Current'],
  ['anything not ready', said('Any', no('Ready')), 'InProgress'],
  ['anything of which nobody knows', said('Any', { type: 'Ready', status: 'Unknown' }), 'InProgress'],

  ['Deployment, all pods', pods('Deployment', all(1)), 'Current'],
  ['Deployment, old generation', pods('Deployment', { ...all(1), observedGeneration: 1 }), 'InProgress'],
  ['Deployment that nobody saw', { kind: 'Deployment', metadata: { generation: 1 } }, 'InProgress'],
  ['Deployment, one lacks', pods('Deployment', { ...all(2), availableReplicas: 1 }, { replicas: 2 }), 'InProgress'],
  ['Deployment, one is old', pods('Deployment', { ...all(2), updatedReplicas: 1 }, { replicas: 2 }), 'InProgress'],
  ['Deployment, one has still to go', pods('Deployment', { ...all(1), replicas: 2 }), 'InProgress'],
  ['Deployment of none', pods('Deployment', {}, { replicas: 0 }), 'Current'],
  ['Deployment, not available', pods('Deployment', { ...all(1), conditions: [no('Available')] }), 'InProgress'],
  [
    'Deployment, too late',
    pods('Deployment', { ...all(1), conditions: [no('Progressing', 'ProgressDeadlineExceeded')] }),
    'Failed',
  ],

  ['StatefulSet, all pods', pods('StatefulSet', all(3), { replicas: 3 }), 'Current'],
  ['StatefulSet, not all ready', pods('StatefulSet', { ...all(3), readyReplicas: 2 }, { replicas: 3 }), 'InProgress'],
  ['StatefulSet, one is old', pods('StatefulSet', { ...all(3), updatedReplicas: 2 }, { replicas: 3 }), 'InProgress'],
  ['StatefulSet, one too many', pods('StatefulSet', { ...all(3), replicas: 4 }, { replicas: 3 }), 'InProgress'],
  [
    'StatefulSet with a partition: the old ones stay',
    pods(
      'StatefulSet',
      { ...all(3), updatedReplicas: 1 },
      { replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } },
    ),
    'Current',
  ],
  [
    'StatefulSet with a partition that is not reached',
    pods(
      'StatefulSet',
      { ...all(3), updatedReplicas: 1 },
      { replicas: 3, updateStrategy: { rollingUpdate: { partition: 1 } } },
    ),
    'InProgress',
  ],
  [
    'StatefulSet whose pods a person replaces',
    pods('StatefulSet', { ...all(2), updatedReplicas: 0 }, { replicas: 2, updateStrategy: { type: 'OnDelete' } }),
    'Current',
  ],

  ['DaemonSet, on all nodes', pods('DaemonSet', daemons(2)), 'Current'],
  ['DaemonSet without nodes', pods('DaemonSet', daemons(0)), 'Current'],
  ['DaemonSet that nobody saw', { kind: 'DaemonSet', metadata: { generation: 1 }, status: daemons(0) }, 'InProgress'],
  ['DaemonSet, one is old', pods('DaemonSet', { ...daemons(2), updatedNumberScheduled: 1 }), 'InProgress'],
  ['DaemonSet, one is not ready', pods('DaemonSet', { ...daemons(2), numberReady: 1 }), 'InProgress'],

  ['ReplicaSet, all pods', pods('ReplicaSet', all(1)), 'Current'],
  [
    'ReplicaSet that cannot make one',
    pods('ReplicaSet', { ...all(1), conditions: [yes('ReplicaFailure')] }),
    'InProgress',
  ],

  ['Job, complete', said('Job', yes('Complete')), 'Current'],
  ['Job, failed', said('Job', yes('Failed')), 'Failed'],
  ['Job, running (stricter: it is waited for)', { kind: 'Job', status: { startTime: 'x' } }, 'InProgress'],
  ['Job, suspended', { kind: 'Job', spec: { suspend: true }, status: { conditions: [yes('Suspended')] } }, 'Current'],

  ['claim, bound', { kind: 'PersistentVolumeClaim', status: { phase: 'Bound' } }, 'Current'],
  [
    'claim, pending (milder: its first pod may come later)',
    { kind: 'PersistentVolumeClaim', status: { phase: 'Pending' } },
    'Current',
  ],
  ['claim, lost', { kind: 'PersistentVolumeClaim', status: { phase: 'Lost' } }, 'Failed'],

  ['Pod, ready', { kind: 'Pod', status: { phase: 'Running', conditions: [yes('Ready')] } }, 'Current'],
  ['Pod, done', { kind: 'Pod', status: { phase: 'Succeeded' } }, 'Current'],
  ['Pod, failed', { kind: 'Pod', status: { phase: 'Failed' } }, 'Failed'],
  [
    'Pod that ends again and again',
    {
      kind: 'Pod',
      status: {
        phase: 'Running',
        containerStatuses: [{ name: 'c', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
      },
    },
    'Failed',
  ],

  ['definition, established', said('CustomResourceDefinition', yes('NamesAccepted'), yes('Established')), 'Current'],
  ['definition, new', { kind: 'CustomResourceDefinition' }, 'InProgress'],
  ['definition, installing', said('CustomResourceDefinition', no('Established', 'Installing')), 'InProgress'],
  [
    'definition whose names are taken',
    said('CustomResourceDefinition', no('NamesAccepted', 'ListKindConflict')),
    'Failed',
  ],
  ['APIService, answering', said('APIService', yes('Available')), 'Current'],
  ['APIService, silent', said('APIService', no('Available')), 'InProgress'],

  ['Service', { kind: 'Service', spec: { type: 'ClusterIP' } }, 'Current'],
  [
    'Service with an address',
    { kind: 'Service', spec: { type: 'LoadBalancer' }, status: { loadBalancer: { ingress: [{ ip: '1' }] } } },
    'Current',
  ],
  ['Service without one (stricter)', { kind: 'Service', spec: { type: 'LoadBalancer' } }, 'InProgress'],

  ['chart, installed', { kind: 'HelmChart' }, 'Current', { install: { ...INSTALL, state: 'complete', job: 'j' } }],
  ['chart, installing', { kind: 'HelmChart' }, 'InProgress', { install: { ...INSTALL, state: 'running', job: 'j' } }],
  [
    'chart that was changed, and whose old job is still there',
    {
      kind: 'HelmChart',
      metadata: { labels: { 'croft.dev/uid': 'u' }, annotations: { 'croft.dev/former-job': 'j' } },
    },
    'InProgress',
    { install: { ...INSTALL, state: 'complete', job: 'j' } },
  ],
  [
    'chart, installed and running',
    { kind: 'HelmChart' },
    'Current',
    { install: { ...INSTALL, state: 'complete', job: 'j', workloads: [workload('Current'), workload('Current')] } },
  ],
  [
    'chart, installed, and something of it does not run',
    { kind: 'HelmChart' },
    'InProgress',
    { install: { ...INSTALL, state: 'complete', job: 'j', workloads: [workload('Current'), workload('InProgress')] } },
  ],
  [
    'chart, installed, and something of it does not get on',
    { kind: 'HelmChart' },
    'Failed',
    { install: { ...INSTALL, state: 'complete', job: 'j', workloads: [workload('Failed')] } },
  ],
  ['chart, broken', { kind: 'HelmChart' }, 'Failed', { install: { ...INSTALL, state: 'failed', job: 'j' } }],
  [
    'Application, in sync',
    { kind: 'Application', status: { sync: { status: 'Synced' }, health: { status: 'Healthy' } } },
    'Current',
  ],
  [
    'Application, ill',
    { kind: 'Application', status: { sync: { status: 'Synced' }, health: { status: 'Degraded' } } },
    'InProgress',
  ],
  [
    'HelmRelease that Flux has not seen (stricter)',
    { apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease' },
    'InProgress',
  ],
  [
    'Kustomization, applied',
    { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', ...said('Kustomization', yes('Ready')) },
    'Current',
  ],
  [
    'HelmRepository of a registry: nobody ever says anything of it',
    { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'HelmRepository', spec: { type: 'oci' } },
    'Current',
  ],
]

for (const [what, object, status, more] of ROWS) {
  test(`readiness: ${what}: ${status}`, () => {
    const found = objectReadiness({ object, ...more })
    assert.deepEqual([found.status, found.ready], [status, status === 'Current'], found.message)
  })
}

test('a condition that a person wrote is asked besides, and never says that an unready object is ready', () => {
  const ready = (object: Foreign, expression: string) =>
    objectReadiness({ object, answered: { expression, answer: holds(expression, object) } }, expression).ready
  assert.equal(ready({ status: { n: 3 } }, 'object.status.n >= 3'), true)
  assert.equal(ready({ status: { n: 2 } }, 'object.status.n >= 3'), false)
  assert.equal(ready({}, 'object.status.n >= 3'), false)
  assert.equal(ready(said('Any', no('Ready')), 'true'), false)
  const answered = { expression: 'true', answer: true }
  assert.match(objectReadiness({ object: {}, answered }, 'object.a').message, /not evaluated yet/)
})

test('expressions answer yes, no, or why nobody can tell', () => {
  assert.equal(holds('object.a == 1', { a: 1 }), true)
  assert.equal(typeof holds('object.b == 1', { a: 1 }), 'string')
  assert.equal(typeof holds('object.a + 1', { a: 1 }), 'string')
  assert.notEqual(celProblem('object.a =='), undefined)
  assert.equal(celProblem('object.a == 1'), undefined)
})
