import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { expand } from '../../../kinds/machines/testing/fixture.ts'
import { LIMITS } from '../../../lib/limits.ts'
import { errorsOf, readText } from '../../testing/fixture.ts'
import { printDrafts } from '../draft.ts'
import { k3sAnsible } from '../formats/k3s-ansible.ts'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'
const SECRET = 'hunter2-of-the-cluster'

function read(files: Readonly<Record<string, string>>, cluster?: string, under?: string) {
  const reading = k3sAnsible.read(
    Object.entries(files).map(([path, text]) => ({ path, text })),
    { ...(cluster === undefined ? {} : { cluster }), ...(under === undefined ? {} : { under }) },
  )
  assert.ok(!('problem' in reading), 'problem' in reading ? reading.problem : '')
  const text = printDrafts(reading.drafts)
  const why = reading.notCarried.map((one) => `${one.what}: ${one.why}`)
  assert.ok(!`${text}${why.join('\n')}`.includes(SECRET), 'a secret is printed')
  const specs = (kind: string) =>
    reading.drafts
      .filter(({ manifest }) => manifest.kind === kind)
      .map(({ manifest }) => ({ name: manifest.metadata.name, ...(manifest.spec as object) }))
  const revision = readText(text)
  const declared = revision.declarations.find(({ kind }) => kind === 'Cluster')
  const expanded = declared === undefined ? { problems: [] } : expand(declared, revision.declarations)
  const errors = [...errorsOf(revision), ...('problems' in expanded ? expanded.problems : [])]
  return { errors, text, why, hosts: specs('Host'), clusters: specs('Cluster') }
}

/** In the form of one playbook, with its names of groups, expressions and variables. */
const INI = `# three that vote
[master]
10.20.0.11
10.20.0.12 ansible_port=2222
10.20.0.13 ansible_user="other"

[node]
10.20.0.2[1:2]

[proxmox]
10.20.0.9

[k3s_cluster:children]
master
node
`
const ALL = `---
k3s_version: v1.34.3+k3s1
ansible_user: pi
ansible_ssh_private_key_file: ~/.ssh/farm
flannel_iface: eth0
apiserver_endpoint: 10.20.0.10
k3s_token: ${SECRET}
k3s_node_ip: "{{ ansible_facts[(cilium_iface | default(flannel_iface))]['ipv4']['address'] }}"
taint_servers: "{{ true if groups['node'] | default([]) | length >= 1 else false }}"
extra_args: >-
  {{ '--flannel-iface=' + flannel_iface if cilium_iface is not defined else '' }}
  --node-ip={{ k3s_node_ip }}
extra_server_args: >-
  {{ extra_args }}
  {{ '--node-taint node-role.kubernetes.io/master=true:NoSchedule' if taint_servers else '' }}
  {% if cilium_iface is defined %}
  --flannel-backend=none
  {% endif %}
  --tls-san {{ apiserver_endpoint }}
  --tls-san k3s.farm.example
  --disable servicelb
  --disable traefik
  --write-kubeconfig-mode 644
extra_agent_args: >-
  {{ extra_args }}
  --kubelet-arg max-pods=50
metal_lb_ip_range: 10.20.0.80-10.20.0.90
cilium_bgp: false
`
const NODES = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: [11, 12, 13, 21, 22].map((last) => ({
    kind: 'Node',
    metadata: { name: `pi-${last}` },
    status: {
      addresses: [
        { type: 'InternalIP', address: `10.20.0.${last}` },
        { type: 'Hostname', address: `pi-${last}` },
      ],
    },
  })),
})
const salt = Buffer.from('0123456789abcdefghij')
const hashed = `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update('10.20.0.13').digest('base64')}`
const KNOWN = `10.20.0.11,pi-11 ${KEY} comment
[10.20.0.12]:2222 ${KEY}
${hashed} ${KEY}
10.20.0.21 ${KEY}
10.20.0.22 ${KEY}
`
const FARM = { 'hosts.ini': INI, 'group_vars/all.yml': ALL, 'nodes.json': NODES, known_hosts: KNOWN }

