import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorsOf, readTexts } from '../testing/fixture.ts'
import { printDrafts } from './draft.ts'
import { hetznerK3s } from './formats/hetzner-k3s.ts'
import { k3sup } from './formats/k3sup.ts'
import { terraform } from './formats/terraform.ts'
import type { ForeignFile, ForeignFormat, ForeignReading } from './reading.ts'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'

function reading(format: ForeignFormat, files: Readonly<Record<string, string>>, cluster?: string): ForeignReading {
  const given: readonly ForeignFile[] = Object.entries(files).map(([path, text]) => ({ path, text }))
  const read = format.read(given, cluster === undefined ? {} : { cluster })
  assert.ok(!('problem' in read), 'problem' in read ? read.problem : '')
  // All drafts must be valid as printed.
  const revision = readTexts({ 'a.yaml': printDrafts(read.drafts) })
  assert.deepEqual(errorsOf(revision), [], printDrafts(read.drafts))
  return read
}

const specs = ({ drafts }: ForeignReading) =>
  Object.fromEntries(drafts.map(({ manifest }) => [`${manifest.kind}/${manifest.metadata.name}`, manifest.spec]))
const lost = ({ notCarried }: ForeignReading) => notCarried.map(({ what, why }) => `${what}: ${why}`)
const knownHosts = (...addresses: readonly string[]) => addresses.map((one) => `${one} ${KEY}\n`).join('')

/** The form in which `k3sup plan` writes it, and that of a person. */
const SCRIPT = `#!/bin/sh
export SERVER=192.168.14.2
k3sup install --host $SERVER \\
--user k3s \\
--cluster \\
--local-path kubeconfig \\
--context barn \\
--tls-san "barn.example.org,192.168.14.9" --k3s-version v1.34.3+k3s1 \\
--k3s-extra-args "--disable traefik --node-taint a=b:NoSchedule"

NODE_TOKEN=$(k3sup node-token --host $SERVER)
k3sup join \\
--host 192.168.14.3 \\
--server-host $SERVER \\
--server --tls-san barn.example.org,192.168.14.9 \\
--node-token "$NODE_TOKEN" --k3s-extra-args "--disable traefik" \\
--user k3s &
k3sup join --ip 192.168.14.4 --server-ip $SERVER --user k3s --ssh-port 2222 --ssh-key ~/.ssh/farm --gpu
k3sup join --ip $LATER --server-ip $SERVER
# k3sup join --ip 192.168.14.5 --server-ip $SERVER
`

test('a script of k3sup becomes its hosts and their cluster', () => {
  const read = reading(k3sup, {
    'bootstrap.sh': SCRIPT,
    'devices.json':
      '[{"hostname": "cow", "ip": "192.168.14.2"}, {"hostname": "sheep", "ip": "192.168.14.3"}, {"hostname": "duck", "ip": "192.168.14.4"}]',
    known_hosts: `${knownHosts('192.168.14.2', '192.168.14.3')}[192.168.14.4]:2222 ${KEY}\n`,
  })
  const ssh = { user: 'k3s', hostKeys: [KEY] }
  assert.deepEqual(specs(read), {
    'Host/cow': { ssh: { address: '192.168.14.2', ...ssh } },
    'Host/sheep': { ssh: { address: '192.168.14.3', ...ssh } },
    'Host/duck': { ssh: { address: '192.168.14.4', ...ssh, port: 2222, key: { file: '~/.ssh/farm' } } },
    'Cluster/barn': {
      version: 'v1.34.3+k3s1',
      endpoint: { server: 'cow' },
      servers: [{ machine: 'Host/cow', taints: ['a=b:NoSchedule'] }, { machine: 'Host/sheep' }],
      agents: [{ machine: 'Host/duck' }],
      disable: ['traefik'],
      tlsSans: ['barn.example.org', '192.168.14.9'],
      secretsEncryption: false,
    },
  })
  assert.deepEqual(lost(read), [
    '--node-token of k3sup join for 192.168.14.3: it is secret; croft reads the token from a server when it takes the cluster over',
    '--gpu of k3sup join for 192.168.14.4: croft has no field for it',
    'k3sup join in bootstrap.sh: only a shell knows the address of its host',
  ])
})

