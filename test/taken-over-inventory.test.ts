import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EQUAL_ON_SERVERS, flagDrift, furtherDrift, parseNodeArgs } from '../src/k3s/flags.ts'
import { expand } from '../src/kinds/machines/testing/fixture.ts'
import { printDrafts } from '../src/source/foreign/draft.ts'
import { k3sAnsible } from '../src/source/foreign/formats/k3s-ansible.ts'
import { errorsOf, readText } from '../src/source/testing/fixture.ts'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'

/** What a playbook starts servers and agents with: every flag that servers must have alike, and others. */
const EVERYTHING = `--cluster-cidr 10.99.0.0/16 --service-cidr=10.98.0.0/16 --cluster-dns 10.98.0.10 --cluster-domain lab.example
  --disable servicelb,traefik --disable metrics-server --disable-cloud-controller --disable-helm-controller
  --disable-kube-proxy --disable-network-policy --egress-selector-mode disabled --embedded-registry
  --flannel-backend=none --flannel-external-ip --flannel-ipv6-masq --secrets-encryption
  --secrets-encryption-provider secretbox --supervisor-metrics --node-label zone=attic --kubelet-arg max-pods=50
  --kubelet-arg=v=2 --snapshotter native`
const CASES: readonly (readonly [what: string, servers: string, agents: string])[] = [
  ['nothing', '', ''],
  [
    'what the other playbook adds',
    '--flannel-iface=eth0 --tls-san 10.20.0.10 --disable traefik',
    '--flannel-iface=eth0',
  ],
  ['a flag of agents alone', '--disable traefik', '--snapshotter=native --kubelet-arg max-pods=50'],
  ['everything', EVERYTHING, '--snapshotter native --kubelet-arg v=2'],
]

for (const [what, servers, agents] of CASES) {
  test(`a cluster that runs with ${what}: its import is valid, and no node differs from it`, () => {
    const hosts = '[server]\na\nb\nc\n[agent]\nd\ne\n'
    const all = {
      k3s_version: 'v1.34.3+k3s1',
      api_endpoint: '10.20.0.10',
      ansible_user: 'root',
      extra_server_args: servers,
      extra_agent_args: agents,
    }
    const reading = k3sAnsible.read(
      [
        { path: 'hosts.ini', text: hosts },
        { path: 'group_vars/all.json', text: JSON.stringify(all) },
        { path: 'known_hosts', text: `a,b,c,d,e ${KEY}\n` },
      ],
      {},
    )
    assert.ok(!('problem' in reading))
    assert.deepEqual(reading.notCarried, [])
    const revision = readText(printDrafts(reading.drafts))
    assert.deepEqual(errorsOf(revision), [])
    const declared = revision.declarations.find(({ kind }) => kind === 'Cluster')
    assert.ok(declared !== undefined)
    const expanded = expand(declared, revision.declarations)
    assert.ok('role' in expanded && expanded.role === 'cluster', JSON.stringify(expanded))
    const { spec } = expanded.cluster
    assert.deepEqual([spec.servers.length, spec.agents.length], [3, 2])
    const running = (args: string) => parseNodeArgs(JSON.stringify(['k3s', ...args.split(/\s+/)])) ?? {}
    assert.deepEqual(flagDrift(spec, [{ server: 'a', flags: running(servers) }]), [])
    for (const node of spec.servers) assert.deepEqual(furtherDrift(spec, node, running(servers)), [])
    for (const node of spec.agents) assert.deepEqual(furtherDrift(spec, node, running(agents)), [])
  })
}

test('every flag that servers must have alike is among them', () => {
  for (const flag of Object.keys(EQUAL_ON_SERVERS)) assert.ok(EVERYTHING.includes(`--${flag}`), flag)
})
