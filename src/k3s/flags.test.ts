import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { recordedFile } from '../../test/evidence/read.ts'
import type { ClusterSpec, Flags } from '../model/cluster.ts'
import { clusterSpec, nodeSpec } from '../plan/clusters/testing/fixture.ts'
import { clusterFlags, configHash, configYaml, endpointUrl, nodeConfig } from './config.ts'
import { EQUAL_ON_SERVERS, explainFailure, flagDrift, flagProblems, furtherDrift, parseNodeArgs } from './flags.ts'

const spec = clusterSpec('s1 s2 s3 a1', {
  disable: ['traefik', 'servicelb'],
  tlsSans: ['k3s.home'],
  serverFlags: { 'kube-apiserver-arg': ['audit-log-maxage=7'] },
  nodeFlags: { 'kubelet-arg': ['max-pods=200'] },
})
const s1 = nodeSpec('s1', { nodeIps: ['192.168.4.1', 'fd00::1'], labels: { zone: 'a' }, taints: ['x=y:NoSchedule'] })

describe('config.yaml', () => {
  test('of a joining server: cluster-wide flags, its own, and no secret', () => {
    assert.deepEqual(nodeConfig(spec, s1), {
      'node-name': 's1',
      'node-ip': '192.168.4.1,fd00::1',
      'node-label': ['zone=a'],
      'node-taint': ['x=y:NoSchedule'],
      'kubelet-arg': ['max-pods=200'],
      'cluster-cidr': '10.42.0.0/16',
      'service-cidr': '10.43.0.0/16',
      'flannel-backend': 'vxlan',
      'disable-kube-proxy': false,
      'disable-network-policy': false,
      disable: ['servicelb', 'traefik'],
      'secrets-encryption': true,
      'tls-san': ['192.168.4.79', 'k3s.home'],
      'tls-san-security': true,
      'write-kubeconfig-mode': '0600',
      'kube-apiserver-arg': ['audit-log-maxage=7'],
      server: 'https://192.168.4.79:6443',
      'token-file': '/etc/rancher/k3s/token',
      'agent-token-file': '/etc/rancher/k3s/agent-token',
    })
  })

  test('[A9] cluster-init and server are never both there', () => {
    const first = nodeConfig(spec, s1, 'first')
    assert.equal(first['cluster-init'], true)
    assert.equal(first.server, undefined)
    assert.equal(nodeConfig(spec, s1)['cluster-init'], undefined)
  })

  test('of an agent: nothing that only a server understands, for an agent dies of it', () => {
    const agent: Flags = nodeConfig(spec, nodeSpec('a1', { flags: { 'node-external-dns': 'x' } }))
    for (const flag of Object.keys(clusterFlags(spec))) assert.equal(agent[flag], undefined, flag)
    assert.deepEqual(agent, {
      'node-name': 'a1',
      'kubelet-arg': ['max-pods=200'],
      'node-external-dns': 'x',
      server: 'https://192.168.4.79:6443',
      'token-file': '/etc/rancher/k3s/agent-token',
    })
  })

  test('endpoints: VIP, name, server, IPv6; the server that is the endpoint asks another', () => {
    assert.equal(endpointUrl(clusterSpec('s1', { endpoint: { dns: 'k3s.home' } })), 'https://k3s.home:6443')
    assert.equal(endpointUrl(clusterSpec('s1', { endpoint: { vip: 'fd00::9' } })), 'https://[fd00::9]:6443')
    const own = {
      ...clusterSpec('', { endpoint: { server: 's1' } }),
      servers: [s1, nodeSpec('s2', { nodeIps: ['192.168.4.2'] })],
    }
    assert.equal(endpointUrl(own), 'https://192.168.4.1:6443')
    assert.equal(nodeConfig(own, s1).server, 'https://192.168.4.2:6443')
    assert.equal(endpointUrl(clusterSpec('s1', { endpoint: { server: 's1' } })), 'https://s1:6443')
  })

  test('[R20-8] a server joins the address of one that votes; without one never itself and never the name', () => {
    const [two, three] = ['2', '3'].map((last) => nodeSpec(`s${last}`, { nodeIps: [`192.168.4.${last}`] }))
    assert.ok(two && three)
    for (const endpoint of [{ dns: 'k3s.home' }, { vip: '192.168.4.79' }, { server: 's2' }] as const) {
      const own: ClusterSpec = { ...clusterSpec('', { endpoint }), servers: [s1, two, three] }
      assert.equal(nodeConfig(own, two, 'member', '192.168.4.3').server, 'https://192.168.4.3:6443')
      assert.equal(nodeConfig(own, two, 'member', 'fd00::3').server, 'https://[fd00::3]:6443')
    }
    const named = { ...clusterSpec('', { endpoint: { dns: 'k3s.home' } }), servers: [s1, two, three] }
    assert.equal(nodeConfig(named, s1).server, 'https://192.168.4.2:6443')
    assert.equal(nodeConfig(named, two).server, 'https://192.168.4.1:6443')
  })

  test('as text it is YAML that says exactly the same, whatever a value holds', () => {
    const nasty = { a: 'x: y\n- z', b: ['no', '010', '"', '#'], c: true, d: 'null', e: 7 }
    assert.deepEqual(parse(configYaml(nasty)), nasty)
  })

  test('[R44] the hash changes with what needs a restart, and not with how a node came in', () => {
    const hash = configHash(spec, s1)
    assert.equal(configHash({ ...spec, endpoint: { vip: '192.168.4.79' } }, s1), hash)
    assert.notEqual(configHash({ ...spec, endpoint: { vip: '192.168.4.80' } }, s1), hash, 'the SAN')
    assert.notEqual(configHash({ ...spec, disable: [] }, s1), hash)
    assert.equal(configHash(spec, { ...s1, labels: {} }), hash, 'labels are set through the API')
    assert.notEqual(configHash(spec, { ...s1, flags: { 'kubelet-arg': ['max-pods=50'] } }), hash)
    assert.equal(configHash({ ...spec, disable: ['servicelb', 'traefik'] }, s1), hash, 'order does not matter')
    assert.equal(configHash({ ...spec, version: 'v1.35.0+k3s1' }, s1), hash, 'the version is not configuration')
  })
})

