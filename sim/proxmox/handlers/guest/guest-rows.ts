import { agentEnabled, cpuCount, guestName, maxDiskBytes, memoryMb } from '../../../world/guest-config.ts'
import { lastSeen } from '../../../world/guest-run.ts'
import { MIB } from '../../../world/sizes.ts'
import type { Guest, Host, World } from '../../../world/types.ts'

const NO_PRESSURE = {
  pressurecpusome: 0,
  pressurecpufull: 0,
  pressureiosome: 0,
  pressureiofull: 0,
  pressurememorysome: 0,
  pressurememoryfull: 0,
}

/** A guest in the list of its node. */
export function nodeRow(world: World, host: Host, guest: Guest): Record<string, unknown> {
  const { config, run } = guest
  const running = run.status === 'running'
  const memory = memoryMb(config) * MIB
  const row: Record<string, unknown> = {
    vmid: guest.vmid,
    name: guestName(guest),
    status: run.status,
    cpus: guest.type === 'lxc' ? containerCpus(host, config) : cpuCount(config),
    cpu: running ? 0.02 : 0,
    mem: running ? Math.round(memory * 0.6) : 0,
    maxmem: memory,
    memhost: running ? Math.round(memory * 0.7) : 0,
    disk: 0,
    maxdisk: maxDiskBytes(host, guest),
    uptime: uptime(world, guest),
    netin: 0,
    netout: 0,
  }
  if (running) {
    row.pid = run.pid
    row.diskread = 0
    row.diskwrite = 0
    if (guest.type === 'qemu') Object.assign(row, NO_PRESSURE)
  }
  if (guest.type === 'lxc')
    Object.assign(row, { type: 'lxc', swap: 0, maxswap: swapBytes(config), diskread: 0, diskwrite: 0 })
  if (guest.type === 'lxc') delete row.memhost
  if (config.get('template') === '1') row.template = 1
  for (const key of ['lock', 'tags']) if (config.has(key)) row[key] = config.get(key)
  if (guest.type === 'qemu' && [...config.keys()].some((key) => /^serial\d+$/.test(key))) row.serial = 1
  return row
}

/** Without `cores`, a container has its `cpulimit`, which is text, or all cores of its host. */
function containerCpus(host: Host, config: ReadonlyMap<string, string>): number | string {
  if (config.has('cores')) return cpuCount(config)
  const limit = config.get('cpulimit') ?? '0'
  return Number(limit) > 0 ? limit : host.cpus
}

function swapBytes(config: ReadonlyMap<string, string>): number {
  return Number(config.get('swap') ?? 0) * MIB
}

/** The same with what only one guest's own page shows. Always fresh, unlike the lists of the whole datacentre. */
export function statusRow(world: World, host: Host, guest: Guest): Record<string, unknown> {
  const row = nodeRow(world, host, guest)
  row.ha = haOf(world, guest)
  if (guest.type === 'lxc') return row
  row.qmpstatus = guest.run.paused ? 'paused' : guest.run.status
  if (agentEnabled(guest.config)) row.agent = 1
  if (guest.config.has('vga')) row.clipboard = null
  return { ...row, ...nics(guest) }
}

/** What went over each card of a guest that runs. */
export function nics(guest: Guest): Record<string, unknown> {
  const cards = [...guest.config.keys()].filter((key) => /^net\d+$/.test(key))
  if (guest.run.status !== 'running' || cards.length === 0) return {}
  const named = cards.map((key) => [`tap${guest.vmid}i${key.slice(3)}`, { netin: 0, netout: 0 }])
  return { nics: Object.fromEntries(named) }
}

/** Until the manager has looked at a guest, the guest has no HA state. */
function haOf(world: World, guest: Guest): Record<string, unknown> {
  if (!world.shelves.get('ha/resources')?.has(haId(guest))) return { managed: 0 }
  const state = guest.run.status === 'running' ? 'started' : 'stopped'
  return { managed: 1, state: world.statusDaemon ? state : null }
}

export function haId(guest: Guest): string {
  return `${guest.type === 'qemu' ? 'vm' : 'ct'}:${guest.vmid}`
}

export function uptime(world: World, guest: Guest): number {
  return guest.run.status === 'running' ? Math.floor((world.clock.now() - guest.run.startedAtMs) / 1000) : 0
}

/**
 * A guest in the list of the whole datacentre. Id, node, lock and tags are read from the configuration, all else from
 * the last report of the host's status daemon, which is seconds old, or missing for a guest that is new.
 */
export function resourceRow(world: World, host: Host, guest: Guest, pool: string | undefined): Record<string, unknown> {
  const { config } = guest
  const row: Record<string, unknown> = {
    id: `${guest.type}/${guest.vmid}`,
    type: guest.type,
    vmid: guest.vmid,
    node: guest.node,
    status: 'unknown',
  }
  const seen = host.power === 'on' ? lastSeen(world, host, guest) : undefined
  if (seen !== undefined) {
    const memory = memoryMb(config) * MIB
    const running = seen.status === 'running'
    row.status = seen.status
    row.name = seen.name
    row.uptime = running ? Math.floor((world.clock.now() - seen.startedAtMs) / 1000) : 0
    row.cpu = running ? 0.02 : 0
    row.maxcpu = cpuCount(config)
    row.mem = running ? Math.round(memory * 0.6) : 0
    row.maxmem = memory
    row.memhost = running ? Math.round(memory * 0.7) : 0
    row.disk = 0
    row.maxdisk = maxDiskBytes(host, guest)
    row.netin = 0
    row.netout = 0
    row.diskread = 0
    row.diskwrite = 0
    row.template = config.get('template') === '1' ? 1 : 0
  }
  if (pool !== undefined) row.pool = pool
  const managed = world.shelves.get('ha/resources')?.get(haId(guest))
  if (managed !== undefined) row.hastate = managed.state ?? (world.statusDaemon ? 'started' : null)
  const lock = config.get('lock')
  if (lock !== undefined) row.lock = lock
  const tags = config.get('tags')
  if (tags !== undefined) row.tags = tags
  return row
}
