import { textOf } from '../option.ts'
import { type ContainerOption, flag, quantity, scalar, word } from './option.ts'

/* Options that are one key each. Proxmox sets limits of a running container; what its start reads waits for the next. */

export const name = word({
  path: 'name',
  key: 'hostname',
  effect: 'live',
  fallback: '',
  declared: (container) => container.name,
})

/** Left out, it may use all processors of the host. */
export const cpuCores = quantity({
  path: 'cpu.cores',
  key: 'cores',
  effect: 'live',
  fallback: 0,
  declared: (container) => container.cpu?.cores,
})

/** 0 means no limit. */
export const cpuLimit = quantity({
  path: 'cpu.limit',
  key: 'cpulimit',
  effect: 'live',
  fallback: 0,
  declared: (container) => container.cpu?.limit,
})

const DEFAULT_UNITS = [100, 1024]

/** Left out, it is 100 or 1024 depending on the host's control groups; both count as the default. */
export const cpuUnits = quantity({
  path: 'cpu.units',
  key: 'cpuunits',
  effect: 'live',
  fallback: 0,
  declared: (container) => container.cpu?.units,
  same: (declared, observed) => observed === 0 && DEFAULT_UNITS.includes(declared),
})

export const cpuArchitecture = word({
  path: 'cpu.architecture',
  key: 'arch',
  effect: 'restart',
  fallback: 'amd64',
  declared: (container) => container.cpu?.architecture,
})

export const memoryDedicated = quantity({
  path: 'memory.dedicatedMb',
  key: 'memory',
  effect: 'live',
  fallback: 512,
  declared: (container) => container.memory?.dedicatedMb,
})

export const memorySwap = quantity({
  path: 'memory.swapMb',
  key: 'swap',
  effect: 'live',
  fallback: 512,
  declared: (container) => container.memory?.swapMb,
})

export const osType = word({
  path: 'osType',
  key: 'ostype',
  effect: 'restart',
  fallback: '',
  declared: (container) => container.osType,
})

/** Who owns the files inside depends on it, so Proxmox never changes it. */
export const unprivileged = flag({
  path: 'unprivileged',
  key: 'unprivileged',
  effect: 'replace',
  fallback: false,
  declared: (container) => container.unprivileged,
})

export const consoleEnabled = flag({
  path: 'console.enabled',
  key: 'console',
  effect: 'restart',
  fallback: true,
  declared: (container) => container.console?.enabled,
})

export const consoleTtys = quantity({
  path: 'console.ttys',
  key: 'tty',
  effect: 'restart',
  fallback: 2,
  declared: (container) => container.console?.ttys,
})

export const consoleMode = word({
  path: 'console.mode',
  key: 'cmode',
  effect: 'restart',
  fallback: 'tty',
  declared: (container) => container.console?.mode,
})

export const dnsServers = scalar<readonly string[]>({
  path: 'dns.servers',
  key: 'nameserver',
  effect: 'restart',
  declared: (container) => container.dns?.servers,
  observed: (config) => (textOf(config.nameserver) ?? '').split(/[\s,;]+/).filter((server) => server !== ''),
  print: (servers) => servers.join(' '),
  same: (declared, observed) => declared.join(' ') === observed.join(' '),
})

export const dnsDomain = word({
  path: 'dns.domain',
  key: 'searchdomain',
  effect: 'restart',
  fallback: '',
  declared: (container) => container.dns?.domain,
})

/** Only root may set it. */
export const hookScript = word({
  path: 'hookScript',
  key: 'hookscript',
  effect: 'live',
  fallback: '',
  declared: (container) => container.hookScript,
})

export const entrypoint = word({
  path: 'entrypoint',
  key: 'entrypoint',
  effect: 'restart',
  fallback: '/sbin/init',
  declared: (container) => container.entrypoint,
})

/** Names and values, each pair ended by the one character that can be in none of them. */
export const environment = scalar<Readonly<Record<string, string>>>({
  path: 'environment',
  key: 'env',
  effect: 'restart',
  declared: (container) => container.environment,
  observed: (config) => Object.fromEntries((textOf(config.env) ?? '').split('\0').flatMap(pair)),
  print: printPairs,
  same: (declared, observed) => printPairs(declared) === printPairs(observed),
})

/** What can be given when a container is made, and neither read nor changed afterwards. */
export const atBirth: ContainerOption = {
  create({ spec: container }, params) {
    if (container.image !== undefined) params.ostemplate = container.image
    if (container.sshKeys !== undefined) params['ssh-public-keys'] = container.sshKeys.join('\n')
    if (container.password !== undefined) params.password = JSON.stringify(container.password)
  },
  compare() {},
  update() {},
}

function pair(text: string): [string, string][] {
  const equals = text.indexOf('=')
  return equals <= 0 ? [] : [[text.slice(0, equals), text.slice(equals + 1)]]
}

function printPairs(pairs: Readonly<Record<string, string>>): string {
  return Object.keys(pairs)
    .sort()
    .map((key) => `${key}=${pairs[key]}`)
    .join('\0')
}