test('an inventory in INI with group_vars becomes Hosts and the Cluster that runs on them', () => {
  const { errors, why, hosts, clusters } = read(FARM, 'farm')
  assert.deepEqual(errors, [])
  const key = { file: '~/.ssh/farm' }
  assert.deepEqual(hosts, [
    { name: 'pi-11', ssh: { address: '10.20.0.11', user: 'pi', hostKeys: [KEY], key } },
    { name: 'pi-12', ssh: { address: '10.20.0.12', user: 'pi', port: 2222, hostKeys: [KEY], key } },
    { name: 'pi-13', ssh: { address: '10.20.0.13', user: 'other', hostKeys: [KEY], key } },
    { name: 'pi-21', ssh: { address: '10.20.0.21', user: 'pi', hostKeys: [KEY], key } },
    { name: 'pi-22', ssh: { address: '10.20.0.22', user: 'pi', hostKeys: [KEY], key } },
  ])
  const server = (name: string) => ({
    machine: `Host/${name}`,
    taints: ['node-role.kubernetes.io/master=true:NoSchedule'],
  })
  const agent = (name: string) => ({ machine: `Host/${name}`, flags: { 'kubelet-arg': 'max-pods=50' } })
  assert.deepEqual(clusters, [
    {
      name: 'farm',
      version: 'v1.34.3+k3s1',
      endpoint: { vip: '10.20.0.10' },
      servers: ['pi-11', 'pi-12', 'pi-13'].map(server),
      agents: ['pi-21', 'pi-22'].map(agent),
      disable: ['servicelb', 'traefik'],
      tlsSans: ['k3s.farm.example'],
      secretsEncryption: false,
      nodeFlags: { 'flannel-iface': 'eth0' },
    },
  ])
  assert.deepEqual(
    why.filter((one) => !one.startsWith('the flag node-ip of pi-')),
    [
      'the host 10.20.0.9: it is in no group of servers or agents',
      'the flag write-kubeconfig-mode: croft sets it to 0600 when it may change the cluster',
      'the variable k3s_token: it is secret; croft reads it from a server when it takes the cluster over. Remove it with the playbook',
      'the variable metal_lb_ip_range: MetalLB stays as the playbook installed it; write an Addon to have croft keep it',
    ],
  )
})

/** In the form of the other playbook. */
const YAML = `k3s_cluster:
  children:
    server:
      hosts:
        cow: {ansible_host: 192.168.14.2}
    agent:
      hosts:
        sheep:
          ansible_host: 192.168.14.3
          extra_agent_args: "--node-label zone=attic --snapshotter=native"
        duck: {ansible_host: 192.168.14.4}
  vars:
    ansible_port: 22
    ansible_user: root
    ansible_become: true
    ansible_become_password: ${SECRET}
    k3s_version: v1.34.3+k3s1
    token: !vault |
      $ANSIBLE_VAULT;1.1;AES256
      3031
    api_endpoint: "{{ hostvars[groups['server'][0]]['ansible_host'] | default(groups['server'][0]) }}"
    extra_server_args: "--secrets-encryption --token=${SECRET}"
    server_config_yaml: |
      cluster-cidr: 10.52.0.0/16
      etcd-expose-metrics: true
      disable: [traefik]
    cluster_context: barn
`

test('an inventory in YAML: variables of hosts win, config.yaml and flags become fields, the endpoint is a server', () => {
  const known_hosts = `192.168.14.2 ${KEY}\n192.168.14.3 ${KEY}\nduck ${KEY}\n`
  const { errors, why, hosts, clusters } = read({ 'inventory.yml': YAML, known_hosts })
  assert.deepEqual(errors, [])
  assert.deepEqual(
    hosts.map(({ name }) => name),
    ['cow', 'sheep', 'duck'],
  )
  assert.deepEqual(clusters, [
    {
      name: 'barn',
      version: 'v1.34.3+k3s1',
      endpoint: { server: 'cow' },
      servers: [{ machine: 'Host/cow' }],
      agents: [
        { machine: 'Host/sheep', labels: { zone: 'attic' }, flags: { snapshotter: 'native' } },
        { machine: 'Host/duck' },
      ],
      podCidrs: ['10.52.0.0/16'],
      disable: ['traefik'],
      secretsEncryption: true,
      serverFlags: { 'etcd-expose-metrics': true },
    },
  ])
  assert.deepEqual(
    why.map((one) => one.split(':')[0]),
    ['the flag token', 'the variable ansible_become_password', 'the variable token'],
  )
})

