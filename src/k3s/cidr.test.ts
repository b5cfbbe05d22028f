import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ClusterNetwork } from '../model/cluster.ts'
import { nodeSpec } from '../plan/clusters/testing/fixture.ts'
import { networkProblems, overlap, parseAddress, parseCidr } from './cidr.ts'

const network = (pods: string, services: string): ClusterNetwork => ({
  podCidrs: pods.split(' ').filter(Boolean),
  serviceCidrs: services.split(' ').filter(Boolean),
  flannelBackend: 'vxlan',
  kubeProxy: true,
  networkPolicy: true,
})

describe('[R24] ranges', () => {
  test('are read strictly', () => {
    for (const text of ['10.42.0.0/16', '0.0.0.0/0', '10.0.0.1/32', 'fd00:42::/56', '::/0', 'fd00::1/128']) {
      assert.equal(parseCidr(text)?.text, text)
    }
    const bad = [
      '10.42.0.0',
      '010.42.0.0/16',
      '10.42.0.1/16',
      '10.42.0.0/08',
      '10.42.0.0/33',
      '10.42.0.0/-1',
      '10.42/16',
    ]
    for (const text of [
      ...bad,
      '10.42.0.0/16/1',
      '10.42.0.0/1e1',
      'fd00::/129',
      'fd00::1/64',
      '::ffff:10.0.0.0/104',
      'fe80::%eth0/64',
      '',
    ]) {
      assert.equal(parseCidr(text), undefined, text)
    }
  })
  test('addresses become numbers', () => {
    assert.deepEqual(parseAddress('1.2.3.4'), { family: 4, value: 0x01020304n })
    assert.deepEqual(parseAddress('fd00::1:2'), { family: 6, value: (0xfd00n << 112n) + 0x10002n })
    assert.equal(parseAddress('1.2.3.04'), undefined)
  })
  test('overlap is symmetric and within a family', () => {
    const cases: readonly [string, string, boolean][] = [
      ['10.42.0.0/16', '10.43.0.0/16', false],
      ['10.42.0.0/15', '10.43.0.0/16', true],
      ['10.42.0.0/16', '10.42.128.0/17', true],
      ['0.0.0.0/0', '::/0', false],
      ['fd00::/8', 'fd00:42::/56', true],
    ]
    for (const [a, b, expected] of cases) {
      const [left, right] = [parseCidr(a), parseCidr(b)]
      assert.ok(left && right)
      assert.equal(overlap(left, right), expected, `${a} ${b}`)
      assert.equal(overlap(right, left), expected, `${b} ${a}`)
    }
  })
})

describe('[R24] the declared network', () => {
  const v4 = [nodeSpec('s1', { nodeIps: ['192.168.4.1'] })]
  const both = [nodeSpec('s1', { nodeIps: ['192.168.4.1', 'fd00:4::1'] })]
  const cases: readonly [string, ClusterNetwork, typeof v4, readonly string[]][] = [
    ['single stack', network('10.42.0.0/16', '10.43.0.0/16'), v4, []],
    ['dual stack', network('10.42.0.0/16 fd00:42::/56', '10.43.0.0/16 fd00:43::/112'), both, []],
    ['IPv6 only', network('fd00:42::/56', 'fd00:43::/112'), [nodeSpec('s1', { nodeIps: ['fd00:4::1'] })], []],
    ['addresses not declared', network('10.42.0.0/16', '10.43.0.0/16'), [nodeSpec('s1')], []],
    ['no range', network('10.42.0.0/16', ''), v4, ['needs one range, or one of each family']],
    [
      'not a range',
      network('10.42.0.1/16', '10.43.0.0/16'),
      v4,
      ['10.42.0.1/16 is not a range like 10.42.0.0/16 or fd00:42::/56'],
    ],
    [
      'overlap',
      network('10.42.0.0/15', '10.43.0.0/16'),
      v4,
      ["the pods' 10.42.0.0/15 and the services' 10.43.0.0/16 overlap"],
    ],
    [
      'two of a family',
      network('10.42.0.0/16 10.44.0.0/16', '10.43.0.0/16'),
      v4,
      ['has more than one IPv4 range', 's1 has more than one address of a family'],
    ],
    [
      'families differ',
      network('10.42.0.0/16 fd00:42::/56', '10.43.0.0/16'),
      both,
      ['pods have IPv4 and IPv6 and services IPv4: both must have the same'],
    ],
    ['services too wide', network('172.16.0.0/16', '10.0.0.0/8'), v4, ['10.0.0.0/8 is wider than /12']],
    ['IPv6 services too wide', network('fd00:42::/56', 'fd00:43::/108'), [], ['fd00:43::/108 is wider than /112']],
    [
      'pods too small',
      network('10.42.0.0/25', '10.43.0.0/16'),
      v4,
      ['10.42.0.0/25 is smaller than the /24 of one node'],
    ],
    [
      'pods too wide',
      network('fd00::/40', 'fd00:100::/112'),
      [],
      ['fd00::/40 is wider than Kubernetes can divide among nodes'],
    ],
    [
      'more nodes than room',
      network('10.42.0.0/24', '10.43.0.0/16'),
      [...v4, nodeSpec('s2', { nodeIps: ['192.168.4.2'] })],
      ['10.42.0.0/24 has room for 1 nodes, 2 are declared'],
    ],
    [
      'node-ip of one family',
      network('10.42.0.0/16 fd00:42::/56', '10.43.0.0/16 fd00:43::/112'),
      v4,
      ['s1 has IPv4 addresses and the pods IPv4 and IPv6'],
    ],
    [
      'node-ip in the range of pods',
      network('192.168.0.0/16', '10.43.0.0/16'),
      v4,
      ['192.168.4.1 of s1 lies in 192.168.0.0/16'],
    ],
    [
      'no address',
      network('10.42.0.0/16', '10.43.0.0/16'),
      [nodeSpec('s1', { nodeIps: ['192.168.4.01'] })],
      ['192.168.4.01 is not an IP address'],
    ],
    [
      'one address twice',
      network('10.42.0.0/16', '10.43.0.0/16'),
      [...v4, nodeSpec('s2', { nodeIps: ['192.168.4.1'] })],
      ["192.168.4.1 is also s1's"],
    ],
  ]
  for (const [what, declared, nodes, expected] of cases) {
    test(what, () =>
      assert.deepEqual(
        networkProblems(declared, nodes).map(({ message }) => message),
        expected,
      ),
    )
  }
})
