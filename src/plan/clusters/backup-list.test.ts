import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ClusterSnapshot } from '../../model/observed-cluster.ts'
import { chosenBackup, listBackups, releaseWhenTaken } from './backup-list.ts'
import { clusterSpec, observedCluster } from './testing/fixture.ts'

const KEPT = 'a'.repeat(12)
const NFS = { schedule: '0 3 * * *', keep: 5, to: { nfs: { server: 'nas', path: '/etcd' } } } as const
const spec = clusterSpec('s1 s2 s3', { backup: NFS })
const NAME = 'etcd-snapshot-s1-1000'

const at = (location: string, more: Partial<ClusterSnapshot> = {}): ClusterSnapshot => ({
  name: NAME,
  atMs: 1_000_000,
  tokenKept: 'unknown',
  location,
  ...more,
})
const onDisk = at(`file:///var/lib/rancher/k3s/server/db/snapshots/${NAME}`, { node: 's1' })
const onShare = (node: string) => at(`file:///croft/backup/${NAME}`, { node })
const inBucket = at(`s3://b/home/${NAME}`)

const observed = (snapshots: readonly ClusterSnapshot[] | 'unknown') => ({ ...observedCluster('s1 s2 s3'), snapshots })
const list = (stored: readonly ClusterSnapshot[], remembered: readonly ClusterSnapshot[] = []) =>
  listBackups(spec, { observed: observed('unknown'), remembered, stored, kept: [KEPT] })

describe('the list of backups', () => {
  test('has each snapshot once for each place; a share is one place, whoever looked', () => {
    const rows = list([onDisk, onShare('s1'), onShare('s2'), inBucket])
    assert.deepEqual(
      rows.map(({ where, server }) => [where, server]),
      [
        ['nas:/etcd', undefined],
        ['s1', 's1'],
        ['s3://b/home', undefined],
      ],
    )
  })

  test('what is only remembered is no row, and tells token and release of what is there', () => {
    const before = { ...inBucket, tokenHash: KEPT, release: 'v1.36.3+k3s1' }
    assert.deepEqual(list([], [before]), [])
    const [row] = list([onDisk], [before])
    assert.deepEqual([row?.usable, row?.release, row?.tokenHash], ['yes', 'v1.36.3+k3s1', KEPT])
    const [other] = list([{ ...onDisk, tokenHash: 'b'.repeat(12) }], [])
    assert.equal(other?.usable, 'no')
  })

  test('the release is told only where the K3s that took it still runs', () => {
    const { nodes } = observedCluster('s1 s2 s3')
    const running = (sinceMs: number) => ({
      nodes: nodes.map((node) =>
        typeof node.k3s === 'object' ? { ...node, k3s: { ...node.k3s, service: 'running' as const, sinceMs } } : node,
      ),
    })
    const kube = nodes.find(({ name }) => name === 's1')?.kube
    const version = typeof kube === 'object' ? kube.version : ''
    assert.ok(version !== '')
    assert.equal(releaseWhenTaken(onDisk, running(999_000)), version)
    assert.equal(releaseWhenTaken(onDisk, running(1_000_001)), undefined, 'restarted since, maybe as another release')
    assert.equal(releaseWhenTaken(onShare('s2'), running(999_000)), undefined, 's2 only sees the file of s1')
  })

  test('a drill is told of the one that it tried', () => {
    const drill = { atMs: 5, snapshot: NAME, proved: false }
    const rows = listBackups(spec, { observed: observed([onDisk]), remembered: [], stored: [], kept: [], drill })
    assert.deepEqual(rows[0]?.drill, { atMs: 5, proved: false })
  })

  test('a name means the disk before the share and S3 last; a place or a server that is named decides', () => {
    const rows = list([inBucket, onShare('s2'), onDisk])
    const choose = (wanted: string, asked?: string, reached = (_: string) => true) => {
      const found = chosenBackup(spec, rows, wanted, asked, reached)
      return found === undefined ? undefined : [found.path.split('/').slice(0, 3).join('/'), found.server]
    }
    assert.deepEqual(choose(`s3://b/home/${NAME}`), ['s3://b', 's1'])
    assert.deepEqual(choose(`s3://b/home/${NAME}`, 's3'), ['s3://b', 's3'])
    assert.deepEqual(
      choose(`nas:/etcd/${NAME}`, undefined, (name) => name === 's2'),
      ['/croft/backup', 's2'],
    )
    assert.deepEqual(choose(`s1/${NAME}`), ['/var/lib', 's1'])
    assert.equal(choose(`s1/${NAME}`, 's2'), undefined, 'its file is on another server')
    assert.equal(choose('etcd-snapshot-other'), undefined)
    assert.equal(
      choose(`s3://b/home/${NAME}`, undefined, () => false),
      undefined,
      'no server to start over',
    )
  })
})