describe('flags in the wrong place', () => {
  test('are named with the place', () => {
    const wrong = {
      ...spec,
      serverFlags: { token: 'secret', 'cluster-cidr': '10.0.0.0/16', '--x': 1, 'cluster-dns': '10.43.0.10' },
      servers: [nodeSpec('s1', { flags: { 'flannel-ipv6-masq': true, 'kubelet-arg': ['x=y'] } })],
    }
    assert.deepEqual(flagProblems(wrong), [
      'serverFlags: token is set by croft itself',
      'serverFlags: cluster-cidr has its own field in the cluster',
      'serverFlags: "--x" is not a flag',
      's1.flags: flannel-ipv6-masq must be alike on all servers; say it in serverFlags',
    ])
    assert.deepEqual(flagProblems(spec), [])
  })
})

describe('[R41] flags of running servers', () => {
  const live = (args: readonly string[]) => parseNodeArgs(JSON.stringify(['server', ...args])) ?? {}
  const asDeclared = ['--secrets-encryption', '--disable', 'traefik', '--disable=servicelb', '--tls-san', 'k3s.home']

  test('are read from the annotation', () => {
    assert.deepEqual(live([...asDeclared, '--cluster-init', 'true']), {
      'secrets-encryption': ['true'],
      disable: ['traefik', 'servicelb'],
      'tls-san': ['k3s.home'],
      'cluster-init': ['true'],
    })
    for (const text of ['', '{}', '[1]', 'null']) assert.equal(parseNodeArgs(text), undefined)
  })

  test('alike and as declared: no drift; defaults need not be said', () => {
    assert.deepEqual(flagDrift(spec, [{ server: 's1', flags: live(asDeclared) }]), [])
    const told = [...asDeclared, '--flannel-backend', 'vxlan', '--cluster-cidr', '10.42.0.0/16']
    assert.deepEqual(flagDrift(spec, [{ server: 's1', flags: live(told) }]), [])
  })

  test('--disable=traefik on one server only is told with what it does', () => {
    const lone = clusterSpec('s1 s2 s3')
    const encrypted = live(['--secrets-encryption'])
    const drift = flagDrift(lone, [
      { server: 's1', flags: encrypted },
      { server: 's2', flags: live(['--secrets-encryption', '--disable', 'traefik']) },
    ])
    assert.deepEqual(
      drift.map(({ message }) => message),
      [
        's2 runs with disable traefik, declared is nothing: each start of it deletes or deploys these components for the whole cluster',
      ],
    )
  })

  test('each flag that must be alike is seen to differ', () => {
    for (const flag of Object.keys(EQUAL_ON_SERVERS)) {
      const drift = flagDrift(spec, [{ server: 's1', flags: { ...live(asDeclared), [flag]: ['other'] } }])
      assert.deepEqual(
        drift.map((entry) => entry.flag),
        [flag],
      )
    }
  })

  test('what K3s calls the flag in its refusal is translated', () => {
    const rows = recordedFile<{ label: string; lines: string[] }[]>('09-config-mismatch', 'attempts.jsonl')
    assert.ok(rows.length > 10)
    for (const { label, lines } of rows) {
      const flags = new Set(lines.flatMap((line) => /^its (\S+) is not the same/.exec(explainFailure(line))?.[1] ?? []))
      const expected = label === 'two-at-once' ? 'cluster-cidr' : label.replace('no-', '')
      assert.ok(flags.has(expected), `${label}: ${[...flags].join(' ')}`)
      for (const flag of flags) assert.ok(flag in EQUAL_ON_SERVERS, flag)
    }
  })

  test('the annotation of a real server is read', () => {
    const { annotations } = recordedFile<{ annotations: { 'k3s.io/node-args': string } }>(
      '10-node-annotations',
      'node-s2.json',
    )
    const flags = parseNodeArgs(annotations['k3s.io/node-args'])
    assert.deepEqual(flags?.disable, ['traefik'])
    assert.deepEqual(flags?.['secrets-encryption'], ['true'])
    assert.deepEqual(flags?.['kubelet-arg'], ['fail-cgroupv1=false', 'cgroup-root=/r2'])
  })
})