test('a channel of k3sup becomes the version that the nodes have', () => {
  const node = {
    kind: 'Node',
    metadata: { name: 'cow', labels: { 'node-role.kubernetes.io/control-plane': 'true' } },
    status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }], nodeInfo: { kubeletVersion: 'v1.34.3+k3s1' } },
  }
  const read = reading(
    k3sup,
    {
      'up.sh': 'k3sup install --ip=10.0.0.1 --user=root --k3s-channel=stable --no-extras\n',
      'nodes.json': JSON.stringify({ kind: 'List', items: [node] }),
      known_hosts: knownHosts('10.0.0.1'),
    },
    'home',
  )
  assert.deepEqual(specs(read)['Cluster/home'], {
    version: 'v1.34.3+k3s1',
    endpoint: { server: 'cow' },
    servers: [{ machine: 'Host/cow' }],
    disable: ['servicelb', 'traefik'],
    secretsEncryption: false,
  })
  assert.deepEqual(k3sup.read([{ path: 'a.sh', text: 'echo k3sup' }], {}), {
    problem: 'no script with a call of k3sup install is among the files',
  })
})

const HETZNER = `hetzner_token: canary
cluster_name: prod
kubeconfig_path: ./kubeconfig
k3s_version: v1.34.3+k3s1
networking:
  ssh: {port: 22, use_agent: false, private_key_path: ~/.ssh/id_ed25519}
  allowed_networks: {ssh: [0.0.0.0/0]}
  cni: {enabled: true, encryption: true, mode: flannel}
masters_pool: {instance_type: cpx22, instance_count: 1, locations: [fsn1]}
worker_node_pools:
- {name: small, instance_type: cpx22, instance_count: 1, location: hel1}
addons: {local_path_storage_class: {enabled: true}}
`
const hetznerNode = (name: string, last: number, labels = {}) => ({
  kind: 'Node',
  metadata: { name, labels },
  status: {
    addresses: [
      { type: 'InternalIP', address: `10.0.0.${last}` },
      { type: 'ExternalIP', address: `203.0.113.${last}` },
    ],
  },
})

