// The wipe of a node with real mounts and real processes, in namespaces of their own.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { type NodeRoot, nodeRoot } from './testing/node-root.ts'

const skip =
  process.getuid?.() === 0 && spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status === 0
    ? false
    : 'it needs root and namespaces'

let root: NodeRoot
beforeEach(() => {
  root = nodeRoot()
  for (const name of ['umount', 'systemctl']) rmSync(path.join(root.directory, 'test-bin', name))
  root.write('/test-bin/systemctl', '#!/bin/sh\nexit 0\n', 0o755)
  rmSync(path.join(root.directory, 'proc'), { recursive: true })
  root.write('/disk/server/db/etcd/member/wal/0.wal', 'OLD')
  root.write('/disk/server/db/snapshots/before', 'snapshot')
  root.write('/disk/server/tls/server-ca.crt', 'CA')
  root.write('/disk/storage/pvc-1/photo', 'photo')
  root.write('/disk/agent/images/a.tar', 'image')
})
afterEach(() => root.remove())

const DATA = 'var/lib/rancher/k3s'

/** Runs shell lines in the root with private processes and mounts, and returns their output. */
function alone(script: string): string {
  const body = `set -e; cd "$R"; mkdir -p proc ${DATA}; mount -t proc proc proc; node() { CROFT_ROOT=$R sh usr/local/lib/croft/node "$@"; }
job() { node facts | grep -o '"state":"[^}]*'; }
${script}`
  const { stdout, stderr, status } = spawnSync(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private', 'sh', '-c', body],
    { env: { R: root.directory, PATH: process.env.PATH }, encoding: 'utf8' },
  )
  assert.equal(status, 0, stderr)
  return stdout
}

