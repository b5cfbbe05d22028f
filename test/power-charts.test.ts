import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCluster } from '../src/drivers/power/read-cluster.ts'
import type { Asked, KubernetesClient } from '../src/kubernetes/client.ts'
import { at, type Foreign } from '../src/kubernetes/objects.ts'
import type { ClusterSpec } from '../src/model/cluster.ts'
import type { KubeObject } from '../src/model/kube-object.ts'
import { specWith } from '../src/plan/power/testing/fixture.ts'
import { WITHOUT_EVIDENCE } from './evidence/of-others.ts'
import { renderedChart } from './real-charts.ts'

/* What power makes of the workloads of every preset, held to what their charts really render. */

const PATHS: Readonly<Record<string, string>> = {
  '/apis/apps/v1/deployments': 'Deployment',
  '/apis/apps/v1/statefulsets': 'StatefulSet',
  '/api/v1/services': 'Service',
  '/api/v1/pods': 'Pod',
  '/api/v1/nodes': 'Node',
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations': 'ValidatingWebhookConfiguration',
  '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations': 'MutatingWebhookConfiguration',
}

/** A cluster that holds these objects and nothing else. */
function clusterWith(objects: readonly KubeObject[]) {
  const list = async (path: string): Promise<Asked<readonly Foreign[]>> => ({
    is: 'answer',
    value: objects.filter(({ kind }) => kind === PATHS[path]),
  })
  const client = { list } as unknown as KubernetesClient
  const cluster = { agents: [], servers: [] } as unknown as ClusterSpec
  return readCluster(client, cluster, specWith(), new AbortController().signal)
}

/** Elsewhere than where the preset puts it: a namespace says nothing. */
function moved(objects: readonly KubeObject[], namespace: string): readonly KubeObject[] {
  const text = JSON.stringify(objects)
  return (JSON.parse(text) as KubeObject[]).map((object) => ({
    ...object,
    ...(object.kind.endsWith('WebhookConfiguration')
      ? {
          webhooks: JSON.parse(
            JSON.stringify(object.webhooks).replace(/"namespace":"[^"]*"/g, `"namespace":"${namespace}"`),
          ),
        }
      : {}),
    metadata: { ...object.metadata, namespace },
  }))
}

const EXPECTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'argo-cd': {
    'argocd-application-controller': 'gitops',
    'argocd-applicationset-controller': 'gitops',
    'argocd-notifications-controller': 'gitops',
    'argocd-redis': 'gitops',
    'argocd-repo-server': 'gitops',
    'argocd-server': 'gitops',
  },
  'cert-manager': {
    'cert-manager': 'apps',
    'cert-manager-cainjector': 'apps',
    // Everything of cert-manager's own kinds is refused without it.
    'cert-manager-webhook': 'system',
  },
  cilium: { 'cilium-operator': 'system' },
  coredns: { coredns: 'system' },
  flux2: {
    'helm-controller': 'gitops',
    'image-automation-controller': 'gitops',
    'image-reflector-controller': 'gitops',
    'kustomize-controller': 'gitops',
    'notification-controller': 'gitops',
    'source-controller': 'gitops',
  },
  garage: { garage: 'databases' },
  'kube-vip-cloud-provider': { 'kube-vip-cloud-provider': 'system' },
  'local-path-provisioner': { 'local-path-provisioner': 'system' },
  metallb: { 'metallb-controller': 'system' },
  'rook-ceph': { 'ceph-csi-controller-manager': 'operators', 'rook-ceph-operator': 'operators' },
  traefik: { traefik: 'system' },
}

for (const [chart, tiers] of Object.entries(EXPECTED)) {
  for (const namespace of ['its own', 'somewhere']) {
    test(`[R25] parts of ${chart} in ${namespace} namespace are known by their labels`, {
      skip: WITHOUT_EVIDENCE,
    }, async () => {
      const objects = renderedChart(chart)
      const shown = await clusterWith(namespace === 'its own' ? objects : moved(objects, namespace))
      assert.ok(shown !== undefined && shown.workloads !== 'unknown')
      const found = Object.fromEntries(shown.workloads.map(({ name, tier }) => [name, tier]))
      assert.deepEqual(found, tiers)
    })
  }
}

const NODE = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 's1' },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
}

for (const ready of ['True', 'False']) {
  test(`[A43] the DNS of the chart of CoreDNS is a DNS: its pod is Ready ${ready}`, {
    skip: WITHOUT_EVIDENCE,
  }, async () => {
    const objects = renderedChart('coredns')
    const deployment = objects.find(({ kind }) => kind === 'Deployment')
    const labels = at(deployment, 'spec', 'template', 'metadata', 'labels') as Record<string, string>
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'coredns-1', namespace: 'kube-system', labels },
      spec: { nodeName: 's1' },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] },
    } as KubeObject
    const shown = await clusterWith([...objects, NODE, pod])
    assert.equal(shown?.dns.up, ready === 'True' ? 'yes' : 'no')
    const before = await clusterWith([...objects, NODE])
    assert.equal(before?.dns.up, 'no', 'a Deployment without a pod is no answer, and no absence either')
  })
}
