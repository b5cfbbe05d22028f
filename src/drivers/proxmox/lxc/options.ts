import { mark } from '../mark.ts'
import { tags } from '../tags.ts'
import { protection } from '../vm/protection.ts'
import { onBoot, startup } from '../vm/start-at-boot.ts'
import {
  atBirth,
  consoleEnabled,
  consoleMode,
  consoleTtys,
  cpuArchitecture,
  cpuCores,
  cpuLimit,
  cpuUnits,
  dnsDomain,
  dnsServers,
  entrypoint,
  environment,
  hookScript,
  memoryDedicated,
  memorySwap,
  name,
  osType,
  unprivileged,
} from './basics.ts'
import { features, nics, passedDevices } from './devices.ts'
import type { ContainerOption } from './option.ts'
import { description, detached } from './slots.ts'
import { mounts, rootDisk } from './volumes.ts'

/** Every option that lives in a container's configuration, in the order in which a person reads a change list. */
export const OPTIONS: readonly ContainerOption[] = [
  atBirth,
  name,
  description,
  tags,
  mark,
  cpuCores,
  cpuLimit,
  cpuUnits,
  cpuArchitecture,
  memoryDedicated,
  memorySwap,
  osType,
  unprivileged,
  features,
  onBoot,
  startup,
  protection,
  hookScript,
  rootDisk,
  mounts,
  nics,
  passedDevices,
  detached,
  dnsServers,
  dnsDomain,
  consoleEnabled,
  consoleTtys,
  consoleMode,
  entrypoint,
  environment,
]
