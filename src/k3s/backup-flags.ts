import { createHash } from 'node:crypto'
import { defined } from '../lib/defined.ts'
import type { BackupPolicy, Flags } from '../model/cluster.ts'

/** Mount point of a network share on all servers. The unit's name follows from the path. */
export const BACKUP_MOUNT = '/croft/backup'
export const BACKUP_UNIT = 'croft-backup.mount'
export const BACKUP_UNIT_FILE = `/etc/systemd/system/${BACKUP_UNIT}`

export const BACKUP_SECRET_FILE = '/var/lib/rancher/k3s/server/manifests/croft-backup.json'

/** Secret in the cluster with all settings of S3: K3s reads it only if no other S3 setting is given. */
export const S3_SECRET = 'croft-etcd-backup'

/** The schedule, in the words of K3s: it takes and prunes snapshots itself, also while croft is not there. */
export function backupFlags(policy: BackupPolicy | undefined): Flags {
  if (policy === undefined) return {}
  const { to } = policy
  return {
    'etcd-snapshot-schedule-cron': policy.schedule,
    'etcd-snapshot-retention': policy.keep,
    ...('directory' in to ? { 'etcd-snapshot-dir': to.directory } : {}),
    ...('nfs' in to ? { 'etcd-snapshot-dir': BACKUP_MOUNT } : {}),
    ...('s3' in to ? { 'etcd-s3': true, 'etcd-s3-config-secret': S3_SECRET, 'etcd-s3-retention': policy.keep } : {}),
  }
}

/** Hash of the Secret's declaration. The node reports it instead of the content, which holds credentials. */
const DECLARED = 'croft.dev/declared'

export type S3Target = Extract<BackupPolicy['to'], { readonly s3: unknown }>['s3']

/** Returns the hash of the declaration, with the reference to the credentials but not their values. */
export function s3Hash({ endpoint, bucket, folder, region, credentials }: S3Target): string {
  return createHash('sha256')
    .update(JSON.stringify([endpoint, bucket, folder, region, credentials]))
    .digest('hex')
}

/** The hash in such a manifest. */
export function hashInSecret(manifest: string): string | undefined {
  return /"croft\.dev\/declared":"([0-9a-f]{64})"/.exec(manifest)?.[1]
}

export interface BackupFile {
  readonly path: string
  readonly mode: number
  readonly text: string
}

/**
 * Files that a server needs in addition to its flags: the mount of a share, or the Secret for S3 as a manifest that K3s
 * applies. `credentials` is `access key:secret key`. K3s starts without an absent share.
 */
export function backupFiles(policy: BackupPolicy | undefined, credentials: string | undefined): readonly BackupFile[] {
  if (policy === undefined) return []
  const { to } = policy
  if ('nfs' in to) {
    const unit = `[Unit]\nDescription=Where backups of etcd are kept\n\n[Mount]\nWhat=${to.nfs.server}:${to.nfs.path}\nWhere=${BACKUP_MOUNT}\nType=nfs\nOptions=_netdev,soft,timeo=100\n`
    const wanted = `[Unit]\nWants=${BACKUP_UNIT}\nAfter=${BACKUP_UNIT}\n`
    return [
      { path: BACKUP_UNIT_FILE, mode: 0o644, text: unit },
      { path: '/etc/systemd/system/k3s.service.d/20-croft-backup.conf', mode: 0o644, text: wanted },
    ]
  }
  if (!('s3' in to)) return []
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'etcd.k3s.cattle.io/s3-config-secret',
    metadata: { name: S3_SECRET, namespace: 'kube-system', annotations: { [DECLARED]: s3Hash(to.s3) } },
    stringData: s3Settings(to.s3, credentials),
  }
  return [
    {
      path: BACKUP_SECRET_FILE,
      mode: 0o600,
      text: `${JSON.stringify(secret)}\n`,
    },
  ]
}

function s3Settings(
  { endpoint, bucket, folder, region }: S3Target,
  credentials: string | undefined,
): Readonly<Record<string, string>> {
  const at = credentials?.indexOf(':') ?? -1
  return {
    'etcd-s3-endpoint': endpoint.replace(/^https?:\/\//, ''),
    ...(endpoint.startsWith('http://') ? { 'etcd-s3-insecure': 'true' } : {}),
    'etcd-s3-bucket': bucket,
    ...defined({ 'etcd-s3-folder': folder, 'etcd-s3-region': region }),
    ...(credentials === undefined || at < 0
      ? {}
      : { 'etcd-s3-access-key': credentials.slice(0, at), 'etcd-s3-secret-key': credentials.slice(at + 1) }),
  }
}

/**
 * The same as lines of config.yaml, for a restore: it happens before there is a cluster that could hold the Secret. JSON
 * strings are YAML.
 */
export function s3Lines(target: S3Target, credentials: string | undefined): string {
  const { 'etcd-s3-insecure': insecure, ...texts } = s3Settings(target, credentials)
  const lines = Object.entries(texts).map(([flag, text]) => `"${flag}": ${JSON.stringify(text)}\n`)
  return ['"etcd-s3": true\n', ...(insecure === undefined ? [] : ['"etcd-s3-insecure": true\n']), ...lines].join('')
}

/** Where K3s puts a snapshot in a bucket, as it tells it itself: `s3://bucket/folder/name`. */
export function s3Location({ bucket, folder }: S3Target, name: string): string {
  return `s3://${[bucket, ...(folder === undefined ? [] : [folder.replace(/\/+$/, '')]), name].join('/')}`
}