describe('further flags of a node that was found', () => {
  const of = (node: string, role: 'server' | 'agent', live: Readonly<Record<string, readonly string[]>>, more = {}) =>
    furtherDrift({ ...spec, ...more }, nodeSpec(node, { role }), live).map(({ place, flag }) => `${place}.${flag}`)
  const running = { 'kube-apiserver-arg': ['audit-log-maxage=7'], 'kubelet-arg': ['v=2', 'max-pods=200'] }

  test('one that is declared must be there; more of it may be', () => {
    assert.deepEqual(of('s1', 'server', running), [])
    assert.deepEqual(of('s1', 'server', { ...running, snapshotter: ['native'] }), [], 'only what is declared counts')
    assert.deepEqual(of('s1', 'server', {}), ['nodeFlags.kubelet-arg', 'serverFlags.kube-apiserver-arg'])
    assert.deepEqual(of('a1', 'agent', {}), ['nodeFlags.kubelet-arg'], 'flags of servers are not for agents')
  })

  test('a flag that is declared as off may be absent, and may not be on', () => {
    const off = { nodeFlags: { 'protect-kernel-defaults': false } }
    assert.deepEqual(of('a1', 'agent', {}, off), [])
    assert.deepEqual(of('a1', 'agent', { 'protect-kernel-defaults': ['true'] }, off), [
      'nodeFlags.protect-kernel-defaults',
    ])
  })
})
