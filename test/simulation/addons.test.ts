import assert from 'node:assert/strict'
import { test } from 'node:test'
import { all } from '../../sim/kubernetes/store.ts'
import type { PlanEntry } from '../../src/model/plan.ts'
import { etcdOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'
import { quietFor } from './oracle.ts'
import { replay } from './volume.ts'

const FILE = 'addons.test.ts'

const BARE = `  flannelBackend: none
  kubeProxy: false
  networkPolicy: false
`

const CILIUM = `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: cilium}
spec:
  cluster: homelab
  preset: cilium
  with:
    apiServer: {host: 192.168.4.79}
    pools: [{name: lan, ranges: [192.168.4.200-192.168.4.219]}]
    l2: {interfaces: [eth0]}
`

const WIDGETS = `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: widgets}
spec:
  cluster: homelab
  namespace: widgets
  needs: [cilium]
  objects:
    - apiVersion: example.org/v1
      kind: Widget
      metadata: {name: first}
      spec: {size: 3}
    - apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: widgets.example.org}
      spec:
        group: example.org
        scope: Namespaced
        names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
        versions:
          - name: v1
            served: true
            storage: true
            schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: maker}
      spec:
        replicas: 2
        selector: {matchLabels: {app: maker}}
        template:
          metadata: {labels: {app: maker}}
          spec: {containers: [{name: maker, image: example.org/maker:1}]}
`

/** Issuers and policies whose kinds come with charts of the very same apply. */
const GUARDED = `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: cert-manager}
spec:
  cluster: homelab
  preset: cert-manager
  needs: [cilium]
  with: {issuers: [{name: inner, selfSigned: true}]}
---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: policies}
spec:
  cluster: homelab
  namespace: widgets
  objects:
    - apiVersion: cilium.io/v2
      kind: CiliumNetworkPolicy
      metadata: {name: only-dns}
      spec: {endpointSelector: {}}
    - apiVersion: networking.k8s.io/v1
      kind: NetworkPolicy
      metadata: {name: only-inside}
      spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}]}]}
`

const estate = clusterEstate(clusterManifest({ spec: BARE }) + CILIUM + WIDGETS + GUARDED)
const objects = (entries: readonly PlanEntry[]) => entries.filter(({ type }) => type === 'object')

test('[R19] [R21] [R23] [A14] [A51] a cluster without a network gets it as an add-on, in one apply with what needs its own definitions', async () => {
  const hint = replay(FILE, 1)
  const run = simulateCluster({ seed: 1, estate })
  const process = run.start()
  const before = await run.clock.runUntil(process.engine.plan(estate, new AbortController().signal), { maxMs: 600_000 })
  const listed = objects(before.entries)
  assert.ok(
    listed.length >= 6,
    `${hint} ${JSON.stringify([before.problems, before.notes, before.entries.map(({ key, type }) => [key, type])])}`,
  )
  const widget = listed.find(({ key }) => key === 'Addon/widgets@Widget.example.org/widgets/first')
  assert.ok(widget, listed.map(({ key }) => key).join('\n'))
  assert.ok(
    widget.action.do === 'wait' && widget.action.next?.do === 'create',
    'the plan on nothing lists it as to be made',
  )

  for (const kind of ['ClusterIssuer', 'CiliumNetworkPolicy', 'NetworkPolicy', 'CiliumLoadBalancerIPPool'])
    assert.ok(
      listed.some(
        ({ key, action }) => key.includes(`@${kind}.`) && action.do === 'wait' && action.next?.do === 'create',
      ),
      `${kind} is listed although nothing knows it yet`,
    )

  const phases = new Set<string>()
  let last: readonly PlanEntry[] = []
  const settled = await run.untilSettled(process, {
    mostMs: 3_600_000,
    onPass: (report) => {
      last = report.plan.entries
      for (const { decision } of report.clusters ?? []) for (const { phase } of decision.nodes) phases.add(phase)
    },
  })
  assert.equal(
    settled,
    'settled',
    `${hint} ${JSON.stringify(
      objects(last).map(({ key, action }) => [key, action]),
      undefined,
      1,
    )}`,
  )
  const etcd = etcdOf(run, hint)
  assert.ok(etcd)
  assert.ok(phases.has('AwaitingCNI') && phases.has('Ready'), [...phases].join(' '))
  for (const resource of [
    'example.org/widgets',
    'cert-manager.io/clusterissuers',
    'cilium.io/ciliumnetworkpolicies',
    'cilium.io/ciliumloadbalancerippools',
    'networking.k8s.io/networkpolicies',
  ])
    assert.equal(all(etcd.store, resource).length, 1, resource)
  for (const record of run.disk.records.values())
    if (record.type === 'object')
      assert.ok(
        record.conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
        record.key,
      )
  await quietFor(run, 5, hint)
})
