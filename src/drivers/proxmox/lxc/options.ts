import { mark } from '../mark.ts'
import { sameUnits } from '../option.ts'
import { tags } from '../tags.ts'
import { startup } from '../vm/start-at-boot.ts'
import { atBirth, dnsServers, environment } from './basics.ts'
import { features, nics, passedDevices } from './devices.ts'
import { type ContainerOption, flag, quantity, word } from './option.ts'
import { description, detached } from './slots.ts'
import { mounts, rootDisk } from './volumes.ts'

/**
 * Every option that lives in a container's configuration, in the order in which a person reads a change list. Proxmox
 * sets limits of a running container; what its start reads waits for the next.
 */
export const OPTIONS: readonly ContainerOption[] = [
  atBirth,
  word('name', 'hostname', 'live', ''),
  description,
  tags,
  mark,
  // Left out, it may use all processors of the host.
  quantity('cpu.cores', 'cores', 'live', 0),
  // 0 means no limit.
  quantity('cpu.limit', 'cpulimit', 'live', 0),
  quantity('cpu.units', 'cpuunits', 'live', 0, { same: sameUnits }),
  word('cpu.architecture', 'arch', 'restart', 'amd64'),
  quantity('memory.dedicatedMb', 'memory', 'live', 512),
  quantity('memory.swapMb', 'swap', 'live', 512),
  word('osType', 'ostype', 'restart', ''),
  // Who owns the files inside depends on it, so Proxmox never changes it.
  flag('unprivileged', 'unprivileged', 'replace', false),
  features,
  flag('onBoot', 'onboot', 'live', false),
  startup,
  flag('protection', 'protection', 'live', false),
  // Only root may set it.
  word('hookScript', 'hookscript', 'live', ''),
  rootDisk,
  mounts,
  nics,
  passedDevices,
  detached,
  dnsServers,
  word('dns.domain', 'searchdomain', 'restart', ''),
  flag('console.enabled', 'console', 'restart', true),
  quantity('console.ttys', 'tty', 'restart', 2),
  word('console.mode', 'cmode', 'restart', 'tty'),
  word('entrypoint', 'entrypoint', 'restart', '/sbin/init'),
  environment,
]
