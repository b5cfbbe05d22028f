import { COPIES } from '../../k3s/node-program.ts'
import type { BackupPolicy, ClusterSpec, NodeMachine, NodeSpec } from '../../model/cluster.ts'
import { sweeping } from '../../model/destruction.ts'
import type { ClusterOperation, ClusterSnapshot, ObservedCluster } from '../../model/observed-cluster.ts'
import { local, losing, on } from './restore.ts'
import { fileAdvice } from './snapshot-first.ts'

/** A backup and whether it can be restored. */
export interface BackupVerdict {
  readonly name: string
  readonly atMs: number
  readonly bytes?: number
  readonly usable: 'yes' | 'no' | 'unknown'
  readonly reason: string
}

/** Judges the backups. One without its token is useless: report that on its first day, not when it is needed. */
export function judgeBackups(snapshots: readonly ClusterSnapshot[]): readonly BackupVerdict[] {
  return [...snapshots]
    .sort((a, b) => b.atMs - a.atMs)
    .map(({ name, atMs, bytes, tokenKept, tokenHash }) => ({
      name,
      atMs,
      ...(bytes === undefined ? {} : { bytes }),
      ...(bytes === 0 ? { usable: 'no' as const, reason: 'it is empty' } : verdictOf(tokenKept, tokenHash)),
    }))
}

/** Returns what is wrong with the backups as a whole, or undefined if the newest usable one fits the schedule. */
export function backupTrouble(
  spec: ClusterSpec,
  observed: ObservedCluster,
  longestGapMs: number,
  nowMs: number,
): string | undefined {
  if (spec.backup === undefined || observed.snapshots === 'unknown') return undefined
  const newest = judgeBackups(observed.snapshots).find(({ usable }) => usable === 'yes')
  const formedMs = observed.identity?.recordedMs ?? nowMs
  if (newest === undefined) {
    return nowMs - formedMs <= longestGapMs ? undefined : 'there is no backup that could be restored'
  }
  if (nowMs - newest.atMs <= longestGapMs) return undefined
  const hours = Math.round((nowMs - newest.atMs) / 3_600_000)
  return `the newest backup that could be restored, ${newest.name}, is ${hours} h old`
}

/** Plans an immediate backup on a server that votes. */
export function planBackup(spec: ClusterSpec, observed: ObservedCluster): ClusterOperation {
  const name = `backup of ${spec.name}`
  const inFile = observed.nodes.find(({ k3s }) => k3s !== 'unknown' && k3s.datastore === 'sqlite')
  if (inFile !== undefined) return { name, steps: [], warnings: [], refusals: [fileAdvice(spec.name, inFile.name)] }
  const members = observed.members === 'unknown' ? [] : observed.members
  const voter = spec.servers.find(({ name: server }) =>
    members.some(({ node, learner, up }) => node === server && !learner && up === 'yes'),
  )
  if (voter === undefined) {
    return {
      name,
      steps: [],
      warnings: [],
      refusals: [{ reason: 'no voting server is visible', allow: 'bring the servers back' }],
    }
  }
  const summary = `take a snapshot of etcd on ${voter.name}${targetOf(spec.backup)}`
  return {
    name,
    steps: [on(voter, 'snapshot', summary, 'a snapshot with its token kept', 'job-done')],
    refusals: [],
    warnings: [],
  }
}

/**
 * Plans a restore of the newest backup on a temporary node: the only proof that it can be restored. No pod runs there
 * and it does not reach the cluster, so that the copy cannot act in its place.
 */
export function planDrill(
  spec: ClusterSpec,
  snapshot: {
    readonly name: string
    readonly path: string
    readonly server: string
    readonly usable: BackupVerdict['usable']
  },
  host: string,
  machine: NodeMachine = { host },
): ClusterOperation {
  const name = `drill of ${snapshot.name} on ${host}`
  // The token may be unknown, since K3s forgets it after a restore. Then only a try shows whether it fits.
  if (snapshot.usable === 'no') {
    return {
      name,
      steps: [],
      warnings: [],
      refusals: [{ reason: `${snapshot.name} cannot be used: its token is not kept`, allow: 'take a new backup' }],
    }
  }
  if ([...spec.servers, ...spec.agents].some((node) => node.name === host)) {
    return {
      name,
      steps: [],
      warnings: [],
      refusals: [{ reason: `${host} is a node of ${spec.name}`, allow: 'name a machine that may be wiped' }],
    }
  }
  const node: Pick<NodeSpec, 'name' | 'machine'> = { name: host, machine }
  // A machine that is created for the drill is destroyed afterwards.
  const spare = 'host' in machine
  const copy = `${COPIES}/${snapshot.name}`
  // The first step refuses a machine with anything but an earlier drill on it.
  const drill = sweeping(`the drill on ${host}`)
  return {
    name,
    steps: [
      ...(spare
        ? [on(node, 'clear-drill', `see that ${host} holds nothing but an earlier drill`, 'no K3s there', 'stopped')]
        : []),
      {
        ...on(node, 'install-k3s', `install K3s ${spec.version} on ${host}`, 'the program in place', 'job-done'),
        target: spec.version,
      },
      {
        ...on(node, 'copy-snapshot', `copy ${snapshot.name} from ${snapshot.server} to ${host}`, 'it on its disk'),
        target: snapshot.path,
        from: snapshot.server,
        to: copy,
      },
      {
        ...on(
          node,
          'write-drill-files',
          `configure ${host} with the flags of ${spec.name}, as a control plane without a kubelet`,
          'it on its disk',
        ),
        // The file names the token of the snapshot.
        target: copy,
      },
      {
        ...losing(
          node,
          'restore-snapshot',
          drill,
          `start ${host} over from the copy`,
          'K3s saying that the membership has been reset',
          'job-done',
        ),
        target: copy,
      },
      on(node, 'start-k3s', `start K3s on ${host}`, 'its API answering'),
      on(
        node,
        'compare-objects',
        'ask the copy for the objects of the cluster, and for every Secret',
        'Nodes, namespaces and Secrets as in the backup',
      ),
      ...(spare ? [losing(node, 'wipe-k3s', drill, `wipe ${host}`, `no K3s data on ${host}`, 'job-done')] : []),
      local('release', 'say what was proved', 'the result'),
    ],
    refusals: [],
    warnings: spare ? [`${host} is wiped at the end`] : [],
  }
}

function verdictOf(
  kept: ClusterSnapshot['tokenKept'],
  hash: string | undefined,
): Pick<BackupVerdict, 'usable' | 'reason'> {
  switch (kept) {
    case 'yes':
      return { usable: 'yes', reason: 'its token is kept' }
    case 'no':
      return { usable: 'no', reason: `the token that it was taken with (${hash ?? 'unknown'}) is not kept` }
    case 'unknown':
      return { usable: 'unknown', reason: 'it is not known which token it was taken with' }
  }
}

function targetOf(policy: BackupPolicy | undefined): string {
  if (policy === undefined) return ''
  const { to } = policy
  if ('s3' in to) return ` and to s3://${to.s3.bucket}`
  return ` in ${'directory' in to ? to.directory : `${to.nfs.server}:${to.nfs.path}`}`
}
