import { BACKUP_MOUNT } from '../../k3s/backup-flags.ts'
import { COPIES } from '../../k3s/node-program.ts'
import { defined } from '../../lib/defined.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import type { ClusterSnapshot, ObservedCluster } from '../../model/observed-cluster.ts'
import { type BackupVerdict, judgeBackups } from './backup.ts'
import type { DrillResult } from './drill.ts'
import type { KeptPasswords } from './restore.ts'

/** One snapshot at one place. */
export interface ListedBackup extends BackupVerdict {
  /** `s1`, `s1:/srv/etcd`, `nas:/backup`, `s3://bucket/folder`. */
  readonly where: string
  /** What a restore reads: a path on a server, or `s3://bucket/folder/name`. */
  readonly path: string
  /** The server whose disk it is on. Absent: every server gets at it. */
  readonly server?: string
  readonly tokenHash?: string
  readonly release?: string
  /** The last drill of the cluster was of this one. */
  readonly drill?: { readonly atMs: number; readonly proved: boolean }
}

export interface BackupSources {
  readonly observed: Pick<ObservedCluster, 'snapshots' | 'nodes'>
  /** As they were last seen, with what was known of each then. */
  readonly remembered: readonly ClusterSnapshot[]
  /** What the places themselves hold now. */
  readonly stored: readonly ClusterSnapshot[]
  readonly kept: KeptPasswords
  readonly drill?: Pick<DrillResult, 'atMs' | 'snapshot' | 'proved'> | undefined
}

/**
 * Every snapshot that could be restored, newest first, once for each place. What is only remembered is no row: it may have
 * been pruned since, and a restore would find that out after the servers have stopped. It tells the token and the release.
 */
export function listBackups(spec: ClusterSpec, sources: BackupSources): readonly ListedBackup[] {
  const { observed, remembered, stored, kept, drill } = sources
  const seen = [...(observed.snapshots === 'unknown' ? [] : observed.snapshots), ...stored]
  const rows = new Map<string, ListedBackup>()
  for (const one of seen) {
    const place = placeOf(spec, one)
    if (place === undefined) continue
    const named = [...seen, ...remembered].filter(({ name }) => name === one.name)
    const release = named
      .map((other) => releaseWhenTaken(other, observed) ?? other.release)
      .find((it) => it !== undefined)
    const tokenHash = named.find((other) => other.tokenHash !== undefined)?.tokenHash
    const tokenKept = tokenHash === undefined ? 'unknown' : kept.includes(tokenHash) ? 'yes' : 'no'
    for (const verdict of judgeBackups([{ ...one, tokenKept, ...defined({ tokenHash }) }]))
      rows.set(`${place.where} ${one.name}`, {
        ...rows.get(`${place.where} ${one.name}`),
        ...verdict,
        ...place,
        ...defined({ tokenHash, release }),
        ...(drill?.snapshot === one.name ? { drill: { atMs: drill.atMs, proved: drill.proved } } : {}),
      })
  }
  return [...rows.values()].sort((a, b) => b.atMs - a.atMs || (a.where < b.where ? -1 : 1))
}

function placeOf(
  { backup }: ClusterSpec,
  { location, node }: ClusterSnapshot,
): Pick<ListedBackup, 'where' | 'path' | 'server'> | undefined {
  if (location === undefined) return undefined
  const folder = location.slice(0, location.lastIndexOf('/'))
  if (location.startsWith('s3://')) return { where: folder, path: location }
  if (!location.startsWith(FILE) || node === undefined) return undefined
  const path = location.slice(FILE.length)
  if (folder === FILE + BACKUP_MOUNT && backup !== undefined && 'nfs' in backup.to)
    return { where: `${backup.to.nfs.server}:${backup.to.nfs.path}`, path }
  return { where: folder === FILE + COPIES ? node : `${node}:${folder.slice(FILE.length)}`, path, server: node }
}

const FILE = 'file://'

/**
 * The release that took a snapshot, where the server that took it runs one and the same K3s since before. A snapshot's name
 * says which server that is; a share has those of all servers.
 */
export function releaseWhenTaken(
  { name, node, atMs }: ClusterSnapshot,
  { nodes }: Pick<ObservedCluster, 'nodes'>,
): string | undefined {
  const taker = nodes.find((one) => one.name === node && name.includes(`-${one.name}-`))
  if (taker === undefined || taker.k3s === 'unknown' || typeof taker.kube !== 'object') return undefined
  const { service, sinceMs } = taker.k3s
  return service === 'running' && sinceMs > 0 && sinceMs <= atMs ? taker.kube.version : undefined
}

/**
 * The one that a person means by its name, its path or its place: on the server that is to start over, else on the disk of
 * one that can be reached, else where every server gets at it. Pure.
 */
export function chosenBackup(
  spec: ClusterSpec,
  rows: readonly ListedBackup[],
  wanted: string,
  asked: string | undefined,
  reached: (server: string) => boolean,
): (ListedBackup & { readonly server: string }) | undefined {
  const everywhere = asked ?? spec.servers.find(({ name }) => reached(name))?.name
  return rows
    .filter(({ name, path, where }) => [name, path, `${where}/${name}`].includes(wanted))
    .flatMap((row) => {
      const server = row.server ?? everywhere
      return server === undefined || (asked !== undefined && server !== asked) ? [] : [{ ...row, server }]
    })
    .sort((a, b) => Number(a.path.startsWith('s3://')) - Number(b.path.startsWith('s3://')))[0]
}
