import { TOKEN_FILE } from '../../src/k3s/config.ts'
import type { NodeAnswer, RestoreInput } from '../../src/k3s/node-program.ts'
import { releaseOf } from '../../src/k3s/releases.ts'
import { compareVersions } from '../../src/k3s/version.ts'
import { yamlLibrary } from '../../src/lib/yaml-library.ts'
import { beginJob } from '../guest/job.ts'
import { remove } from '../kubernetes/store.ts'
import { between, hexDigits } from '../world/chance.ts'
import type { Computer, Member } from '../world/types.ts'
import { sharedFiles, writeShared } from './bootstrap-files.ts'
import { bucketOf } from './buckets.ts'
import { flagText, readConfig } from './config-file.ts'
import { DATA, DB, installedVersion, moveFolder, RESET_FLAG, SNAPSHOTS, writeMember } from './disk.ts'
import { createEtcd } from './etcd.ts'
import { secretName } from './node-password.ts'
import { serviceOf } from './service.ts'
import { findSnapshot, mountBackups } from './snapshots.ts'
import { ensureUsers, givenToken, passwordOf, tokenHash } from './tokens.ts'
import type { SnapshotContent } from './types.ts'

/** K3s prints the name of the place, not the place. */
const DATA_DIR = '$' + '{datadir}'

export const RESET_DONE = `Managed etcd cluster membership has been reset, restart without --cluster-reset flag now. Backup and delete ${DATA_DIR}/server/db on each peer etcd server and rejoin the nodes`

/** How `k3s server --cluster-reset` ends, and after how long. Its exit code proves nothing: success is 0 as well. */
export interface ResetOutcome {
  readonly code: number
  readonly level: 'fatal' | 'error'
  readonly message: string
  readonly tookMs: number
  readonly done: boolean
}

/** The job: a cluster-reset from that snapshot, with config.yaml but without what would stand in its way. */
export function restore(computer: Computer, { snapshot: given, s3 }: RestoreInput): NodeAnswer {
  const { files } = computer.machine
  if (serviceOf(computer).process !== undefined) return { ok: false, error: 'K3s still runs here' }
  mountBackups(computer)
  const snapshot = s3 === undefined ? given : `${SNAPSHOTS}/${given}`
  if (s3 === undefined && files.read(snapshot) === undefined)
    return { ok: false, error: `there is no snapshot ${snapshot}` }
  const flags = new Map(readConfig(files, 'server').flags)
  flags.delete('server')
  flags.delete('cluster-init')
  for (const flag of flags.keys()) if (flag.startsWith('etcd-s3')) flags.delete(flag)
  // As the program on the node hands it over: by the environment, from the file that croft wrote.
  const token = (files.text(TOKEN_FILE) ?? '').trim()
  if (token !== '') flags.set('token', [token])
  files.remove(RESET_FLAG)
  if (s3 !== undefined) fetchFromBucket(computer, given, snapshot, Buffer.from(s3, 'base64').toString('utf8'))
  const outcome = clusterReset(computer, flags, snapshot, true)
  return beginJob(computer, 'restore', outcome.tookMs, (done) => {
    const now = clusterReset(computer, flags, snapshot, false)
    done(now.done ? undefined : now.message)
  })
}

/** As K3s does before it resets: a snapshot that is not in the bucket is then not on the disk either. */
function fetchFromBucket({ world, machine }: Computer, name: string, path: string, lines: string): void {
  const settings = Object.entries(yamlLibrary().parse(lines) as Readonly<Record<string, unknown>>)
  const bucket = bucketOf(world, new Map(settings.map(([flag, value]) => [flag, [String(value as unknown)]])))
  const bytes = bucket?.files.read(`${bucket.folder}/${name}`)
  if (bytes !== undefined) machine.files.write(path, bytes)
}

