import type { ContainerDevice, ContainerFeatures, ContainerNic, ContainerSpec } from '../../../model/container.ts'
import { mark } from '../mark.ts'
import { sameUnits, textOf } from '../option.ts'
import { device, devices } from '../parts.ts'
import type { SlotRule } from '../slots.ts'
import * as slots from '../slots.ts'
import { tags } from '../tags.ts'
import { startup } from '../vm/start-at-boot.ts'
import { type ContainerOption, flag, quantity, scalar, word } from './option.ts'
import { mounts, rootDisk } from './volumes.ts'

/** The features inside. All but nesting affect the host, so only root itself may set them. */
export const features = device<ContainerSpec, ContainerFeatures>({
  path: 'features',
  key: 'features',
  bare: '',
  effect: 'restart',
  whenMissing: 'its parts',
  omitsDefaults: true,
  declared: ({ features: declared }) =>
    declared !== undefined && Object.keys(declared).length > 0 ? declared : undefined,
  parts: [
    { field: 'nesting', key: 'nesting', fallback: false },
    { field: 'keyctl', key: 'keyctl', fallback: false },
    { field: 'fuse', key: 'fuse', fallback: false },
    { field: 'mknod', key: 'mknod', fallback: false },
    { field: 'mount', key: 'mount', type: 'list' },
  ],
})

/** Network cards with their addresses. All can change while the container runs. */
const nics = devices<ContainerSpec, ContainerNic>({
  path: 'nics',
  bare: '',
  effect: 'live',
  items: (container) => container.nics,
  parts: [
    { field: 'name', key: 'name' },
    { field: 'bridge', key: 'bridge' },
    { field: 'mac', key: 'hwaddr', anyCase: true },
    { field: 'vlan', key: 'tag', noneAtZero: true },
    { field: 'firewall', key: 'firewall', fallback: false },
    { field: 'disconnected', key: 'link_down', fallback: false },
    { field: 'mtu', key: 'mtu', noneAtZero: true },
    { field: 'rateMBps', key: 'rate', noneAtZero: true },
    { field: 'hostManaged', key: 'host-managed', fallback: false },
    { field: 'v4', key: 'ip' },
    { field: 'gateway4', key: 'gw' },
    { field: 'v6', key: 'ip6' },
    { field: 'gateway6', key: 'gw6' },
  ],
})

/** Devices of the host. Only root may assign them. */
export const passedDevices = devices<ContainerSpec, ContainerDevice>({
  path: 'devices',
  bare: 'path',
  effect: 'restart',
  items: (container) => container.devices,
  parts: [
    { field: 'path', key: 'path' },
    { field: 'mode', key: 'mode' },
    { field: 'uid', key: 'uid', fallback: 0 },
    { field: 'gid', key: 'gid', fallback: 0 },
    { field: 'denyWrite', key: 'deny-write', fallback: false },
  ],
})

const dnsServers = scalar<readonly string[]>({
  path: 'dns.servers',
  key: 'nameserver',
  effect: 'restart',
  declared: (container) => container.dns?.servers,
  observed: (config) => (textOf(config.nameserver) ?? '').split(/[\s,;]+/).filter((server) => server !== ''),
  print: (servers) => servers.join(' '),
  same: (declared, observed) => declared.join(' ') === observed.join(' '),
})

/** Names and values, each pair ended by the only character that neither can contain. */
const environment = scalar<Readonly<Record<string, string>>>({
  path: 'environment',
  key: 'env',
  effect: 'restart',
  declared: (container) => container.environment,
  observed: (config) => Object.fromEntries((textOf(config.env) ?? '').split('\0').flatMap(pair)),
  print: printPairs,
  same: (declared, observed) => printPairs(declared) === printPairs(observed),
})

/** Values that can only be set at creation, and neither read nor changed later. */
const atBirth: ContainerOption = {
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

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^mp\d+$/, 'mounts'],
  [/^net\d+$/, 'nics'],
  [/^dev\d+$/, 'devices'],
]

const containerSlots: SlotRule<ContainerSpec> = {
  declared: ({ mounts, nics, devices }) =>
    [mounts, nics, devices].flatMap((list) => list?.map(({ slot }) => slot) ?? []),
  pathOf: (slot) => WORDS.find(([pattern]) => pattern.test(slot))?.[1] ?? 'places',
  // A running container can lose a card, but not a mount.
  effect: (_config, slot) => (slot.startsWith('net') ? 'live' : 'restart'),
  holdsData: (slot, text) => slot.startsWith('mp') && !text.startsWith('/'),
}

const description: ContainerOption = slots.description(containerSlots)

/** Mounts, cards and devices that croft added and that are no longer declared. */
const detached: ContainerOption = slots.detached(containerSlots)

/**
 * All options in a container's configuration, in reading order for a change list. Proxmox applies limits at once;
 * settings that the start reads wait for the next start.
 */
export const OPTIONS: readonly ContainerOption[] = [
  atBirth,
  word('name', 'hostname', 'live', ''),
  description,
  tags,
  mark,
  // By default it may use all processors of the host.
  quantity('cpu.cores', 'cores', 'live', 0),
  // 0 means no limit.
  quantity('cpu.limit', 'cpulimit', 'live', 0),
  quantity('cpu.units', 'cpuunits', 'live', 0, { same: sameUnits }),
  word('cpu.architecture', 'arch', 'restart', 'amd64'),
  quantity('memory.dedicatedMb', 'memory', 'live', 512),
  quantity('memory.swapMb', 'swap', 'live', 512),
  word('osType', 'ostype', 'restart', ''),
  // It decides who owns the files inside, so Proxmox never changes it.
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