test('a host without a key and a node without a name are written, named, and no valid manifests', () => {
  const { errors, why, text } = read({ 'hosts.ini': INI, 'group_vars/all.yml': ALL })
  assert.ok(errors.some(({ message }) => message.includes('hostKeys')))
  assert.match(text, /name: 10-20-0-11/)
  assert.ok(why.some((one) => one.startsWith('the host 10.20.0.11: its host key is not known')))
  assert.ok(why.some((one) => one.startsWith('the name of the node 10.20.0.11: the inventory does not have it')))
})

test('a key that is revoked is not taken', () => {
  const { why } = read({ ...FARM, known_hosts: `${KNOWN}@revoked * ${KEY}\n` })
  assert.ok(why.some((one) => one.startsWith('the host 10.20.0.11: its host key is not known')))
})

const REFUSED: readonly (readonly [what: string, from: string, to: string, expected: RegExp])[] = [
  ['an external database', 'ansible_port: 22', 'use_external_database: true', /database is outside/],
  ['a datastore', 'etcd-expose-metrics: true', `datastore-endpoint: mysql://root:${SECRET}@db`, /datastore-endpoint/],
  ['another port', 'ansible_port: 22', 'api_port: 7443', /not at port 6443/],
  ['another directory', 'ansible_port: 22', 'k3s_server_location: /srv/k3s', /\/var\/lib\/rancher\/k3s/],
  ['no release', 'k3s_version: v1.34.3+k3s1', 'x: y', /does not say k3s_version/],
  ['a channel', 'k3s_version: v1.34.3+k3s1', 'k3s_version: stable', /expected the exact release/],
]
for (const [what, from, to, expected] of REFUSED) {
  test(`${what}: the Hosts are imported and the Cluster is not`, () => {
    const { why, hosts, clusters } = read({ 'inventory.yml': YAML.replace(from, to) })
    assert.equal(hosts.length, 3)
    assert.deepEqual(clusters, [])
    const said = why.find((one) => one.startsWith('the cluster: '))
    assert.match(said ?? '', expected)
  })
}

/** Flags that croft sets itself: as further flags, they would make the Cluster invalid. */
const RESERVED = `token-file agent-token agent-token-file server cluster-init cluster-reset cluster-reset-restore-path
  config node-name with-node-id etcd-s3-access-key etcd-s3-secret-key etcd-s3-session-token vpn-auth tls-san-security`
test('flags that croft sets itself are listed, and the manifests stay valid', () => {
  const flags = RESERVED.split(/\s+/)
  const args = flags.map((flag) => `--${flag}=${SECRET}`).join(' ')
  const known_hosts = ['192.168.14.2', 'sheep', 'duck'].map((name) => `${name} ${KEY}\n`).join('')
  const { errors, why, clusters } = read({ 'inventory.yml': YAML.replace('--secrets-encryption', args), known_hosts })
  assert.deepEqual(errors, [])
  assert.equal(clusters.length, 1)
  for (const flag of flags)
    assert.ok(
      why.some((one) => one.startsWith(`the flag ${flag}: `)),
      flag,
    )
})

const ARGS: readonly (readonly [
  written: string,
  disable: readonly string[] | undefined,
  expected: RegExp | undefined,
])[] = [
  ["--disable {{ 'a' if nothing is defined else 'traefik' }}", ['traefik'], undefined],
  ['--disable {{ missing }}', undefined, /^the flag disable: .*only Ansible/],
  ["--disable {{ lookup('env', 'X') }}", undefined, /^the flag disable: .*only Ansible/],
  ['{% for a in b %}--disable traefik{% endfor %}', undefined, /^extra_server_args: .*only Ansible/],
  ["{{ 'x' | regex_replace('a') }} --disable traefik", ['traefik'], /^extra_server_args: .*only Ansible/],
  [
    '{% if ansible_arch == "arm" %}--disable runtimes{% else %}--a{% endif %} --disable traefik',
    ['traefik'],
    /^extra_server_args: .*only Ansible/,
  ],
  ['{% if k3s_version is defined %}--disable traefik{% elif x %}--b{% else %}--c{% endif %}', ['traefik'], undefined],
  ['{{ extra_server_args }} --disable traefik', ['traefik'], /^extra_server_args: .*only Ansible/],
  ['{{ --disable traefik', undefined, /^extra_server_args: .*only Ansible/],
  ['--disable traefik stray', ['traefik'], /^extra_server_args: it has a word that is not a flag/],
  ['--a '.repeat(LIMITS.inventory.flags + 1), undefined, /^extra_server_args: it is not a list of flags/],
  ['--disable "traefik', undefined, /^extra_server_args: it is not a list of flags/],
  [
    "{{ ['traefik'] | first if (1 < 2 and not false) or x else 'y' }} --disable=traefik,servicelb",
    ['servicelb', 'traefik'],
    /a word that is not a flag/,
  ],
]
for (const [written, disable, expected] of ARGS) {
  test(`flags ${written.slice(0, 100)}`, () => {
    const text = YAML.replace(/extra_server_args: .*/, `extra_server_args: ${JSON.stringify(written)}`).replace(
      'disable: [traefik]',
      '',
    )
    const { why, clusters } = read({ 'inventory.yml': text })
    const [cluster] = clusters as readonly { readonly disable?: readonly string[] }[]
    assert.ok(cluster !== undefined)
    assert.deepEqual(cluster.disable?.toSorted(), disable)
    if (expected !== undefined)
      assert.ok(
        why.some((one) => expected.test(one)),
        why.join('\n'),
      )
    else
      assert.deepEqual(
        why.filter((one) => one.includes('Ansible can')),
        [],
      )
  })
}

