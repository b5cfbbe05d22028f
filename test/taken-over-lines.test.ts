import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { clusterFlags } from '../src/k3s/config.ts'
import { EQUAL_ON_SERVERS, flagDrift, type LiveFlags } from '../src/k3s/flags.ts'
import { fields, grow } from '../src/kinds/cluster/testing/homelab.ts'
import { linesFor } from '../src/plan/clusters/taken-over.ts'

/** Values that a K3s set up by hand may have. */
const BY_HAND: Readonly<Record<string, string>> = {
  'cluster-cidr': '10.99.0.0/16',
  'service-cidr': '10.98.0.0/16',
  'cluster-dns': '10.43.0.53',
  'cluster-domain': 'lab.example',
  disable: 'servicelb,traefik',
  'disable-cloud-controller': 'true',
  'disable-helm-controller': 'true',
  'disable-kube-proxy': 'true',
  'disable-network-policy': 'true',
  'egress-selector-mode': 'disabled',
  'embedded-registry': 'true',
  'flannel-backend': 'host-gw',
  'flannel-external-ip': 'true',
  'flannel-ipv6-masq': 'true',
  'secrets-encryption': 'false',
  'secrets-encryption-provider': 'secretbox',
  'supervisor-metrics': 'true',
}

/** What a server runs with, as its Node tells it. */
function running(more: Readonly<Record<string, string>>): LiveFlags {
  const declared = clusterFlags(grow(fields()).cluster.spec)
  const own = Object.entries(declared).map(([flag, value]) => [flag, [value].flat().map(String)] as const)
  return Object.fromEntries([...own, ...Object.entries(more).map(([flag, value]) => [flag, [value]] as const)])
}

function driftAfterOffer(more: Readonly<Record<string, string>>) {
  const live = [{ server: 's1', flags: running(more) }]
  const before = flagDrift(grow(fields()).cluster.spec, live)
  assert.equal(before.length, Object.keys(more).length)
  const offered = parse(linesFor(before).join('\n')) as Record<string, unknown>
  return flagDrift(grow(fields(offered)).cluster.spec, live)
}

describe('the lines that a take-over offers', () => {
  for (const [flag, value] of Object.entries(BY_HAND)) {
    test(`${flag} ${value}: written into the Cluster, nothing differs any more`, () => {
      assert.deepEqual(driftAfterOffer({ [flag]: value }), [])
    })
  }

  test('all of them at once', () => {
    const { 'cluster-dns': _dns, ...rest } = BY_HAND
    assert.deepEqual(driftAfterOffer(rest), [])
  })

  test('no flag that must be alike on all servers is left out here', () => {
    assert.deepEqual(Object.keys(BY_HAND).sort(), Object.keys(EQUAL_ON_SERVERS).sort())
  })
})
