import { type TierRule, WORKLOAD_TIERS, type WorkloadTier } from '../../model/power.ts'
import { MARKS } from './marks.ts'

/** What a workload is judged by. */
export interface Described {
  readonly namespace: string
  readonly name: string
  readonly kind: string
  readonly labels: ReadonlyMap<string, string>
  /** Does it use volumes that hang on a node? */
  readonly claims: boolean
}

const TIERS: readonly string[] = [...WORKLOAD_TIERS, 'storage', 'system']

/** Namespaces of storage systems that run in the cluster they serve. */
const STORAGE = /^(?:rook-ceph|longhorn-system|openebs|linstor|piraeus-datastore|garage)$/
const GITOPS = /^(?:argocd|argo-cd|flux-system)$/
/** What a storage system attaches volumes with; the rest of it is the storage itself. */
const CLIENT = /(?:^|-)(?:csi|provisioner|attacher|resizer|snapshotter)(?:-|$)/
const OPERATOR = /(?:^|-)(?:operator|controller-manager)$/
const DATABASE = new Set(['database', 'db', 'postgresql', 'mysql', 'mariadb', 'mongodb', 'redis', 'valkey'])

/**
 * In which tier a workload goes: what a person wrote on it, the rules of the Power, then what is known of common
 * software. What nobody can tell is an application.
 */
export function tierOf(workload: Described, rules: readonly TierRule[]): WorkloadTier {
  const { namespace, name, kind, labels, claims } = workload
  const written = labels.get(MARKS.tier)
  if (written !== undefined && TIERS.includes(written)) return written as WorkloadTier
  const rule = rules.find((one) => fits(one, workload))
  if (rule !== undefined) return rule.tier
  if (kind === 'Database') return 'databases'
  const part = labels.get('app.kubernetes.io/part-of')
  if (GITOPS.test(namespace) || part === 'argocd' || part === 'flux') return 'gitops'
  // Its operator is what hibernates a database: it goes after them.
  if (labels.get('app.kubernetes.io/name') === 'cloudnative-pg' || namespace === 'cnpg-system') return 'storage-clients'
  if (STORAGE.test(namespace))
    return CLIENT.test(name) ? 'storage-clients' : OPERATOR.test(name) ? 'operators' : 'storage'
  if (namespace === 'kube-system' || namespace === 'kube-vip') return claims ? 'apps' : 'system'
  if (CLIENT.test(name) && /csi/.test(name)) return 'storage-clients'
  if (OPERATOR.test(name) || labels.get('app.kubernetes.io/component') === 'operator') return 'operators'
  if (DATABASE.has(labels.get('app.kubernetes.io/component') ?? '')) return 'databases'
  if (kind === 'StatefulSet' && DATABASE.has(labels.get('app.kubernetes.io/name') ?? '')) return 'databases'
  return 'apps'
}

function fits({ namespaces, labels }: TierRule, workload: Described): boolean {
  if (namespaces.length > 0 && !namespaces.includes(workload.namespace)) return false
  const wanted = Object.entries(labels)
  if (namespaces.length === 0 && wanted.length === 0) return false
  return wanted.every(([key, value]) => workload.labels.get(key) === value)
}
