import { createHash } from 'node:crypto'
import { type Identity, may } from '../../../world/access.ts'
import { memoryMb } from '../../../world/guest-config.ts'
import { GIB, MIB } from '../../../world/sizes.ts'
import type { Host, World } from '../../../world/types.ts'
import { type Call, hostOf, type Routes } from '../../call.ts'

/** The kernel that every host runs. */
export const KERNEL = '6.17.2-1-pve'

export const VERSION = { version: '9.2.11', release: '9.2', repoid: '14a22df3' }

export const nodeRoutes: Routes = {
  'GET /version': () => VERSION,
  'GET /nodes': (call) => [...call.world.hosts.values()].map((host) => listRow(call.world, host, call.who)),
  'GET /nodes/{node}/version': () => VERSION,
  'GET /nodes/{node}/status': nodeStatus,
}

function listRow(world: World, host: Host, who: Identity): Record<string, unknown> {
  const { level: _, ...row } = nodeResource(world, host, who)
  return { ...row, ssl_fingerprint: fingerprint(host) }
}

/** A node in the list of the datacentre. Without Sys.Audit only its name and state are told. */
export function nodeResource(world: World, host: Host, who: Identity): Record<string, unknown> {
  const row: Record<string, unknown> = {
    id: `node/${host.name}`,
    type: 'node',
    node: host.name,
    status: nodeState(world, host),
  }
  if (row.status !== 'online' || !may(world, who, `/nodes/${host.name}`, 'Sys.Audit')) return row
  return {
    ...row,
    level: '',
    cpu: host.load?.value ?? 0.05,
    maxcpu: host.cpus,
    mem: usedMemory(world, host),
    maxmem: host.memoryBytes,
    disk: 8 * GIB,
    maxdisk: 96 * GIB,
    uptime: Math.floor((world.clock.now() - host.bootedAtMs) / 1000),
    'cgroup-mode': 2,
  }
}

/** A host that fell silent is missed only after some seconds. */
function nodeState(world: World, host: Host): string {
  if (!world.statusDaemon) return 'unknown'
  return host.power === 'on' ? 'online' : 'offline'
}

function usedMemory(world: World, host: Host): number {
  let used = 2 * GIB
  for (const guest of world.guests.values()) {
    if (guest.node === host.name && guest.run.status === 'running') used += memoryMb(guest.config) * MIB
  }
  return Math.min(used, host.memoryBytes)
}

export function fingerprint(host: Host): string {
  const hex = createHash('sha256').update(host.name).digest('hex').toUpperCase()
  return hex.replace(/(..)(?=.)/g, '$1:')
}

function nodeStatus(call: Call): Record<string, unknown> {
  const { world } = call
  const host = hostOf(call)
  const used = usedMemory(world, host)
  const free = host.memoryBytes - used
  return {
    uptime: Math.floor((world.clock.now() - host.bootedAtMs) / 1000),
    cpu: 0.05,
    wait: 0.001,
    idle: 0,
    loadavg: ['0.35', '0.40', '0.42'],
    kversion: `Linux ${KERNEL} #1 SMP PREEMPT_DYNAMIC PMX ${KERNEL.replace('-pve', '')}`,
    pveversion: `pve-manager/${VERSION.version}/${VERSION.repoid}`,
    'current-kernel': {
      sysname: 'Linux',
      release: KERNEL,
      version: '#1 SMP PREEMPT_DYNAMIC',
      machine: 'x86_64',
    },
    'boot-info': { mode: 'efi', secureboot: 0 },
    ksm: { shared: 0 },
    memory: { total: host.memoryBytes, used, free, available: free },
    swap: { total: 0, used: 0, free: 0 },
    rootfs: { total: 96 * GIB, used: 8 * GIB, free: 88 * GIB, avail: 84 * GIB },
    cpuinfo: {
      cpus: host.cpus,
      cores: host.cpus,
      sockets: 1,
      model: 'Simulated Processor',
      mhz: '2100.000',
      hvm: '1',
      user_hz: 100,
      flags: 'fpu vme de pse tsc msr pae mce cx8 apic sep',
      family: '6',
      vendor: 'GenuineIntel',
    },
  }
}