const PROBLEMS: readonly (readonly [what: string, files: Readonly<Record<string, string>>, expected: RegExp])[] = [
  ['no inventory', { 'a.yml': 'a: 1\n' }, /no inventory with hosts is among the files/],
  [
    'files that nobody means as one',
    {
      'firmware/platformio.ini': '[env:a]\nboard = x y\n',
      'entry.yaml': 'apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nspec: {hosts: [a.example]}\n',
    },
    /^no inventory with hosts is among the files; name the directory that holds it, like inventory\/home$/,
  ],
  [
    'two inventories',
    { 'a/hosts.ini': INI, 'b/hosts.ini': INI },
    /several inventories, a\/hosts\.ini and b\/hosts\.ini/,
  ],
  ['a broken section', { 'hosts.ini': '[server\ncow\n' }, /hosts\.ini: line 1: this is not a section/],
  ['a broken host', { 'hosts.ini': '[server]\ncow x\n' }, /hosts\.ini: line 2: behind the name of a host/],
  ['a range without end', { 'hosts.ini': '[server]\nn[1:999999]\n' }, /hosts\.ini: line 2: .* is not a range of hosts/],
  [
    'too many groups',
    { 'hosts.ini': Array.from({ length: LIMITS.inventory.groups + 1 }, (_, at) => `[g${at}]`).join('\n') },
    /too many groups/,
  ],
  [
    'too many hosts',
    { 'hosts.ini': `[server]\n${Array.from({ length: 3 }, (_, at) => `n${at}-[1:500]`).join('\n')}` },
    new RegExp(`more than ${LIMITS.inventory.hosts} hosts`),
  ],
  [
    'groups that are too deep',
    {
      'a.yml': `server: ${'{children: {a: '.repeat(30)}{hosts: {x: {}}}${'}}'.repeat(30)}`,
    },
    /levels deep/,
  ],
]
for (const [what, files, expected] of PROBLEMS) {
  test(`${what} is refused with its place`, () => {
    const reading = k3sAnsible.read(
      Object.entries(files).map(([path, text]) => ({ path, text })),
      {},
    )
    assert.match('problem' in reading ? reading.problem : 'read', expected)
  })
}

test('[S-55] variables that double each other, ask for themselves or are nested without end cost little', () => {
  const doubling = Array.from({ length: 200 }, (_, at) => `v${at + 1}: "{{ v${at} }}{{ v${at} }}"`).join('\n')
  const deep = `deep: "{{ ${'('.repeat(50_000)}1 }}"`
  const vars = `${ALL.replace(/extra_server_args: >-[\s\S]*?(?=extra_agent_args)/, '')}
v0: x
${doubling}
${deep}
round: "{{ round }}"
extra_server_args: "--a={{ v200 }} --b={{ v12 }} --c={{ round }} --d={{ deep }} --disable traefik"
`
  const hosts = `[master]\nm\n[node]\nn[1:900]\n`
  const before = process.threadCpuUsage()
  const { why, clusters } = read({ 'hosts.ini': hosts, 'group_vars/all.yml': vars })
  const { user, system } = process.threadCpuUsage(before)
  assert.deepEqual(clusters, [], '900 agents are more than a Cluster may have')
  for (const flag of ['a', 'c', 'd'])
    assert.ok(
      why.some((one) => one.startsWith(`the flag ${flag}: `)),
      flag,
    )
  assert.ok(!why.some((one) => one.startsWith('the flag b: ')))
  assert.ok((user + system) / 1000 < 20_000, `${(user + system) / 1000} ms of processor time`)
})

