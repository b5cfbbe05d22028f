import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readEvidence } from '../../test/evidence/read.ts'
import { RELEASE_TABLE } from './release-table.ts'
import { etcdMayFollow, isGate, RELEASES, releaseOf } from './releases.ts'
import { compareEtcd, compareVersions, parseVersion } from './version.ts'

describe('the table of releases', () => {
  test('equals the facts it was made from', () => {
    const facts = readEvidence<{ version: string; date: string; etcd: string }[]>('k3s/releases.json')
    assert.deepEqual(
      RELEASE_TABLE,
      facts.map(({ version, date, etcd }) => [version, date, etcd]),
    )
  })

  test('names exact releases only, each once', () => {
    assert.equal(new Set(RELEASES.map(({ version }) => version)).size, RELEASES.length)
    for (const { version, date, etcd } of RELEASES) {
      assert.ok(parseVersion(version), version)
      assert.match(date, /^20\d\d-\d\d-\d\d$/)
      assert.match(etcd, /^3\.[56]\.\d+$/)
    }
  })

  test('knows the gate: etcd 3.5.26 and nothing of 3.6', () => {
    assert.deepEqual(
      RELEASES.filter(isGate).map(({ version }) => version),
      [
        'v1.32.11+k3s3',
        'v1.32.12+k3s1',
        'v1.32.13+k3s1',
        'v1.33.7+k3s3',
        'v1.33.8+k3s1',
        'v1.33.9+k3s1',
        'v1.33.10+k3s1',
      ],
    )
  })

  test('etcd, not the minor, decides who may follow whom', () => {
    const may = (from: string, to: string) => {
      const [a, b] = [releaseOf(from), releaseOf(to)]
      assert.ok(a && b)
      return etcdMayFollow(a, b)
    }
    assert.equal(may('v1.33.6+k3s1', 'v1.33.11+k3s1'), false)
    assert.equal(may('v1.33.6+k3s1', 'v1.33.10+k3s1'), true)
    assert.equal(may('v1.33.10+k3s1', 'v1.33.11+k3s1'), true)
    assert.equal(may('v1.33.7+k3s1', 'v1.34.3+k3s1'), false)
    assert.equal(may('v1.34.3+k3s1', 'v1.35.0+k3s1'), true)
  })
})

describe('versions', () => {
  test('[S-14] only exact releases are read', () => {
    assert.deepEqual(parseVersion('v1.33.7+k3s3'), { major: 1, minor: 33, patch: 7, build: 3 })
    const bad = [
      'stable',
      'latest',
      'v1.33',
      'v1.33.7',
      '1.33.7+k3s3',
      'v1.33.07+k3s1',
      'v1.33.7+k3s0',
      'v1.33.7+rke2r1',
    ]
    for (const text of [...bad, 'v1.33.7-rc1+k3s1', ' v1.33.7+k3s1', 'v1.33.7+k3s1\n', '', 'v99999.1.1+k3s1']) {
      assert.equal(parseVersion(text), undefined, JSON.stringify(text))
    }
  })
  test('are compared number by number', () => {
    const sorted = ['x', 'v1.9.0+k3s1', 'v1.33.7+k3s1', 'v1.33.7+k3s3', 'v1.33.10+k3s1', 'v1.34.1+k3s1']
    assert.deepEqual([...sorted].reverse().sort(compareVersions), sorted)
    assert.ok(compareEtcd('3.5.9', '3.5.26') < 0)
    assert.ok(compareEtcd('3.6.4', '3.5.26') > 0)
    assert.equal(compareEtcd('3.6.4', '3.6.4'), 0)
  })
})
