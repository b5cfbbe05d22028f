import { BACKUP_MOUNT, BACKUP_UNIT_FILE } from '../../src/k3s/backup-flags.ts'
import { type NodeAnswer, type NodeFacts, OWN_SNAPSHOTS } from '../../src/k3s/node-program.ts'
import { nextRunMs } from '../../src/k3s/schedule.ts'
import { createFiles } from '../guest/files.ts'
import { beginJob } from '../guest/job.ts'
import { stamp } from '../kubernetes/object.ts'
import { all, freeze, put, remove } from '../kubernetes/store.ts'
import { between, hexDigits, uuid } from '../world/chance.ts'
import type { Computer, EtcdCluster, K3sProcess, World } from '../world/types.ts'
import { bucketOf } from './buckets.ts'
import { flagText, readConfig } from './config-file.ts'
import { keepsFile, SNAPSHOTS } from './disk.ts'
import { isWritable } from './etcd.ts'
import { after } from './process.ts'
import { tokenHash } from './tokens.ts'
import type { SnapshotContent } from './types.ts'

const MARK = 'etcd snapshot '

/** Returns the content of a snapshot. The file holds an id and the content lies elsewhere, so copies of the file work too. */
export function snapshotIn(computer: Computer, path: string): SnapshotContent | undefined {
  return contentOf(computer.world, computer.machine.files.text(path))
}

export function contentOf(world: World, text: string | undefined): SnapshotContent | undefined {
  return text?.startsWith(MARK) ? world.k3s.snapshots.get(text.slice(MARK.length).trim()) : undefined
}

/** By its path, or by the name of one that lies in the usual place. */
export function findSnapshot(computer: Computer, given: string): { path: string; content?: SnapshotContent } {
  const path = given.startsWith('/') ? given : `${SNAPSHOTS}/${given}`
  const content = snapshotIn(computer, path)
  return content === undefined ? { path } : { path, content }
}

export function snapshotsOn(computer: Computer): NodeFacts['snapshots'] {
  const folder = flagText(readConfig(computer.machine.files, 'server').flags, 'etcd-snapshot-dir') || SNAPSHOTS
  return snapshotsBelow(computer, folder)
}

/** Below a directory of a computer, or of a share that it can mount. */
export function snapshotsBelow(
  computer: Computer,
  folder: string,
  files = computer.machine.files,
): NodeFacts['snapshots'] {
  return files.list(folder).flatMap((name) => {
    const path = `${folder}/${name}`
    const content = contentOf(computer.world, files.text(path))
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
    if (process?.role !== 'server') {
      done('K3s does not run as a server here')
      return
    }
    const own = new RegExp(`^croft-\\d{10}-${process.nodeName.replaceAll('.', '\\.')}-\\d{10}$`)
    prune(process, (file) => own.test(file), OWN_SNAPSHOTS - 1)
    done(takeSnapshot(process, name))
  })
}

/** What K3s does by its own schedule, on every server, as long as it runs: one of each round is kept, so many of them. */
export function scheduleSnapshots(process: K3sProcess): void {
  const schedule = flagText(process.flags, 'etcd-snapshot-schedule-cron')
  const { world } = process.computer
  const next = schedule === '' ? undefined : nextRunMs(schedule, world.clock.now())
  if (next === undefined) return
  after(process, next - world.clock.now(), () => {
    const problem = takeSnapshot(process, 'etcd-snapshot')
    if (problem === undefined) {
      const keep = Number(flagText(process.flags, 'etcd-snapshot-retention') || 5)
      prune(process, (name) => name.startsWith(`etcd-snapshot-${process.nodeName}-`), keep)
    } else process.log('error', `Failed to take etcd snapshot: ${problem}`)
    scheduleSnapshots(process)
  })
}

