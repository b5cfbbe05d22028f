import { createHash } from 'node:crypto'
import type { ClusterSpec, NodeSpec } from '../model/cluster.ts'
import { BACKUP_SECRET_FILE, BACKUP_UNIT_FILE, backupFiles, s3Hash } from './backup-flags.ts'
import { KUBE_VIP_FILE, kubeVipManifest } from './kube-vip.ts'

export const REGISTRIES_FILE = '/etc/rancher/k3s/registries.yaml'

/**
 * Each file that croft puts on a node only where the declaration asks for it. The set is declared whole: one of these
 * that is not declared goes. The program on the node has the same list, and leaves a registries.yaml of others.
 */
export const OPTIONAL_FILES = [
  REGISTRIES_FILE,
  KUBE_VIP_FILE,
  BACKUP_SECRET_FILE,
  BACKUP_UNIT_FILE,
  '/etc/systemd/system/k3s.service.d/20-croft-backup.conf',
] as const

export type OptionalFile = (typeof OPTIONAL_FILES)[number]

/**
 * Files of a node by path, each with its SHA-256. The Secret of backups holds credentials: its hash is that of its
 * declaration. `secret`: only its presence is compared.
 */
type DeclaredFiles = ReadonlyMap<string, string>

/** Returns the declared files of a node. */
export function declaredFiles(spec: ClusterSpec, node: Pick<NodeSpec, 'role'>): DeclaredFiles {
  const files = new Map<string, string>()
  if (spec.registries !== undefined) files.set(REGISTRIES_FILE, 'secret')
  if (node.role !== 'server') return files
  const announced = kubeVipManifest(spec)
  if (announced !== undefined) files.set(KUBE_VIP_FILE, sha256(announced))
  const s3 = spec.backup !== undefined && 's3' in spec.backup.to ? s3Hash(spec.backup.to.s3) : undefined
  for (const { path, text } of backupFiles(spec.backup, undefined)) files.set(path, s3 ?? sha256(text))
  return files
}

/** Paths of the set that must not be on a node. */
export function absentFiles(spec: ClusterSpec, node: Pick<NodeSpec, 'role'>): readonly OptionalFile[] {
  const declared = declaredFiles(spec, node)
  return OPTIONAL_FILES.filter((path) => !declared.has(path))
}

export interface FileDifference {
  readonly put: readonly string[]
  readonly remove: readonly string[]
}

/** Returns the differences between the node's files and the declared ones. */
export function fileDifference(
  spec: ClusterSpec,
  node: Pick<NodeSpec, 'role'>,
  there: Readonly<Record<string, string>>,
): FileDifference {
  const declared = declaredFiles(spec, node)
  const put = [...declared].filter(
    ([path, hash]) => there[path] === undefined || (hash !== 'secret' && there[path] !== hash),
  )
  return { put: put.map(([path]) => path), remove: Object.keys(there).filter((path) => !declared.has(path)) }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
