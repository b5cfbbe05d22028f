import type { NodeAnswer, NodeFacts } from '../../k3s/node-program.ts'
import type { Computer } from '../guest/computer.ts'
import { beginJob } from '../guest/job.ts'
import { stamp } from '../kubernetes/object.ts'
import { freeze, put } from '../kubernetes/store.ts'
import { between, hexDigits, uuid } from '../world/chance.ts'
import { flagText, readConfig } from './config-file.ts'
import { SNAPSHOTS } from './disk.ts'
import { isWritable } from './etcd.ts'
import type { SnapshotContent } from './types.ts'

const MARK = 'etcd snapshot '

/** The file holds an id; what it stands for is kept aside. Copies of the file are therefore as good as the file. */
export function snapshotIn(computer: Computer, path: string): SnapshotContent | undefined {
  const text = computer.machine.files.text(path)
  return text?.startsWith(MARK) ? computer.world.k3s.snapshots.get(text.slice(MARK.length).trim()) : undefined
}

/** By its path, or by the name of one that lies in the usual place. */
export function findSnapshot(computer: Computer, given: string): { path: string; content?: SnapshotContent } {
  const path = given.startsWith('/') ? given : `${SNAPSHOTS}/${given}`
  const content = snapshotIn(computer, path)
  return content === undefined ? { path } : { path, content }
}

export function snapshotsOn(computer: Computer): NodeFacts['snapshots'] {
  const { files } = computer.machine
  const folder = flagText(readConfig(files, 'server').flags, 'etcd-snapshot-dir') || SNAPSHOTS
  return files.list(folder).flatMap((name) => {
    const path = `${folder}/${name}`
    const content = snapshotIn(computer, path)
    // With the token's hash only the cluster itself can tell: nothing about it stands in the file's name.
    return content === undefined
      ? []
      : [{ name, path, atMs: content.atMs - (content.atMs % 1000), bytes: content.bytes }]
  })
}

/** `k3s etcd-snapshot save`: of what is committed now, with the name of the node and the time behind the given name. */
export function saveSnapshot(computer: Computer, name: string): NodeAnswer {
  const { world, machine } = computer
  return beginJob(computer, 'snapshot', between(world.random, world.k3s.timing.snapshotMs), (done) => {
    const process = machine.k3s?.process
    const cluster = process?.cluster
    if (process === undefined || cluster === undefined || process.role !== 'server') {
      done('K3s does not run as a server here')
      return
    }
    const member = cluster.members.get(process.member ?? '')
    if (member === undefined || member.learner || !isWritable(cluster)) {
      done(member?.learner === true ? 'etcdserver: rpc not supported for learner' : 'context deadline exceeded')
      return
    }
    if (machine.trouble.diskFull === true) {
      done('No space left on device')
      return
    }
    const nowMs = Math.floor(world.clock.now())
    const content: SnapshotContent = {
      id: hexDigits(world.random, 16),
      frozen: freeze(cluster.store),
      bootstrap: cluster.bootstrap,
      atMs: nowMs,
      bytes: 2_300_000 + 400 * cluster.store.revision,
      tokenHash: cluster.bootstrap.tokenHash,
      version: process.version,
      encryption: cluster.encryption,
      podCidrs: cluster.podCidrs,
    }
    world.k3s.snapshots.set(content.id, content)
    const file = `${name}-${process.nodeName}-${Math.ceil(nowMs / 1000)}`
    const folder = flagText(process.flags, 'etcd-snapshot-dir') || SNAPSHOTS
    machine.files.write(`${folder}/${file}`, `${MARK}${content.id}`)
    put(cluster.store, 'k3s.cattle.io/etcdsnapshotfiles', {
      apiVersion: 'k3s.cattle.io/v1',
      kind: 'ETCDSnapshotFile',
      metadata: {
        name: `local-${file}-${hexDigits(world.random, 6)}`,
        uid: uuid(world.random),
        creationTimestamp: stamp(nowMs),
        generation: 1,
        annotations: { 'etcd.k3s.cattle.io/snapshot-token-hash': content.tokenHash },
        labels: { 'etcd.k3s.cattle.io/snapshot-storage-node': process.nodeName },
        finalizers: ['wrangler.cattle.io/managed-etcd-snapshots-controller'],
      },
      spec: { location: `file://${folder}/${file}`, nodeName: process.nodeName, snapshotName: file },
      status: { creationTime: stamp(Math.ceil(nowMs / 1000) * 1000), readyToUse: true, size: `${content.bytes}` },
    })
    done()
  })
}
