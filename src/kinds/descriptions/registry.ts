import type { Kind } from '../kind.ts'
import { addon } from './addon.ts'
import { addressPool } from './address-pool.ts'
import { approval } from './approval.ts'
import { cluster } from './cluster.ts'
import { environmentContainer, environmentDownloadFile, environmentFile, environmentVm } from './crossplane.ts'
import type { Descriptions } from './describe.ts'
import { device } from './device.ts'
import { estate } from './estate.ts'
import { healthCheck } from './health-check.ts'
import { host } from './host.ts'
import { hostConfig } from './host-config.ts'
import { hypervisorKinds } from './hypervisors.ts'
import { image } from './image.ts'
import { machine } from './machine.ts'
import { machineClass } from './machine-class.ts'
import { network } from './network.ts'
import { notification } from './notification.ts'
import { power } from './power.ts'
import { providerConfig } from './provider-config.ts'
import { proxmox } from './proxmox.ts'
import { settingKinds } from './settings.ts'

const BY_KIND: Readonly<Record<string, Descriptions>> = {
  Addon: addon,
  AddressPool: addressPool,
  Approval: approval,
  Cluster: cluster,
  Device: device,
  EnvironmentContainer: environmentContainer,
  EnvironmentDownloadFile: environmentDownloadFile,
  EnvironmentFile: environmentFile,
  EnvironmentVM: environmentVm,
  Estate: estate,
  HealthCheck: healthCheck,
  Host: host,
  HostConfig: hostConfig,
  Image: image,
  ...hypervisorKinds,
  Machine: machine,
  MachineClass: machineClass,
  Network: network,
  Notification: notification,
  Power: power,
  ProviderConfig: providerConfig,
  Proxmox: proxmox,
  ...settingKinds,
}

/** Returns the descriptions of a kind's fields; undefined if it has none yet. */
export function descriptionsOf({ kind, orderedBy }: Kind): Descriptions | undefined {
  const own = BY_KIND[kind]
  return orderedBy?.dependsOn[0] === 'spec' ? { ...own, ...ORDERING } : own
}

/** For all kinds that can depend on others. */
const ORDERING: Descriptions = {
  dependsOn:
    'Declarations that must be Ready before this one is made, such as Machine/db-1. It is deleted before them.',
  readyWhen:
    'Expressions in CEL over self that must hold before this counts as Ready, besides what croft checks itself.',
}
