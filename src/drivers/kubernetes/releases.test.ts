import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Asked, KubernetesClient } from '../../kubernetes/client.ts'
import type { Foreign } from '../../kubernetes/objects.ts'
import { clusterApi } from './api.ts'
import { definitionsOf, readReleases } from './releases.ts'
import { rules } from './rules.ts'
import { applied, MAP, seen, wanted } from './testing/fixture.ts'

const signal = new AbortController().signal
const CHART = {
  apiVersion: 'helm.cattle.io/v1',
  kind: 'HelmChart',
  metadata: { name: 'metallb', namespace: 'kube-system' },
  spec: { targetNamespace: 'metallb-system' },
}
const RELEASE = { 'meta.helm.sh/release-name': 'metallb', 'meta.helm.sh/release-namespace': 'metallb-system' }

/** A cluster with these lists, by the end of their path. */
function clusterOf(lists: Readonly<Record<string, readonly Foreign[]>>): KubernetesClient {
  const list = async (path: string): Promise<Asked<readonly Foreign[]>> => ({
    is: 'answer',
    value: Object.entries(lists).find(([end]) => path.endsWith(`/${end}`))?.[1] ?? [],
  })
  return { list } as unknown as KubernetesClient
}

function job(status: object): Foreign {
  return {
    metadata: {
      name: 'helm-install-metallb',
      namespace: 'kube-system',
      uid: 'j',
      labels: { 'helmcharts.helm.cattle.io/chart': 'metallb' },
    },
    status,
  }
}

const COMPLETE = { conditions: [{ type: 'Complete', status: 'True' }] }
const node = (ready: string): Foreign => ({ status: { conditions: [{ type: 'Ready', status: ready }] } })

function speakers(ready: number, desired: number, annotations: object = RELEASE): Foreign {
  const counts = { desiredNumberScheduled: desired, currentNumberScheduled: desired, updatedNumberScheduled: desired }
  return {
    metadata: { name: 'metallb-speaker', namespace: 'metallb-system', generation: 1, annotations },
    status: { observedGeneration: 1, ...counts, numberAvailable: ready, numberReady: ready },
  }
}

const ROWS: readonly (readonly [string, Readonly<Record<string, readonly Foreign[]>>, readonly boolean[]])[] = [
  ['a pod on every node', { daemonsets: [speakers(3, 3)], nodes: [node('True'), node('True'), node('True')] }, [true]],
  [
    'a pod that does not run',
    { daemonsets: [speakers(2, 3)], nodes: [node('True'), node('True'), node('True')] },
    [false],
  ],
  [
    'a node that sleeps',
    { daemonsets: [speakers(2, 3)], nodes: [node('True'), node('True'), node('Unknown')] },
    [true],
  ],
  ['a DaemonSet of nobody’s release', { daemonsets: [speakers(0, 3, {})], nodes: [] }, []],
]

for (const [what, lists, ready] of ROWS) {
  test(`what a chart runs is looked at: ${what}`, async () => {
    const client = clusterOf({ jobs: [job(COMPLETE)], ...lists })
    const found = (await readReleases(client, clusterApi(undefined), signal)).install(CHART)
    assert.equal(found?.state, 'complete')
    assert.deepEqual(
      found?.workloads.map(({ readiness }) => readiness.ready),
      ready,
    )
  })
}

test('a job that fails again and again is told with how often, and one that uninstalls says nothing', async () => {
  const client = clusterOf({ jobs: [job({ active: 1, failed: 4 })] })
  const found = (await readReleases(client, clusterApi(undefined), signal)).install(CHART)
  assert.deepEqual([found?.state, found?.failures], ['running', 4])
  const leaving = { ...job(COMPLETE), metadata: { ...(job({}).metadata as object), name: 'helm-delete-metallb' } }
  const none = await readReleases(clusterOf({ jobs: [leaving] }), clusterApi(undefined), signal)
  assert.equal(none.install(CHART), undefined)
})

test('[R22] a chart whose definitions go with it is not deleted unless that is declared', async () => {
  const definition = (name: string, annotations: object): Foreign => ({ metadata: { name, annotations } })
  const client = clusterOf({
    customresourcedefinitions: [
      definition('ipaddresspools.metallb.io', RELEASE),
      definition('kept.metallb.io', { ...RELEASE, 'helm.sh/resource-policy': 'keep' }),
      definition('others.example.org', { ...RELEASE, 'meta.helm.sh/release-name': 'other' }),
      definition('in-crds-folder.example.org', {}),
    ],
  })
  const definitions = await definitionsOf(client, clusterApi(undefined), CHART, signal)
  assert.deepEqual(definitions, ['ipaddresspools.metallb.io'])
  const held = rules.undeletable?.(seen({ object: applied(wanted()), definitions }))
  assert.match(held?.message ?? '', /ipaddresspools\.metallb\.io.*every object of their kinds/)
  assert.match(held?.allow ?? '', /prune: all/)
  const said = wanted(MAP, { definitions: 'Delete' })
  assert.equal(rules.undeletable?.(seen({ object: applied(said), definitions })), undefined)
  assert.equal(rules.undeletable?.(seen({ object: applied(wanted()) })), undefined)
})

test('[S-46] jobs and workloads of an API that lies are read without a fault', async () => {
  const lie = { toString: null, valueOf: null }
  const jobs = [
    { metadata: { name: 'a', namespace: lie, labels: { 'helmcharts.helm.cattle.io/chart': lie } } },
    job(COMPLETE),
  ] as readonly Foreign[]
  const daemon = { ...speakers(1, 1), kind: lie } as unknown as Foreign
  const cluster = clusterOf({ jobs, daemonsets: [daemon], nodes: [node('True')] })
  const releases = await readReleases(cluster, clusterApi(undefined), signal)
  assert.equal(releases.install(CHART)?.state, 'complete')
})

test('a job that is tried again says how often Helm failed, by the restarts of its own pod', async () => {
  const pod = (uid: string, restartCount: number, lastState: object): Foreign => ({
    metadata: { name: 'helm-install-metallb-x', namespace: 'kube-system', ownerReferences: [{ kind: 'Job', uid }] },
    status: { containerStatuses: [{ name: 'helm', restartCount, lastState }] },
  })
  const pods = [pod('j', 4, { terminated: { exitCode: 1, message: 'no chart name found\n' } }), pod('other', 9, {})]
  const jobs = [job({ active: 1 })]
  const { install } = await readReleases(clusterOf({ jobs, pods }), clusterApi(undefined), signal)
  const { state, failures, said } = install(CHART) ?? {}
  assert.deepEqual({ state, failures, said }, { state: 'running', failures: 4, said: 'no chart name found' })
})
