import type { Random } from '../../src/lib/random.ts'
import { createK3sSite } from '../k3s/site.ts'
import type { SimClock } from '../sim-clock.ts'
import { between } from './chance.ts'
import type { StorageEntry, Timing } from './parts.ts'
import { ROLES } from './roles.ts'
import { GIB } from './sizes.ts'
import type { Host, World } from './types.ts'

/** Times of a small, healthy site. */
export const DEFAULT_TIMING: Timing = {
  callMs: [0, 0],
  taskStartMs: 5,
  allocateMs: [100, 400],
  freeMs: [20, 80],
  importBytesPerSecond: 400_000_000,
  cloneBytesPerSecond: 400_000_000,
  downloadBytesPerSecond: 50_000_000,
  startMs: [500, 2_000],
  bootMs: [12_000, 30_000],
  shutdownMs: [2_000, 8_000],
  shortTaskMs: 300,
  statusCycleMs: 10_000,
  statusCacheMs: 2_000,
}

export interface WorldOptions {
  readonly clock: SimClock
  readonly random: Random
  readonly timing?: Partial<Timing>
  readonly statusDaemon?: boolean
}

/** A datacentre with nothing in it but the roles that are always there. */
export function createWorld(options: WorldOptions): World {
  return {
    clock: options.clock,
    random: options.random,
    timing: { ...DEFAULT_TIMING, ...options.timing },
    hosts: new Map(),
    storages: new Map(),
    guests: new Map(),
    pools: new Map(),
    access: {
      users: new Map(),
      groups: new Map(),
      roles: new Map(Object.entries(ROLES).map(([name, list]) => [name, { privileges: new Set(list), special: true }])),
      acl: [],
      tickets: new Map(),
      version: 1,
      hidden: new Map(),
    },
    shelves: new Map(),
    downloads: new Map(),
    statusDaemon: options.statusDaemon ?? true,
    quorate: true,
    losesWorkers: 0,
    storageBusyMs: new Map(),
    k3s: createK3sSite(),
    metal: new Map(),
  }
}

export function addHost(
  world: World,
  name: string,
  options: { address?: string; cpus?: number; memoryBytes?: number } = {},
): Host {
  const number = world.hosts.size
  const address = options.address ?? `192.168.4.${10 + (number % 240)}`
  const host: Host = {
    name,
    address,
    cpus: options.cpus ?? 16,
    memoryBytes: options.memoryBytes ?? 64 * GIB,
    power: 'on',
    life: 1,
    bootedAtMs: world.clock.now() - 3_600_000,
    offSinceMs: undefined,
    statusPhaseMs: between(world.random, [0, 9_999]),
    nextPid: 1000,
    tasks: [],
    runningTasks: new Set(),
    tasksById: new Map(),
    locks: new Map(),
    volumes: new Map(),
    interfaces: new Map([
      ['eth0', { type: 'eth', method: 'manual', method6: 'manual', families: ['inet'], active: 1, priority: 3 }],
      ['vmbr0', bridge(address)],
    ]),
    newInterfaces: undefined,
    pci: [],
    usb: [],
  }
  world.hosts.set(name, host)
  return host
}

function bridge(address: string): Record<string, unknown> {
  return {
    type: 'bridge',
    method: 'static',
    method6: 'manual',
    families: ['inet'],
    address,
    netmask: '24',
    cidr: `${address}/24`,
    gateway: address.replace(/\d+$/, '1'),
    bridge_ports: 'eth0',
    bridge_stp: 'off',
    bridge_fd: '0',
    autostart: 1,
    active: 1,
    priority: 4,
  }
}

export function addStorage(world: World, entry: Partial<StorageEntry> & { readonly id: string }): StorageEntry {
  const type = entry.type ?? 'dir'
  const made: StorageEntry = {
    type,
    files: ['dir', 'nfs', 'cifs', 'btrfs', 'cephfs'].includes(type),
    path: '/var/lib/vz',
    content: ['iso', 'vztmpl', 'backup', 'snippets', 'import', 'images', 'rootdir'],
    shared: false,
    nodes: undefined,
    disabled: false,
    totalBytes: 500 * GIB,
    baseUsedBytes: 8 * GIB,
    options: {},
    backed: true,
    ...entry,
  }
  world.storages.set(made.id, made)
  return made
}
