import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definitionNamed } from '../../proxmox/registry.ts'
import { ownKind } from './own-kind.ts'

function problemsOf(name: string, spec: Readonly<Record<string, unknown>>) {
  const kind = ownKind(definitionNamed(name), () => [])
  const metadata = { name: 'x', annotations: {}, labels: {} }
  return kind.check?.(spec as never, { apiVersion: kind.apiVersion, kind: kind.kind, metadata, spec } as never) ?? []
}

test('a field that the declared type does not have is refused at its place: Proxmox would refuse it halfway', () => {
  const influx = { type: 'influxdb', server: '192.168.4.60', port: 8086 }
  for (const [name, spec, refused] of [
    ['metric-server', { ...influx, bucket: 'b', mtu: 1400, apiPathPrefix: 'x' }, []],
    ['metric-server', { ...influx, path: 'x', otelPath: '/v1' }, ['path', 'otelPath']],
    ['metric-server', { ...influx, type: 'opentelemetry', mtu: 1400 }, ['mtu']],
    ['realm', { type: 'ad', server1: 'a', domain: 'corp.test' }, []],
    ['realm', { type: 'ldap', server1: 'a', domain: 'corp.test' }, ['domain']],
    ['realm', { type: 'openid', issuerUrl: 'https://a', tfa: 'type=oath' }, ['tfa']],
    ['realm', { type: 'pve', comment: 'c', tfa: 'type=oath', default: true }, []],
    ['storage', { type: 'dir', path: '/srv', shared: true, snapshotAsVolumeChain: true, mountPoint: 'yes' }, []],
    [
      'storage',
      { type: 'btrfs', path: '/srv', contentDirs: { iso: 'i' }, bandwidth: {} },
      ['contentDirs', 'bandwidth'],
    ],
    ['storage', { type: 'nfs', server: 'a', export: '/b', shared: true, pool: 'p' }, ['shared', 'pool']],
    ['storage', { type: 'pbs', server: 'a', datastore: 'b', retention: {}, port: 8007, path: '/x' }, ['path']],
    ['storage', { type: 'rbd', pool: 'p', namespace: 'n', krbd: true, datastore: 'd' }, ['datastore']],
    ['sdn-zone', { type: 'vlan', bridge: 'vmbr0', tag: 4 }, ['tag']],
    ['sdn-zone', { type: 'evpn', vrfVxlan: 4, controller: 'c', vxlanPort: 4789 }, []],
  ] as const)
    assert.deepEqual(
      problemsOf(name, spec).map(({ path }) => path.at(-1)),
      refused,
      `${name} ${JSON.stringify(spec)}`,
    )
  const [problem] = problemsOf('sdn-zone', { type: 'simple', bridge: 'vmbr0' })
  assert.equal(problem?.message, 'simple has no bridge: it is a field of vlan, qinq')
  assert.match(problem?.hint ?? '', /take bridge out, or declare another type/)
})
