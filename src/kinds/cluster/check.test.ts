import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readText, told } from '../../source/testing/fixture.ts'

/** Returns the problems of a manifest: `code line:column message (hint)`. Fields begin at line 5. */
function said(fields: string): readonly string[] {
  const text = `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: homelab}
spec:
${fields
  .trim()
  .split('\n')
  .map((line) => `  ${line}`)
  .join('\n')}
`
  return told(readText(text).problems)
}

const ONE = 'servers: [{name: s1, host: alpha}]'

test('a cluster of one server needs a release and that server, and nothing else', () => {
  assert.deepEqual(said(`version: v1.34.3+k3s1\n${ONE}`), [])
})

const WRONG: readonly [what: string, fields: string, expected: readonly string[]][] = [
  [
    '[R14] a channel',
    `version: stable\n${ONE}`,
    [
      'bad-value 5:12 version is "stable"; expected the exact release, like v1.34.3+k3s1 (the newest that croft knows is …)',
    ],
  ],
  [
    '[R14] half a release',
    `version: v1.33\n${ONE}`,
    [
      'bad-value 5:12 version is "v1.33"; expected the exact release, like v1.34.3+k3s1 (the newest of 1.33 that croft knows is …)',
    ],
  ],
  [
    'a release that nobody knows',
    `version: v1.99.0+k3s1\n${ONE}`,
    [
      "unknown-release 5:12 v1.99.0+k3s1 is not in croft's table of releases, so its etcd is not known (upgrades to it are refused where its etcd matters)",
    ],
  ],
  [
    'a field that is misspelt',
    `version: v1.34.3+k3s1\nservres: []\n${ONE}`,
    ['unknown-field 6:3 "servres" is not a field of spec (did you mean servers?)'],
  ],
  [
    'a component that is misspelt',
    `version: v1.34.3+k3s1\ndisable: [treafik]\n${ONE}`,
    [
      'bad-value 6:13 disable[0] is "treafik"; it may be coredns, local-storage, metrics-server, runtimes, servicelb or traefik (did you mean traefik?)',
    ],
  ],
  ['no servers', 'version: v1.34.3+k3s1\nservers: []', ['out-of-range 6:12 servers has 0 entries; at least 1']],
  [
    'several servers without an endpoint',
    'version: v1.34.3+k3s1\nservers: [{name: s1, host: a}, {name: s2, host: b}, {name: s3, host: c}]',
    [
      'missing-field 4:1 endpoint is missing: with 3 servers the API needs an address that survives one of them (add endpoint: {vip: …}, {dns: …}, or {server: NAME} if it may be lost with that server)',
    ],
  ],
  [
    'two endpoints',
    `version: v1.34.3+k3s1\nendpoint: {vip: 10.0.0.9, dns: k3s.home.arpa}\n${ONE}`,
    ['bad-value 6:13 endpoint is one of vip, dns and server'],
  ],
  [
    'an endpoint that is not a server',
    `version: v1.34.3+k3s1\nendpoint: {server: s9}\n${ONE}`,
    ['bad-value 6:22 there is no server s9 (servers: s1)'],
  ],
  [
    'kube-vip without a vip',
    `version: v1.34.3+k3s1\nendpoint: {dns: k3s.home.arpa, kubeVip: {version: v1.0.3}}\n${ONE}`,
    ['bad-value 6:43 kubeVip announces a vip, and there is none'],
  ],
  [
    'an endpoint that is lost with one of three',
    'version: v1.34.3+k3s1\nendpoint: {server: s1}\nservers: [{name: s1, host: a}, {name: s2, host: b}, {name: s3, host: c}]',
    [
      'endpoint-of-one 6:22 the API is lost to everybody when s1 is, although 2 other servers run (use a vip or a dns name)',
    ],
  ],
  [
    '[R10] an even number of servers',
    'version: v1.34.3+k3s1\nendpoint: {dns: k3s}\nservers: [{name: s1, host: a}, {name: s2, host: b}]',
    [
      'even-servers 7:12 2 servers survive the loss of none, as 1 would: one more only adds another that can fail (declare 1 or 3, or say allow: {degraded: true})',
    ],
  ],
  [
    'names that grow too long by counting',
    `version: v1.34.3+k3s1\n${ONE}\nagents: {name: ${'w'.repeat(62)}, count: 2}`,
    [
      `bad-value 7:18 ${'w'.repeat(62)}-2 cannot be the name of a node (set name to something short, of small letters, digits and dashes)`,
    ],
  ],
  [
    '[R26] a server that sleeps',
    'version: v1.34.3+k3s1\nservers: [{name: s1, host: a, power: onDemand}]',
    [
      'bad-value 6:40 a server cannot be onDemand: it would hold a vote in etcd while it sleeps (make it an agent, or leave power out)',
    ],
  ],
  [
    'two nodes of one name',
    `version: v1.34.3+k3s1\n${ONE}\nagents: [{name: s1, host: b}]`,
    ['duplicate-node 7:19 two nodes are called s1: here and at servers.0 (a name belongs to one node)'],
  ],
  [
    'a name that is counted as well',
    `version: v1.34.3+k3s1\n${ONE}\nagents: [{name: w, count: 2}, {name: w-2, host: b}]`,
    ['duplicate-node 7:40 two nodes are called w-2: here and at agents.0 (a name belongs to one node)'],
  ],
  [
    'a node without a place',
    'version: v1.34.3+k3s1\nservers: [{name: s1}]',
    [
      'missing-field 6:13 neither host nor machine says where this node is (host: NAME makes a machine there; machine: Machine/…, EnvironmentVM/… or Host/… uses one that is declared)',
    ],
  ],
  [
    'a node with two places',
    'version: v1.34.3+k3s1\nservers: [{name: s1, host: a, machine: Host/a}]',
    ['bad-value 6:42 host makes a machine and machine names one: a node has one of them'],
  ],
  [
    'a machine of another sort',
    'version: v1.34.3+k3s1\nservers: [{machine: Container/a}]',
    ['bad-value 6:23 servers[0].machine is "Container/a"; expected Machine/…, EnvironmentVM/… or Host/…'],
  ],
  [
    'hardware of a machine that is not made here',
    'version: v1.34.3+k3s1\nservers: [{machine: Host/a, memory: 4Gi}]',
    ['bad-value 6:39 memory is for a machine that is made here; Host/a is declared by itself'],
  ],
  [
    'one address for several',
    `version: v1.34.3+k3s1\n${ONE}\nagents: {count: 2, address: 10.0.0.9}`,
    ['bad-value 7:31 address belongs to one machine, and count makes several'],
  ],
  [
    'spread without count',
    `version: v1.34.3+k3s1\n${ONE}\nagents: [{name: w, host: a, spread: host}]`,
    ['bad-value 7:39 spread is for several agents that are alike (add count)'],
  ],
  [
    'a label that the kubelet refuses',
    'version: v1.34.3+k3s1\nservers: [{name: s1, host: a, labels: {node-role.kubernetes.io/worker: "true"}}]',
    [
      'bad-value 6:74 a node may not give itself the label node-role.kubernetes.io/worker: K3s would not start with it (use a prefix of your own, or node.kubernetes.io/)',
    ],
  ],
  [
    'a taint without effect',
    'version: v1.34.3+k3s1\nservers: [{name: s1, host: a, taints: [gpu]}]',
    [
      'bad-value 6:42 servers[0].taints[0] is "gpu"; expected a taint like dedicated=gpu:NoSchedule, with NoSchedule, PreferNoSchedule or NoExecute behind the colon',
    ],
  ],
  [
    'ranges of another family',
    `version: v1.34.3+k3s1\nfamily: dual\npodCidrs: [10.42.0.0/16]\n${ONE}`,
    ['bad-value 7:13 podCidrs has IPv4 and family says IPv4 and IPv6 (leave family out where the ranges are written)'],
  ],
  [
    'a bare number as a duration',
    `version: v1.34.3+k3s1\nupgrade: {soak: 10}\n${ONE}`,
    ['wrong-type 6:19 upgrade.soak is 10; expected a duration like 30s, 10m, 1h30m or 7d'],
  ],
  [
    'a duration in another language',
    `version: v1.34.3+k3s1\nupgrade: {soak: 10 min}\n${ONE}`,
    ['bad-value 6:19 upgrade.soak is "10 min"; expected a duration like 30s, 10m, 1h30m or 7d'],
  ],
  [
    'a schedule with an hour too many',
    `version: v1.34.3+k3s1\nbackup: {schedule: "0 24 * * *", to: {directory: /srv/backup}}\n${ONE}`,
    [
      'bad-value 6:22 backup.schedule is "0 24 * * *"; expected five fields as in cron: minute, hour, day of the month, month, day of the week, like "0 */6 * * *"',
    ],
  ],
  [
    'a backup to nowhere',
    `version: v1.34.3+k3s1\nbackup: {schedule: "0 4 * * *", to: {}}\n${ONE}`,
    ['bad-value 6:39 backup.to is a block of fields; expected one of directory, nfs and s3'],
  ],
  [
    'a place on the map that is none',
    `version: v1.34.3+k3s1\nupgrade: {windows: [{from: "02:00", to: "05:00", timeZone: Europe/Atlantis}]}\n${ONE}`,
    ['bad-value 6:62 upgrade.windows[0].timeZone is "Europe/Atlantis"; expected a time zone like Europe/Berlin'],
  ],
  [
    'a gate for the name that stands open',
    `version: v1.34.3+k3s1\ngates: {dns: off, hostname: off}\n${ONE}`,
    ['bad-value 6:31 gates.hostname is "off"; expected a duration like 30s, 10m, 1h30m or 7d'],
  ],
]

for (const [what, fields, expected] of WRONG) {
  test(`${what} is told with its place`, () => {
    const found = said(fields).map((one) => one.replace(/(that croft knows is )v\S+\)/, '$1…)'))
    assert.deepEqual(found, expected)
  })
}