describe('wipe', { skip }, () => {
  test('a data directory on a disk of its own stays mounted and is emptied; neighbours with a similar name stay', () => {
    root.write('/other/keep', 'x')
    const said = alone(`mkdir -p ${DATA}-offsite
mount --bind disk ${DATA}; mount --bind other ${DATA}-offsite
node wipe; job
grep -c "$R/${DATA}" proc/self/mounts
cat ${DATA}-offsite/keep`)
    assert.match(said, /"state":"done"[\s\S]*\n2\nx$/)
    assert.ok(!root.has('/disk/server/db/etcd') && !root.has('/disk/server/tls'))
    for (const file of ['server/db/snapshots/before', 'storage/pvc-1/photo', 'agent/images/a.tar'])
      assert.ok(root.has(`/disk/${file}`), file)
  })

  test('disks for etcd, for volumes and for containers below it are each treated as what they are', () => {
    root.write('/etcd/member/wal/0.wal', 'OLD')
    root.write('/volumes/pvc-2/rows', 'rows')
    root.write('/containers/io.containerd/layer', 'x')
    const said = alone(`cp -r disk/server ${DATA}/; mkdir -p ${DATA}/storage ${DATA}/agent/containerd
mount --bind etcd ${DATA}/server/db/etcd; mount --bind volumes ${DATA}/storage; mount --bind containers ${DATA}/agent/containerd
mkdir -p containers/snap; mount -t tmpfs none ${DATA}/agent/containerd/snap
node wipe; job; node facts | grep -o '"data":"[a-z]*"'
grep "$R/${DATA}" proc/self/mounts | cut -d' ' -f2 | sed "s,$R/${DATA},," | sort`)
    assert.match(said, /"state":"done"/)
    assert.match(said, /"data":"none"\n\/agent\/containerd\n\/server\/db\/etcd\n\/storage\n$/)
    assert.ok(!root.has('/etcd/member') && !root.has('/containers/io.containerd') && root.has('/volumes/pvc-2/rows'))
  })

  test('a data directory that is a link, with kubelet on a disk of its own', () => {
    root.write('/pods/pods/x/plain', 'x')
    const said =
      alone(`rmdir ${DATA}; ln -s "$R/disk" ${DATA}; mkdir -p var/lib/kubelet; mount --bind pods var/lib/kubelet
mkdir -p pods/pods/x/volume; mount -t tmpfs none var/lib/kubelet/pods/x/volume
node wipe; job; grep "$R/var/lib/kubelet" proc/self/mounts | wc -l`)
    assert.match(said, /"state":"done"[\s\S]*\n1\n$/)
    assert.ok(!root.has('/disk/server/db/etcd') && root.has('/disk/storage/pvc-1/photo') && !root.has('/pods/pods'))
  })

  test('a disk that stands in fstab and is not mounted keeps the wipe from beginning', () => {
    for (const [at, stops] of [
      ['/var/lib/rancher/k3s', true],
      ['/var/lib/rancher', true],
      ['/var/lib/rancher/k3s/server/db', true],
      ['/srv/photos', false],
      ['/var/lib/rancher/k3s-offsite', false],
    ] as const) {
      root.write('/etc/fstab', `# x\nUUID=1 ${at} ext4 defaults,nofail 0 2\n`)
      const said = alone(`mkdir -p ${DATA}/server/tls; echo x >${DATA}/server/tls/server-ca.crt; node wipe; job`)
      assert.equal(/stands in \/etc\/fstab and is not mounted, so nothing was deleted/.test(said), stops, at)
      assert.equal(root.has(`/${DATA}/server/tls/server-ca.crt`), stops, at)
    }
  })

  test('containers die with their shims, in whatever session they run, and so does what a pod left in its control group', () => {
    root.write('/shim', `#!/bin/sh\nsetsid sh -c 'sleep 987 & echo $! >grandchild; wait' & wait\n`, 0o755)
    const said = alone(`mkdir -p sys/fs/cgroup/kubepods.slice/pod1
setsid bash -c "exec -a '$R/${DATA}/data/abc/bin/containerd-shim-runc-v2' sh shim" &
setsid sleep 988 & echo $! >sys/fs/cgroup/kubepods.slice/pod1/cgroup.procs
sleep 989 & other=$!
until [ -s grandchild ]; do sleep 0.05; done
node wipe; job
for pid in $(cat grandchild) $(cat sys/fs/cgroup/kubepods.slice/pod1/cgroup.procs) $other; do
  case $(sed 's/^.*) //' proc/$pid/stat 2>/dev/null) in '' | Z*) echo gone ;; *) echo alive ;; esac
done`)
    assert.match(said, /"state":"done"[\s\S]*\ngone\ngone\nalive\n$/)
  })

  test('nothing is deleted while K3s runs under any name, or while a program has the datastore open', () => {
    const keep = `mount --bind disk ${DATA}`
    const k3s = alone(`${keep}; bash -c 'exec -a "/usr/local/bin/k3s server" sleep 99' & sleep 0.3; node wipe; job`)
    assert.match(k3s, /K3s still runs \(process \d+ server .*\), so nothing was deleted/)
    const open = alone(
      `${keep}; tail -f ${DATA}/server/db/etcd/member/wal/0.wal >/dev/null & sleep 0.3; node wipe; job`,
    )
    assert.match(open, /still uses .*server\/db, so nothing was deleted/)
    assert.ok(root.has('/disk/server/db/etcd/member/wal/0.wal'))
    const snapshot = alone(`${keep}; tail -f ${DATA}/server/db/snapshots/before >/dev/null & sleep 0.3; node wipe; job`)
    assert.match(snapshot, /"state":"done"/)
  })

  test('forget-db empties a disk that etcd has for itself', () => {
    alone(`cp -r disk/server ${DATA}/; mount --bind disk/server/db/etcd ${DATA}/server/db/etcd; node forget-db`)
    assert.ok(!root.has('/disk/server/db/etcd/member') && !root.has(`/${DATA}/server/tls`))
    assert.ok(root.has(`/${DATA}/server/db/snapshots/before`))
  })
})
