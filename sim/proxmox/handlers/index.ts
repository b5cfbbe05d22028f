import type { Handler, Routes } from '../call.ts'
import { accessRoutes } from './access/access.ts'
import { accessAclRoutes } from './access/acl.ts'
import { accessGroupRoutes } from './access/groups.ts'
import { accessRealmRoutes } from './access/realms.ts'
import { accessRoleRoutes } from './access/roles.ts'
import { accessTokenRoutes } from './access/tokens.ts'
import { accessUserRoutes } from './access/users.ts'
import { acmeRoutes } from './cluster/acme.ts'
import { clusterRoutes } from './cluster/cluster.ts'
import { datacentreOptionRoutes } from './cluster/datacentre-options.ts'
import { mappingRoutes } from './cluster/mappings.ts'
import { metricsRoutes } from './cluster/metrics.ts'
import { poolRoutes } from './cluster/pools.ts'
import { firewallRoutes } from './firewall/firewall.ts'
import { haRoutes } from './ha/ha.ts'
import { haResourceRoutes } from './ha/resources.ts'
import { haRuleRoutes } from './ha/rules.ts'
import { lxcCopyRoutes } from './lxc/copy.ts'
import { lxcRoutes } from './lxc/lxc.ts'
import { lxcMountRoutes } from './lxc/mounts.ts'
import { lxcPowerRoutes } from './lxc/power.ts'
import { networkRoutes } from './network/network.ts'
import { sdnRoutes } from './network/sdn.ts'
import { sdnStateRoutes } from './network/sdn-state.ts'
import { nodeAptRoutes } from './node/apt.ts'
import { nodeCertificateRoutes } from './node/certificates.ts'
import { nodeHostRoutes } from './node/host.ts'
import { nodeRoutes } from './node/nodes.ts'
import { nodePowerRoutes } from './node/power.ts'
import { rrdRoutes } from './node/rrd.ts'
import { nodeSettingRoutes } from './node/settings.ts'
import { nodeZfsRoutes } from './node/zfs.ts'
import { qemuAgentRoutes } from './qemu/agent.ts'
import { qemuCloneRoutes } from './qemu/clone.ts'
import { qemuCloudInitRoutes } from './qemu/cloudinit.ts'
import { qemuConfigRoutes } from './qemu/config.ts'
import { qemuConsoleRoutes } from './qemu/console.ts'
import { qemuCreateRoutes } from './qemu/create.ts'
import { qemuDestroyRoutes } from './qemu/destroy.ts'
import { qemuDiskRoutes } from './qemu/disk.ts'
import { qemuListRoutes } from './qemu/list.ts'
import { qemuMigrateRoutes } from './qemu/migrate.ts'
import { qemuMoveRoutes } from './qemu/move.ts'
import { qemuPowerRoutes } from './qemu/power.ts'
import { qemuSnapshotRoutes } from './qemu/snapshot.ts'
import { qemuTemplateRoutes } from './qemu/template.ts'
import { backupJobRoutes } from './storage/backup-jobs.ts'
import { backupRoutes } from './storage/backups.ts'
import { contentRoutes } from './storage/content.ts'
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
  contentRoutes,
  downloadRoutes,
  firewallRoutes,
  haRoutes,
  lxcRoutes,
  mappingRoutes,
  metricsRoutes,
  haResourceRoutes,
  haRuleRoutes,
  datacentreOptionRoutes,
  rrdRoutes,
  backupJobRoutes,
  backupRoutes,
  replicationRoutes,
  accessTokenRoutes,
  accessGroupRoutes,
  accessRealmRoutes,
  qemuConsoleRoutes,
  nodeHostRoutes,
  nodeCertificateRoutes,
  nodePowerRoutes,
  lxcMountRoutes,
  lxcPowerRoutes,
  lxcCopyRoutes,
  nodeSettingRoutes,
  nodeAptRoutes,
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
