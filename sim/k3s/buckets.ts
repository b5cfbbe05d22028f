import { S3_SECRET } from '../../src/k3s/backup-flags.ts'
import { createFiles, type Files } from '../guest/files.ts'
import { find } from '../kubernetes/store.ts'
import type { EtcdCluster, World } from '../world/types.ts'
import { flagText } from './config-file.ts'

/** A bucket, and the folder in it that a configuration names. */
export interface Bucket {
  readonly files: Files
  readonly folder: string
  /** `s3://bucket/folder`. */
  readonly address: string
}

/** What K3s's settings of S3 lead to; they stand in its configuration, or in a Secret that this names. */
export function bucketOf(
  world: World,
  flags: ReadonlyMap<string, readonly string[]>,
  cluster?: EtcdCluster,
): Bucket | undefined {
  if (flagText(flags, 'etcd-s3') !== 'true') return undefined
  const secret =
    cluster === undefined || flagText(flags, 'etcd-s3-config-secret') === ''
      ? undefined
      : (find(cluster.store, '/secrets', 'kube-system', S3_SECRET) as
          | Partial<Record<'data' | 'stringData', Readonly<Record<string, string>>>>
          | undefined)
  // An object of a manifest is stored as the manifest has it.
  const inSecret = (name: string) =>
    secret?.stringData?.[name] ?? Buffer.from(secret?.data?.[name] ?? '', 'base64').toString('utf8')
  const said = (name: string) => flagText(flags, name) || inSecret(name)
  const [endpoint, bucket, below] = [said('etcd-s3-endpoint'), said('etcd-s3-bucket'), said('etcd-s3-folder')]
  if (bucket === '') return undefined
  const name = `s3 ${endpoint}/${bucket}`
  const files = world.k3s.shares.get(name) ?? createFiles()
  world.k3s.shares.set(name, files)
  return { files, folder: below === '' ? '' : `/${below}`, address: `s3://${bucket}${below === '' ? '' : `/${below}`}` }
}
