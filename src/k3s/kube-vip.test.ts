import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { kubeVipManifest } from './kube-vip.ts'

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly spec?: {
    readonly template: {
      readonly spec: {
        readonly hostNetwork: boolean
        readonly tolerations: readonly object[]
        readonly nodeSelector: object
        readonly containers: readonly {
          readonly image: string
          readonly env: readonly { readonly name: string; readonly value?: string }[]
        }[]
      }
    }
  }
}

function objects(text: string | undefined): readonly Manifest[] {
  return parseAllDocuments(text ?? '').map((document) => document.toJS() as Manifest)
}

test('nothing is announced that nobody asked for', () => {
  assert.equal(kubeVipManifest({ endpoint: { vip: '10.0.0.9' } }), undefined)
  assert.equal(kubeVipManifest({ endpoint: { dns: 'k3s.home.arpa' } }), undefined)
})

test('[R44] the address is announced by a pod on every server, before there is a network plugin', () => {
  const made = objects(
    kubeVipManifest({ endpoint: { vip: '10.0.0.9', kubeVip: { version: 'v1.0.3', interface: 'eth0' } } }),
  )
  assert.deepEqual(
    made.map(({ kind }) => kind),
    ['ServiceAccount', 'Role', 'RoleBinding', 'DaemonSet'],
  )
  assert.ok(made.every(({ metadata }) => metadata.namespace === 'kube-system'))
  const pod = made.at(-1)?.spec?.template.spec
  assert.ok(pod)
  assert.equal(pod.hostNetwork, true)
  assert.deepEqual(pod.tolerations, [{ operator: 'Exists' }])
  assert.deepEqual(pod.nodeSelector, { 'node-role.kubernetes.io/control-plane': 'true' })
  const [container] = pod.containers
  assert.equal(container?.image, 'ghcr.io/kube-vip/kube-vip:v1.0.3')
  const env = new Map(container?.env.map(({ name, value }) => [name, value]))
  for (const [name, value] of Object.entries({
    address: '10.0.0.9',
    vip_interface: 'eth0',
    vip_subnet: '32',
    vip_leaderelection: 'true',
    // The server itself: neither the address nor services may exist yet.
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
  }))
    assert.equal(env.get(name), value, name)
})

test('with IPv6 it is one address of 128 bits, and the image may come from elsewhere', () => {
  const text = kubeVipManifest({
    endpoint: { vip: 'fd00::9', kubeVip: { version: 'v1.0.3', image: 'registry.home.arpa/kube-vip' } },
  })
  const container = objects(text).at(-1)?.spec?.template.spec.containers[0]
  assert.equal(container?.image, 'registry.home.arpa/kube-vip:v1.0.3')
  assert.equal(container?.env.find(({ name }) => name === 'vip_subnet')?.value, '128')
  assert.equal(
    container?.env.some(({ name }) => name === 'vip_interface'),
    false,
  )
})
