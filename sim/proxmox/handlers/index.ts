import type { Handler, Routes } from '../call.ts'
import { absentRoutes } from './absent.ts'
import { accessRoutes } from './access.ts'
import { accessAclRoutes } from './access-acl.ts'
import { accessGroupRoutes } from './access-groups.ts'
import { accessRealmRoutes } from './access-realms.ts'
import { accessRoleRoutes } from './access-roles.ts'
import { accessTfaRoutes } from './access-tfa.ts'
import { accessTokenRoutes } from './access-tokens.ts'
import { accessUserRoutes } from './access-users.ts'
import { acmeRoutes } from './acme.ts'
import { backupJobRoutes } from './backup-jobs.ts'
import { backupRoutes } from './backups.ts'
import { bulkActionRoutes } from './bulk-actions.ts'
import { cephRoutes } from './ceph.ts'
import { clusterRoutes } from './cluster.ts'
import { clusterConfigRoutes } from './cluster-config.ts'
import { clusterOptionRoutes } from './cluster-options.ts'
import { contentRoutes } from './content.ts'
import { cpuModelRoutes } from './cpu-models.ts'
import { datacentreOptionRoutes } from './datacentre-options.ts'
import { directoryRoutes } from './directories.ts'
import { downloadRoutes } from './download.ts'
import { firewallRoutes } from './firewall.ts'
import { haRoutes } from './ha.ts'
import { haResourceRoutes } from './ha-resources.ts'
import { haRuleRoutes } from './ha-rules.ts'
import { lxcRoutes } from './lxc.ts'
import { lxcCopyRoutes } from './lxc-copy.ts'
import { lxcMountRoutes } from './lxc-mounts.ts'
import { lxcPowerRoutes } from './lxc-power.ts'
import { mappingRoutes } from './mappings.ts'
import { metricsRoutes } from './metrics.ts'
import { networkRoutes } from './network.ts'
import { nodeAptRoutes } from './node-apt.ts'
import { nodeCertificateRoutes } from './node-certificates.ts'
import { nodeDiskRoutes } from './node-disks.ts'
import { nodeFactRoutes } from './node-facts.ts'
import { nodeHostRoutes } from './node-host.ts'
import { nodePowerRoutes } from './node-power.ts'
import { nodeSettingRoutes } from './node-settings.ts'
import { nodeWakeRoutes } from './node-wake.ts'
import { nodeZfsRoutes } from './node-zfs.ts'
import { nodeRoutes } from './nodes.ts'
import { notificationRoutes } from './notifications.ts'
import { poolRoutes } from './pools.ts'
import { qemuAgentRoutes } from './qemu-agent.ts'
import { qemuCloneRoutes } from './qemu-clone.ts'
import { qemuCloudInitRoutes } from './qemu-cloudinit.ts'
import { qemuConfigRoutes } from './qemu-config.ts'
import { qemuConsoleRoutes } from './qemu-console.ts'
import { qemuCreateRoutes } from './qemu-create.ts'
import { qemuDestroyRoutes } from './qemu-destroy.ts'
import { qemuDiskRoutes } from './qemu-disk.ts'
import { qemuListRoutes } from './qemu-list.ts'
import { qemuMigrateRoutes } from './qemu-migrate.ts'
import { qemuMoveRoutes } from './qemu-move.ts'
import { qemuPowerRoutes } from './qemu-power.ts'
import { qemuSnapshotRoutes } from './qemu-snapshot.ts'
import { qemuTemplateRoutes } from './qemu-template.ts'
import { realmSyncRoutes } from './realm-sync.ts'
import { replicationRoutes } from './replication.ts'
import { rrdRoutes } from './rrd.ts'
import { sdnRoutes } from './sdn.ts'
import { sdnStateRoutes } from './sdn-state.ts'
import { storageRoutes } from './storage.ts'
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
  realmSyncRoutes,
  haResourceRoutes,
  haRuleRoutes,
  notificationRoutes,
  datacentreOptionRoutes,
  clusterConfigRoutes,
  rrdRoutes,
  backupJobRoutes,
  backupRoutes,
  replicationRoutes,
  accessTokenRoutes,
  accessGroupRoutes,
  accessRealmRoutes,
  accessTfaRoutes,
  qemuConsoleRoutes,
  bulkActionRoutes,
  nodeFactRoutes,
  nodeHostRoutes,
  nodeCertificateRoutes,
  nodePowerRoutes,
  lxcMountRoutes,
  lxcPowerRoutes,
  lxcCopyRoutes,
  nodeSettingRoutes,
  nodeAptRoutes,
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
  sdnStateRoutes,
  storageRoutes,
  taskRoutes,
]

export const ROUTES: ReadonlyMap<string, Handler> = new Map(TABLES.flatMap((table) => Object.entries(table)))
