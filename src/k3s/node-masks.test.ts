import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterNetwork } from '../model/cluster.ts'
import { clusterSpec } from '../plan/clusters/testing/fixture.ts'
import { networkProblems } from './cidr.ts'
import { clusterFlags, configHash } from './config.ts'
import { flagProblems } from './flags.ts'

const DUAL: ClusterNetwork = {
  podCidrs: ['10.42.0.0/16', 'fd22:2025:6a6a:42::/104'],
  serviceCidrs: ['10.43.0.0/16', 'fd22:2025:6a6a:43::/112'],
  flannelBackend: 'none',
  kubeProxy: false,
  networkPolicy: false,
}
const nodes = clusterSpec('s1 s2 s3').servers
const said = (network: ClusterNetwork) => networkProblems(network, nodes).map(({ message }) => message)

test('[R24] a narrow range of pods is right with a share that fits into it, and wrong without', () => {
  assert.deepEqual(said(DUAL), ['fd22:2025:6a6a:42::/104 is smaller than the /64 of one node'])
  assert.deepEqual(said({ ...DUAL, nodeMasks: { ipv6: 120 } }), [])
  assert.deepEqual(said({ ...DUAL, nodeMasks: { ipv6: 105 } }), [
    'fd22:2025:6a6a:42::/104 has room for 2 nodes, 3 are declared',
  ])
  assert.deepEqual(said({ ...DUAL, nodeMasks: { ipv4: 15, ipv6: 120 } }), [
    '10.42.0.0/16 is smaller than the /15 of one node',
  ])
})

test('[R24] with one family Kubernetes takes one name for the share, with two it takes two', () => {
  const args = (network: ClusterNetwork, stated?: readonly string[]) =>
    clusterFlags(
      clusterSpec('s1', {
        network,
        serverFlags: stated === undefined ? {} : { 'kube-controller-manager-arg': stated },
      }),
    )['kube-controller-manager-arg']
  assert.deepEqual(args({ ...DUAL, nodeMasks: { ipv4: 25, ipv6: 120 } }), [
    'node-cidr-mask-size-ipv4=25',
    'node-cidr-mask-size-ipv6=120',
  ])
  const single = { ...DUAL, podCidrs: ['10.42.0.0/16'], serviceCidrs: ['10.43.0.0/16'] }
  assert.deepEqual(args({ ...single, nodeMasks: { ipv4: 25 } }), ['node-cidr-mask-size=25'])
  assert.deepEqual(args({ ...single, nodeMasks: { ipv4: 25 } }, ['bind-address=0.0.0.0']), [
    'bind-address=0.0.0.0',
    'node-cidr-mask-size=25',
  ])
  assert.equal(args(single), undefined)
})

test('the share is said in one place', () => {
  const twice = clusterSpec('s1', { serverFlags: { 'kube-controller-manager-arg': 'node-cidr-mask-size=25' } })
  assert.match(flagProblems(twice).join(), /nodeMasks/)
  const other = clusterSpec('s1', { serverFlags: { 'kube-controller-manager-arg': ['bind-address=0.0.0.0'] } })
  assert.deepEqual(flagProblems(other), [])
})

test('changed registries are a reason to restart a node, as K3s reads them when it starts', () => {
  const [server] = nodes
  assert.ok(server)
  const hash = (more: Parameters<typeof clusterSpec>[1]) => configHash(clusterSpec('s1 s2 s3', more), server)
  const mirrors = (url: string) => ({ registries: { mirrors: { 'docker.io': { endpoint: [url] } } } })
  assert.notEqual(hash({}), hash(mirrors('https://a')))
  assert.notEqual(hash(mirrors('https://a')), hash(mirrors('https://b')))
  assert.equal(hash(mirrors('https://a')), hash(mirrors('https://a')))
})
