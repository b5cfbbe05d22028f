import type { Handler, Routes } from '../call.ts'
import { absentRoutes } from './absent.ts'
import { accessRoutes } from './access/access.ts'
import { accessAclRoutes } from './access/acl.ts'
import { accessGroupRoutes } from './access/groups.ts'
import { realmSyncRoutes } from './access/realm-sync.ts'
import { accessRealmRoutes } from './access/realms.ts'
import { accessRoleRoutes } from './access/roles.ts'
import { accessTfaRoutes } from './access/tfa.ts'
import { accessTokenRoutes } from './access/tokens.ts'
import { accessUserRoutes } from './access/users.ts'
import { acmeRoutes } from './cluster/acme.ts'
import { clusterRoutes } from './cluster/cluster.ts'
import { clusterConfigRoutes } from './cluster/cluster-config.ts'
import { clusterOptionRoutes } from './cluster/cluster-options.ts'
import { datacentreOptionRoutes } from './cluster/datacentre-options.ts'
import { mappingRoutes } from './cluster/mappings.ts'
import { metricsRoutes } from './cluster/metrics.ts'
import { notificationRoutes } from './cluster/notifications.ts'
import { poolRoutes } from './cluster/pools.ts'
import { firewallRoutes } from './firewall/firewall.ts'
import { bulkActionRoutes } from './guest/bulk-actions.ts'
import { clusterBulkActionRoutes } from './guest/cluster-bulk-actions.ts'
import { otherClusterRoutes } from './guest/other-cluster.ts'
import { haRoutes } from './ha/ha.ts'
import { haResourceRoutes } from './ha/resources.ts'
import { haRuleRoutes } from './ha/rules.ts'
import { lxcCopyRoutes } from './lxc/copy.ts'
import { lxcRoutes } from './lxc/lxc.ts'
import { lxcMountRoutes } from './lxc/mounts.ts'
import { lxcPowerRoutes } from './lxc/power.ts'
import { fabricRoutes } from './network/fabrics.ts'
import { networkRoutes } from './network/network.ts'
import { sdnRoutes } from './network/sdn.ts'
import { sdnAddressRoutes } from './network/sdn-addresses.ts'
import { sdnRoutingRoutes } from './network/sdn-routing.ts'
import { sdnStateRoutes } from './network/sdn-state.ts'
import { nodeAptRoutes } from './node/apt.ts'
import { cephRoutes } from './node/ceph.ts'
import { nodeCertificateRoutes } from './node/certificates.ts'
import { nodeDiskRoutes } from './node/disks.ts'
import { nodeFactRoutes } from './node/facts.ts'
import { nodeHostRoutes } from './node/host.ts'
import { nodeRoutes } from './node/nodes.ts'
import { nodePackageRoutes } from './node/packages.ts'
import { nodePowerRoutes } from './node/power.ts'
import { rrdRoutes } from './node/rrd.ts'
import { nodeScanRoutes } from './node/scan.ts'
import { nodeSettingRoutes } from './node/settings.ts'
import { nodeSubscriptionRoutes } from './node/subscription.ts'
import { nodeWakeRoutes } from './node/wake.ts'
import { nodeZfsRoutes } from './node/zfs.ts'
import { qemuAgentRoutes } from './qemu/agent.ts'
import { qemuCloneRoutes } from './qemu/clone.ts'
import { qemuCloudInitRoutes } from './qemu/cloudinit.ts'
import { qemuConfigRoutes } from './qemu/config.ts'
import { qemuConsoleRoutes } from './qemu/console.ts'
import { cpuFlagRoutes } from './qemu/cpu-flags.ts'
import { cpuModelRoutes } from './qemu/cpu-models.ts'
import { qemuCreateRoutes } from './qemu/create.ts'
import { qemuDestroyRoutes } from './qemu/destroy.ts'
import { qemuDiskRoutes } from './qemu/disk.ts'
import { qemuListRoutes } from './qemu/list.ts'
import { qemuMigrateRoutes } from './qemu/migrate.ts'
import { qemuMoveRoutes } from './qemu/move.ts'
import { qemuPowerRoutes } from './qemu/power.ts'
import { qemuSnapshotRoutes } from './qemu/snapshot.ts'
import { qemuTemplateRoutes } from './qemu/template.ts'
import { applianceRoutes } from './storage/appliances.ts'
import { backupJobRoutes } from './storage/backup-jobs.ts'
import { backupRoutes } from './storage/backups.ts'
import { contentRoutes } from './storage/content.ts'
import { directoryRoutes } from './storage/directories.ts'
import { downloadRoutes } from './storage/download.ts'
import { replicationRoutes } from './storage/replication.ts'
import { storageRoutes } from './storage/storage.ts'
import { taskRoutes } from './tasks.ts'

/** One table per area. A new area is one file and one line here. */
const TABLES: readonly Routes[] = [
  accessRoutes,
  accessAclRoutes,
  accessRoleRoutes,
  accessUserRoutes,
  clusterRoutes,
  clusterOptionRoutes,
  contentRoutes,
  directoryRoutes,
  downloadRoutes,
  firewallRoutes,
  haRoutes,
  lxcRoutes,
  mappingRoutes,
  metricsRoutes,
  cpuModelRoutes,
  cpuFlagRoutes,
  realmSyncRoutes,
  haResourceRoutes,
  haRuleRoutes,
  notificationRoutes,
  otherClusterRoutes,
  datacentreOptionRoutes,
  clusterConfigRoutes,
  rrdRoutes,
  backupJobRoutes,
  applianceRoutes,
  backupRoutes,
  replicationRoutes,
  accessTokenRoutes,
  accessGroupRoutes,
  accessRealmRoutes,
  accessTfaRoutes,
  qemuConsoleRoutes,
  bulkActionRoutes,
  clusterBulkActionRoutes,
  nodeFactRoutes,
  nodeHostRoutes,
  nodeCertificateRoutes,
  nodePowerRoutes,
  lxcMountRoutes,
  lxcPowerRoutes,
  lxcCopyRoutes,
  nodeSettingRoutes,
  nodeSubscriptionRoutes,
  nodeAptRoutes,
  nodeScanRoutes,
  nodePackageRoutes,
  nodeDiskRoutes,
  nodeWakeRoutes,
  absentRoutes,
  cephRoutes,
  nodeZfsRoutes,
  acmeRoutes,
  networkRoutes,
  nodeRoutes,
  poolRoutes,
  qemuAgentRoutes,
  qemuCloneRoutes,
  qemuCloudInitRoutes,
  qemuConfigRoutes,
  qemuCreateRoutes,
  qemuDestroyRoutes,
  qemuDiskRoutes,
  qemuListRoutes,
  qemuMigrateRoutes,
  qemuMoveRoutes,
  qemuPowerRoutes,
  qemuSnapshotRoutes,
  qemuTemplateRoutes,
  sdnRoutes,
  fabricRoutes,
  sdnStateRoutes,
  sdnAddressRoutes,
  sdnRoutingRoutes,
  storageRoutes,
  taskRoutes,
]

export const ROUTES: ReadonlyMap<string, Handler> = new Map(TABLES.flatMap((table) => Object.entries(table)))