/** `look`: only how it would end; otherwise it is done. */
export function clusterReset(
  computer: Computer,
  flags: ReadonlyMap<string, readonly string[]>,
  snapshot: string,
  look: boolean,
): ResetOutcome {
  const { world, machine } = computer
  const { files } = machine
  const fatal = (tookMs: number, message: string): ResetOutcome => ({
    code: 1,
    level: 'fatal',
    message,
    tookMs,
    done: false,
  })
  if (flagText(flags, 'server') !== '')
    return fatal(
      410,
      'Error: cannot perform cluster-reset while server URL is set - remove server from configuration before resetting',
    )
  const held = (files.text(`${DATA}/server/token`) ?? '').trim()
  // A file that token-file names is not looked at here: only what is given as the token itself counts.
  if (flagText(flags, 'token') === '' && held === '')
    return fatal(400, `Error: ${DATA}/server/token does not exist, please pass --token to complete the restoration`)
  if (snapshot === '' && files.read(RESET_FLAG) !== undefined)
    return fatal(
      2_200,
      `Error: starting kubernetes: failed to start cluster: start managed database: Managed etcd cluster membership was previously reset, please remove the cluster-reset flag and start k3s normally. If you need to perform another cluster reset, you must first manually delete the file at ${RESET_FLAG}`,
    )
  const given = givenToken(flags, files, 'token') || held
  if (flagText(flags, 'etcd-s3-config-secret') !== '')
    return fatal(
      3_000,
      'Error: starting kubernetes: failed to start cluster: start managed database: cannot use S3 config secret when restoring snapshot; configuration must be set in CLI or config file',
    )
  const { path, content } = findSnapshot(computer, snapshot)
  if (content === undefined)
    return fatal(
      3_000,
      `Error: starting kubernetes: failed to start cluster: start managed database: etcd: snapshot path does not exist: ${path}`,
    )
  const version = installedVersion(files) ?? ''
  if (minor(version) < minor(content.version))
    return fatal(3_000, `Error: the snapshot was taken by ${content.version}, which is newer than ${version}`)
  if (!look && files.list(`${DB}/etcd`).length > 0)
    moveFolder(files, `${DB}/etcd`, `${DB}/etcd-old-${Math.floor(world.clock.now() / 1000)}`)
  if (tokenHash(passwordOf(given)) !== content.tokenHash)
    return fatal(6_820, 'bootstrap data already found and encrypted with different token')
  if (!look) rebuild(computer, flags, content, version)
  return {
    code: 0,
    level: 'error',
    message: `Shutdown request received: "${RESET_DONE}"`,
    tookMs: between(world.random, world.k3s.timing.restoreMs),
    done: true,
  }
}

/** Another cluster of etcd, with one member and what the snapshot holds. */
function rebuild(
  computer: Computer,
  flags: ReadonlyMap<string, readonly string[]>,
  content: SnapshotContent,
  version: string,
): void {
  const { world, machine } = computer
  const etcd = releaseOf(version)?.etcd ?? '3.6.0'
  const { bootstrap, encryption, frozen, podCidrs } = content
  const cluster = createEtcd(world, { bootstrap, encryption, config: flags, frozen, podCidrs, etcd })
  const nodeName = flagText(flags, 'node-name') || computer.hostname()
  const member: Member = {
    id: hexDigits(world.random, 16),
    name: `${nodeName}-${hexDigits(world.random, 8)}`,
    address: flagText(flags, 'node-ip').split(',')[0] || (computer.addresses()[0] ?? ''),
    learner: false,
    addedMs: world.clock.now(),
    process: undefined,
    connectedSinceMs: 0,
    etcd,
    repaired: true,
  }
  cluster.members.set(member.id, member)
  // The next start makes a new node password.
  remove(cluster.store, '/secrets', 'kube-system', secretName(nodeName))
  writeShared({ computer }, sharedFiles(bootstrap, encryption))
  ensureUsers(computer, flags, bootstrap.password)
  writeMember(machine.files, cluster.id, member.id, member.name)
  machine.files.write(RESET_FLAG, '')
}

function minor(version: string): number {
  return compareVersions(version, 'v0.0.0+k3s1') <= 0 ? 0 : Number(version.split('.')[1])
}