test('a configuration of hetzner-k3s becomes its nodes as hosts, and their cluster', () => {
  const nodes = {
    kind: 'List',
    items: [
      hetznerNode('prod-master1', 2, { 'node-role.kubernetes.io/control-plane': 'true' }),
      hetznerNode('prod-pool-small-worker1', 3),
    ],
  }
  const files = {
    'cluster.yaml': HETZNER,
    'nodes.json': JSON.stringify(nodes),
    known_hosts: knownHosts('203.0.113.2', '203.0.113.3'),
  }
  const read = reading(hetznerK3s, files)
  assert.doesNotMatch(printDrafts(read.drafts) + lost(read).join(), /canary/)
  assert.deepEqual(specs(read)['Host/prod-master1'], {
    ssh: { address: '203.0.113.2', user: 'root', hostKeys: [KEY], key: { file: '~/.ssh/id_ed25519' } },
  })
  assert.deepEqual(specs(read)['Cluster/prod'], {
    version: 'v1.34.3+k3s1',
    endpoint: { server: 'prod-master1' },
    servers: [
      {
        machine: 'Host/prod-master1',
        addresses: ['10.0.0.2'],
        externalAddresses: ['203.0.113.2'],
        taints: ['CriticalAddonsOnly=true:NoExecute'],
      },
    ],
    agents: [{ machine: 'Host/prod-pool-small-worker1', addresses: ['10.0.0.3'], externalAddresses: ['203.0.113.3'] }],
    podCidrs: ['10.244.0.0/16'],
    serviceCidrs: ['10.43.0.0/16'],
    flannelBackend: 'wireguard-native',
    disable: ['traefik', 'servicelb', 'metrics-server'],
    secretsEncryption: false,
    serverFlags: {
      'disable-cloud-controller': true,
      'cluster-dns': '10.43.0.10',
      'embedded-registry': true,
      'kube-controller-manager-arg': 'bind-address=0.0.0.0',
      'kube-scheduler-arg': 'bind-address=0.0.0.0',
      'kube-proxy-arg': 'metrics-bind-address=0.0.0.0',
      'etcd-expose-metrics': true,
    },
    nodeFlags: { 'kubelet-arg': ['cloud-provider=external', 'resolv-conf=/etc/k8s-resolv.conf'] },
  })
  const cilium = HETZNER.replace('mode: flannel', 'mode: cilium').concat(
    'kube_api_server_args: [audit-log-maxage=30]\nembedded_registry_mirror: {enabled: false}\n',
  )
  const other = specs(reading(hetznerK3s, { ...files, 'cluster.yaml': cilium }))['Cluster/prod'] as {
    serverFlags: Record<string, unknown>
    kubeProxy: boolean
  }
  assert.equal(other.kubeProxy, false)
  assert.deepEqual(other.serverFlags, {
    'disable-cloud-controller': true,
    'cluster-dns': '10.43.0.10',
    'kube-controller-manager-arg': 'bind-address=0.0.0.0',
    'kube-scheduler-arg': 'bind-address=0.0.0.0',
    'etcd-expose-metrics': true,
    'kube-apiserver-arg': 'audit-log-maxage=30',
  })
  assert.deepEqual(
    read.notCarried.map(({ what }) => what),
    ['hetzner_token', 'kubeconfig_path', 'networking', 'masters_pool', 'worker_node_pools', 'addons'].map(
      (one) => `the setting ${one}`,
    ),
  )
  const two = [...Object.entries(files), ['old/cluster.yaml', HETZNER] as const].map(([path, text]) => ({ path, text }))
  const unchosen = hetznerK3s.read(two, {})
  assert.match('problem' in unchosen ? unchosen.problem : '', /choose one with --under, like --under cluster\.yaml$/)
  for (const under of ['cluster.yaml', './cluster.yaml'])
    assert.deepEqual(hetznerK3s.read(two, { under }), hetznerK3s.read(two.slice(0, -1), {}))
  const alone = hetznerK3s.read([{ path: 'cluster.yaml', text: HETZNER }], {})
  assert.match('problem' in alone ? alone.problem : '', /beside it as nodes\.json/)
})

const application = (source: object, type = 'argocd_application') => ({
  mode: 'managed',
  type,
  name: 'traefik',
  provider: 'provider["registry.opentofu.org/argoproj-labs/argocd"]',
  instances: [
    {
      attributes: {
        metadata: [{ name: 'traefik', namespace: 'argocd' }],
        spec: [
          {
            project: 'system',
            destination: [{ server: 'https://kubernetes.default.svc', name: '', namespace: 'traefik' }],
            source: [{ path: '', chart: '', directory: [], kustomize: [], plugin: [], helm: [], ...source }],
          },
        ],
      },
    },
  ],
})

test('an application in a state becomes an add-on as one of Argo CD does', () => {
  const chart = {
    repo_url: 'https://traefik.github.io/charts',
    chart: 'traefik',
    target_revision: '41.3.0',
    helm: [
      {
        release_name: '',
        values: 'replicas: 2\n',
        value_files: [],
        parameter: [{ name: 'image.tag', value: 'v3', force_string: true }],
      },
    ],
  }
  const state = (...resources: readonly object[]) => ({ 'state.json': JSON.stringify({ version: 4, resources }) })
  const read = reading(terraform, state(application(chart)), 'barn')
  assert.deepEqual(specs(read), {
    'Addon/traefik': {
      cluster: 'barn',
      namespace: 'traefik',
      chart: {
        repo: 'https://traefik.github.io/charts',
        name: 'traefik',
        version: '41.3.0',
        values: { replicas: 2, image: { tag: 'v3' } },
      },
      adopt: true,
    },
  })
  assert.deepEqual(lost(read), [])
  const branch = { repo_url: 'https://git.example/apps.git', path: 'traefik', target_revision: 'main' }
  const [why] = lost(reading(terraform, state(application(branch)), 'barn'))
  assert.match(why ?? '', /^argocd_application\.traefik: main is not a commit/)
  const [project] = lost(reading(terraform, state(application(chart, 'argocd_project')), 'barn'))
  assert.match(project ?? '', /^argocd_project\.traefik: croft has no projects/)
})
