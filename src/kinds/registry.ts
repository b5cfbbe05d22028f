import { addon } from './addon.ts'
import { addressPool } from './address-pool.ts'
import { approval } from './approval.ts'
import { cluster } from './cluster.ts'
import { device } from './device.ts'
import { environmentContainer } from './environment-container.ts'
import { environmentDownloadFile } from './environment-download-file.ts'
import { environmentFile } from './environment-file.ts'
import { environmentVm } from './environment-vm.ts'
import { estate } from './estate.ts'
import { ordered } from './fields/ordered.ts'
import { healthCheck } from './health-check.ts'
import { host } from './host.ts'
import { hostConfig } from './host-config.ts'
import { ALL_HYPERVISORS } from './hypervisors/registry.ts'
import { image } from './image.ts'
import type { Kind } from './kind.ts'
import { machine } from './machine.ts'
import { machineClass } from './machine-class.ts'
import { network } from './network.ts'
import { notification } from './notification.ts'
import { power } from './power.ts'
import { providerConfig } from './provider-config.ts'
import { SETTING_KINDS } from './settings/registry.ts'

/** Every kind that croft knows. */
export const KINDS: readonly Kind[] = [
  ...ALL_HYPERVISORS.flatMap((hypervisor) => hypervisor.kinds),
  host,
  ordered(hostConfig),
  network,
  addressPool,
  ordered(image),
  machineClass,
  ordered(machine),
  ordered(device),
  ordered(cluster),
  ordered(addon),
  power,
  approval,
  estate,
  healthCheck,
  notification,
  ordered(environmentVm),
  ordered(environmentContainer),
  ordered(environmentDownloadFile),
  ordered(environmentFile),
  providerConfig,
  ...SETTING_KINDS.map(ordered),
]

export function findKind(apiVersion: string, kind: string): Kind | undefined {
  return KINDS.find((candidate) => candidate.kind === kind && candidate.accepts(apiVersion))
}

/** The kind that a person means on the command line: `machines`, `machine`, `m`, `Machine`. */
export function kindNamed(word: string): Kind | undefined {
  const wanted = word.toLowerCase()
  return KINDS.find((kind) => kindWords(kind).includes(wanted))
}

/** All the words for a kind, in small letters. */
export function kindWords(kind: Kind): readonly string[] {
  return [kind.kind.toLowerCase(), kind.plural, ...kind.shortNames]
}
