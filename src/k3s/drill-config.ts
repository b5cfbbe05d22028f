import type { ClusterSpec, Flags } from '../model/cluster.ts'
import { backupFlags } from './backup-flags.ts'
import { AGENT_TOKEN_FILE, clusterFlags, TOKEN_FILE } from './config.ts'

/**
 * Returns config.yaml of the drill's machine: the cluster's own flags, without which the copy could not read its data,
 * and a control plane alone. Without a kubelet no pod starts, and without backups none of the copy gets among those of
 * the cluster.
 */
export function drillConfig(spec: ClusterSpec, name: string): Flags {
  const { network } = spec
  const own = new Set(Object.keys(backupFlags(spec.backup)))
  const kept = Object.entries(clusterFlags(spec)).filter(([flag]) => !own.has(flag) && flag !== 'tls-san')
  return {
    ...Object.fromEntries(kept),
    // The machine may have addresses of the first family alone.
    'cluster-cidr': network.podCidrs[0] ?? '',
    'service-cidr': network.serviceCidrs[0] ?? '',
    'cluster-init': true,
    'disable-agent': true,
    'etcd-disable-snapshots': true,
    'node-name': name,
    'token-file': TOKEN_FILE,
    'agent-token-file': AGENT_TOKEN_FILE,
  }
}