test('a file of ansible-vault and one that is no map are named', () => {
  const { why } = read({
    ...FARM,
    'group_vars/all/vault.yml': '$ANSIBLE_VAULT;1.1;AES256\n3031\n',
    'host_vars/a.yml': '- 1',
  })
  assert.ok(why.includes('group_vars/all/vault.yml: it is encrypted with ansible-vault, and croft does not read it'))
  assert.ok(why.includes('host_vars/a.yml: it cannot be read as a YAML map'))
})

/** A playbook of one's own: plural groups, two inventories in a directory, variables beside the playbook. */
const OWN = {
  'inventories/prod.yml': `all:
  vars: {control_plane_endpoint: 10.140.0.9}
boxes:
  children:
    masters: {hosts: {red: {ansible_host: 10.140.0.1}, green: {ansible_host: 10.140.0.2}, blue: {ansible_host: 10.140.0.3}}}
    workers: {hosts: {grey: {ansible_host: 10.140.0.4}}}
`,
  'inventories/lab.yml': 'boxes: {children: {masters: {hosts: {lab: {ansible_host: 10.141.0.1}}}}}\n',
  'group_vars/all.yml': 'ansible_user: root\n',
  'roles/k3s/defaults/main.yml': `k3s_version: v1.34.3+k3s1
k3s_server_config:
  tls-san: ["{{ control_plane_endpoint }}", api.home.arpa]
  disable: [traefik, servicelb]
  flannel-backend: none
  disable-kube-proxy: true
`,
  'roles/dns/defaults/main.yml': 'k3s_version: v1.20.0+k3s1\n',
  known_hosts: ['10.140.0.1', '10.140.0.2', '10.140.0.3', '10.140.0.4', '10.141.0.1']
    .map((ip) => `${ip} ${KEY}\n`)
    .join(''),
}

test('an inventory of an own playbook: plural groups, defaults of its role, variables beside the playbook', () => {
  const { errors, clusters, hosts } = read(OWN, 'home', 'inventories/prod.yml')
  assert.deepEqual(errors, [])
  assert.deepEqual(
    hosts.map(({ name }) => name),
    ['red', 'green', 'blue', 'grey'],
  )
  assert.deepEqual(clusters, [
    {
      name: 'home',
      version: 'v1.34.3+k3s1',
      endpoint: { vip: '10.140.0.9' },
      servers: ['red', 'green', 'blue'].map((name) => ({ machine: `Host/${name}` })),
      agents: [{ machine: 'Host/grey' }],
      flannelBackend: 'none',
      kubeProxy: false,
      disable: ['traefik', 'servicelb'],
      tlsSans: ['api.home.arpa'],
      secretsEncryption: false,
    },
  ])
})

test('the release may stand deep in a map of the role; two that differ are none', () => {
  const withDefaults = (defaults: string) =>
    read({ ...OWN, 'roles/k3s/defaults/main.yml': defaults }, 'home', 'inventories/prod.yml')
  const one =
    'k3s_vars: {release: {k3s: {name: k3s, version: v1.34.6+k3s1}, kubepug: {version: v1.7.1}}}\nk3s_api_vip: 10.140.0.9\n'
  assert.equal((withDefaults(one).clusters[0] as { version?: string } | undefined)?.version, 'v1.34.6+k3s1')
  const { clusters, why } = withDefaults(`${one}k3s_old: {version: v1.33.1+k3s1}\n`)
  assert.deepEqual(clusters, [])
  assert.match(why.join(), /does not say k3s_version/)
})

test('several inventories are named, and one is chosen by its path', () => {
  const files = Object.entries(OWN).map(([path, text]) => ({ path, text }))
  const several = k3sAnsible.read(files, {})
  assert.match(
    'problem' in several ? several.problem : '',
    /inventories\/prod\.yml and inventories\/lab\.yml; choose one/,
  )
  const none = k3sAnsible.read(files, { under: 'inventories/other.yml' })
  assert.match('problem' in none ? none.problem : '', /no inventory with hosts/)
})

