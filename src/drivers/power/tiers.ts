import { type TierRule, WORKLOAD_TIERS, type WorkloadTier } from '../../model/power.ts'
import { MARKS } from './marks.ts'

/** The facts that a workload is judged by. */
export interface WorkloadTraits {
  readonly namespace: string
  readonly name: string
  readonly kind: string
  /** Its own labels and those of its pods. */
  readonly labels: ReadonlyMap<string, string>
  /** Names of its containers. */
  readonly containers: readonly string[]
  /** Whether it uses volumes that are attached to a node. */
  readonly claims: boolean
  /** Whether it serves a webhook that must answer before other objects can be written. */
  readonly answersWebhooks: boolean
}

const TIERS: readonly string[] = [...WORKLOAD_TIERS, 'storage', 'system']

const NAME = 'app.kubernetes.io/name'
const PART = 'app.kubernetes.io/part-of'

/**
 * Recognises software by the labels of its charts and operators, in any namespace. The first matching row counts. CSI
 * drivers are recognised by their containers: each has these sidecars.
 */
const KNOWN: readonly (readonly [WorkloadTier, (workload: WorkloadTraits) => boolean])[] = [
  ['gitops', has(PART, 'argocd', 'flux')],
  // The operator hibernates databases: it goes down after them.
  ['storage-clients', has(NAME, 'cloudnative-pg')],
  ['storage-clients', ({ containers }) => containers.some((one) => SIDECAR.test(one))],
  ['storage-clients', (workload) => /^csi-\w+plugin-provisioner$/.test(workload.labels.get('app') ?? '')],
  ['operators', has(PART, 'rook-ceph-operator')],
  ['operators', has('app', 'rook-ceph-operator')],
  ['operators', has('control-plane', 'ceph-csi-op-controller-manager', 'controller-manager')],
  ['storage', has('app.kubernetes.io/managed-by', 'rook-ceph-operator')],
  ['storage', ({ labels }) => labels.has('rook_cluster')],
  ['databases', has(NAME, 'garage')],
  ['system', has(PART, 'cilium')],
  ['system', has('k8s-app', 'kube-dns', 'coredns', 'metrics-server', 'cilium', 'cilium-envoy')],
  ['system', has(NAME, 'coredns', 'metallb', 'kube-vip', 'kube-vip-services', 'kube-vip-cloud-provider', 'traefik')],
  ['system', has('app', 'local-path-provisioner')],
  ['system', has(NAME, 'local-path-provisioner')],
]

const SIDECAR = /^csi-(?:attacher|provisioner|resizer|snapshotter)$/

function has(label: string, ...values: readonly string[]): (workload: WorkloadTraits) => boolean {
  return ({ labels }) => values.includes(labels.get(label) ?? '')
}

/** Storage systems without known labels, by their fixed namespace. */
const STORAGE = /^(?:longhorn-system|openebs|linstor|piraeus-datastore)$/
const CLIENT = /(?:^|-)(?:csi|provisioner|attacher|resizer|snapshotter)(?:-|$)/
const OPERATOR = /(?:^|-)(?:operator|controller-manager)$/
const DATABASE = new Set(['database', 'db', 'postgresql', 'mysql', 'mariadb', 'mongodb', 'redis', 'valkey'])

/**
 * Returns the tier of a workload: a person's label, else the rules of the Power, else the table of common software. The
 * default is an application.
 */
export function tierOf(workload: WorkloadTraits, rules: readonly TierRule[]): WorkloadTier {
  const { namespace, name, kind, labels, claims } = workload
  const written = labels.get(MARKS.tier)
  if (written !== undefined && TIERS.includes(written)) return written as WorkloadTier
  const rule = rules.find((one) => fits(one, workload))
  if (rule !== undefined) return rule.tier
  if (kind === 'Database') return 'databases'
  const [known] = KNOWN.find(([, is]) => is(workload)) ?? []
  if (known !== undefined) return known
  // Without it, what it must admit could not be scaled any longer, neither down nor up.
  if (workload.answersWebhooks && !claims) return 'system'
  if (STORAGE.test(namespace))
    return CLIENT.test(name) ? 'storage-clients' : OPERATOR.test(name) ? 'operators' : 'storage'
  if (namespace === 'kube-system') return claims ? 'apps' : 'system'
  if (OPERATOR.test(name) || labels.get('app.kubernetes.io/component') === 'operator') return 'operators'
  if (DATABASE.has(labels.get('app.kubernetes.io/component') ?? '')) return 'databases'
  if (kind === 'StatefulSet' && DATABASE.has(labels.get(NAME) ?? '')) return 'databases'
  return 'apps'
}

/** Reports whether it is the cluster's DNS: K3s's CoreDNS, or one from a chart. */
export function servesDns(labels: ReadonlyMap<string, string>): boolean {
  const app = labels.get('k8s-app')
  return app === 'kube-dns' || app === 'coredns' || labels.get(NAME) === 'coredns'
}

function fits({ namespaces, labels }: TierRule, workload: WorkloadTraits): boolean {
  if (namespaces.length > 0 && !namespaces.includes(workload.namespace)) return false
  const wanted = Object.entries(labels)
  if (namespaces.length === 0 && wanted.length === 0) return false
  return wanted.every(([key, value]) => workload.labels.get(key) === value)
}