/** Answers why it could not be taken. */
export function takeSnapshot(process: K3sProcess, name: string): string | undefined {
  const { cluster, computer } = process
  const { world, machine } = computer
  if (cluster === undefined) return 'K3s does not run as a server here'
  const member = cluster.members.get(process.member ?? '')
  if (member === undefined || member.learner || !isWritable(cluster))
    return member?.learner === true ? 'etcdserver: rpc not supported for learner' : 'context deadline exceeded'
  if (keepsFile(machine.files)) return 'see server log for details: etcd datastore disabled'
  if (machine.trouble.diskFull === true) return 'No space left on device'
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
  computer.machine.files.write(`${folder}/${file}`, `${MARK}${content.id}`)
  // Of the token that this process was started with: one that was rotated on another server since is not known here.
  const annotations = { 'etcd.k3s.cattle.io/snapshot-token-hash': tokenHash(process.password) }
  list(process, cluster, `file://${folder}/${file}`, content, annotations)
  const bucket = bucketOf(world, process.flags, cluster)
  if (bucket !== undefined) {
    bucket.files.write(`${bucket.folder}/${file}`, `${MARK}${content.id}`)
    list(process, cluster, `${bucket.address}/${file}`, content, annotations)
  }
  return undefined
}

function list(
  process: K3sProcess,
  cluster: EtcdCluster,
  location: string,
  { atMs, bytes }: SnapshotContent,
  annotations: Readonly<Record<string, string>>,
): void {
  const { world } = process.computer
  const file = location.slice(location.lastIndexOf('/') + 1)
  const where = location.startsWith('s3://') ? 's3' : process.nodeName
  put(cluster.store, FILES, {
    apiVersion: 'k3s.cattle.io/v1',
    kind: 'ETCDSnapshotFile',
    metadata: {
      name: `${where === 's3' ? 's3' : 'local'}-${file}-${hexDigits(world.random, 6)}`,
      uid: uuid(world.random),
      creationTimestamp: stamp(world.clock.now()),
      generation: 1,
      annotations,
      labels: { 'etcd.k3s.cattle.io/snapshot-storage-node': where },
      finalizers: ['wrangler.cattle.io/managed-etcd-snapshots-controller'],
    },
    spec: { location, nodeName: process.nodeName, snapshotName: file },
    status: { creationTime: stamp(Math.ceil(atMs / 1000) * 1000), readyToUse: true, size: `${bytes}` },
  })
}

/**
 * Lists snapshots on a server's disk that have no object, as after a restore, when it starts. The file does not name
 * the token it was taken with, so its object does not either. Removes objects whose file is gone.
 */
export function listOwnSnapshots(process: K3sProcess, cluster: EtcdCluster): void {
  const found = snapshotsOn(process.computer)
  const listed = new Set<string>()
  for (const object of all(cluster.store, FILES)) {
    const { location = '', nodeName } = (object as { spec?: { location?: string; nodeName?: string } }).spec ?? {}
    if (nodeName !== process.nodeName || !location.startsWith('file://')) continue
    if (found.some(({ path }) => location === `file://${path}`)) listed.add(location)
    else remove(cluster.store, FILES, undefined, object.metadata.name)
  }
  for (const { path } of found) {
    const content = snapshotIn(process.computer, path)
    if (content !== undefined && !listed.has(`file://${path}`)) list(process, cluster, `file://${path}`, content, {})
  }
}

/** The oldest go, with their objects, as far as they are this server's own. */
function prune(process: K3sProcess, isOne: (name: string) => boolean, keep: number): void {
  const { cluster, computer, flags } = process
  const folder = flagText(flags, 'etcd-snapshot-dir') || SNAPSHOTS
  const files = computer.machine.files
  const mine = files.list(folder).filter(isOne)
  const gone = new Set(mine.sort().slice(0, Math.max(0, mine.length - keep)))
  for (const name of gone) files.remove(`${folder}/${name}`)
  if (cluster === undefined || gone.size === 0) return
  for (const object of all(cluster.store, FILES)) {
    const { snapshotName } = (object as { readonly spec?: { readonly snapshotName?: string } }).spec ?? {}
    if (gone.has(snapshotName ?? '')) remove(cluster.store, FILES, undefined, object.metadata.name)
  }
}

const FILES = 'k3s.cattle.io/etcdsnapshotfiles'

/** What systemd does with the unit of a share: the same folder for everybody who has it. */
export function mountBackups({ machine, world }: Computer): void {
  const share = /^What=(.+)$/m.exec(machine.files.text(BACKUP_UNIT_FILE) ?? '')?.[1]
  if (share === undefined) return
  const files = world.k3s.shares.get(share) ?? createFiles()
  world.k3s.shares.set(share, files)
  machine.files.mount(BACKUP_MOUNT, files)
}