test('a file of variables that a playbook loads wins over the inventory; one that nobody loads is not read', () => {
  const { errors, clusters } = read({
    'inventory.yml': `all:
  children:
    control: {hosts: {desk: {ansible_connection: local}}}
    k3s_cluster:
      children:
        k3s_master: {hosts: {"one": {ansible_host: 10.142.0.1, ansible_user: pi}}}
        k3s_worker: {hosts: {"two": {ansible_host: 10.142.0.2, ansible_user: pi}}}
`,
    'group_vars/k3s_cluster.yml': 'k3s_version: v1.33.1+k3s1\n',
    'install.yml': '- hosts: k3s_cluster\n  pre_tasks:\n    - ansible.builtin.include_vars: "vars/farm.yml"\n',
    'vars/farm.yml': 'k3s_version: v1.34.3+k3s1\nk3s_agent_config: {node-label: [tier=cheap]}\n',
    'vars/old.yml': 'k3s_version: v1.20.0+k3s1\n',
    known_hosts: `10.142.0.1 ${KEY}\n10.142.0.2 ${KEY}\n`,
  })
  assert.deepEqual(errors, [])
  assert.deepEqual(clusters, [
    {
      name: 'k3s',
      version: 'v1.34.3+k3s1',
      servers: [{ machine: 'Host/one' }],
      agents: [{ machine: 'Host/two', labels: { tier: 'cheap' } }],
      secretsEncryption: false,
    },
  ])
})

/** Hosts without groups: variables show which of them are servers. */
const UNGROUPED = {
  'inventory.yaml': `all:
  vars: {ansible_user: pi}
  hosts: {hen: {ansible_host: 10.143.0.1}, cat: {ansible_host: 10.143.0.2}}
`,
  known_hosts: `10.143.0.1 ${KEY}\n10.143.0.2 ${KEY}\n`,
}
const RUNNING = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    ['cat', '10.143.0.2', { 'node-role.kubernetes.io/control-plane': 'true' }],
    ['hen', '10.143.0.1', {}],
  ].map(([name, address, labels]) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    status: { addresses: [{ type: 'InternalIP', address }], nodeInfo: { kubeletVersion: 'v1.34.3+k3s1' } },
  })),
})

for (const [by, more] of [
  [
    'role of each host',
    { 'host_vars/cat.yaml': 'role: control-plane\n', 'host_vars/hen.yaml': 'role: worker\n', 'nodes.json': RUNNING },
  ],
  ['k3s_control_node of the servers', { 'host_vars/cat.yaml': 'k3s_control_node: true\n', 'nodes.json': RUNNING }],
  ['the nodes themselves', { 'nodes.json': RUNNING }],
] as const)
  test(`hosts in no group are told apart by ${by}, and the version is the running one`, () => {
    const { errors, clusters } = read({ ...UNGROUPED, ...more })
    assert.deepEqual(errors, [])
    assert.deepEqual(clusters, [
      {
        name: 'k3s',
        version: 'v1.34.3+k3s1',
        servers: [{ machine: 'Host/cat' }],
        agents: [{ machine: 'Host/hen' }],
        secretsEncryption: false,
      },
    ])
  })

test('hosts that nothing tells apart are refused, with the groups and what would tell', () => {
  const files = Object.entries(UNGROUPED).map(([path, text]) => ({ path, text }))
  const reading = k3sAnsible.read(files, {})
  assert.match(
    'problem' in reading ? reading.problem : '',
    /inventory\.yaml does not say which hosts are servers\. Its groups are all; .* nodes\.json/,
  )
})

test('a group that holds the servers too is no group of agents', () => {
  const { why, clusters } = read({
    'hosts.yml': `nodes:
  vars: {ansible_user: pi, k3s_version: v1.34.3+k3s1}
  children:
    masters: {hosts: {one: {ansible_host: 10.144.0.1}}}
    spare: {hosts: {two: {ansible_host: 10.144.0.2}}}
`,
    known_hosts: `10.144.0.1 ${KEY}\n`,
  })
  assert.deepEqual(
    clusters.map((one) => 'agents' in one),
    [false],
  )
  assert.deepEqual(why, ['the host two: it is in no group of servers or agents'])
})
