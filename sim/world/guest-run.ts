import { systemBoots, systemStops } from '../guest/life.ts'
import { between } from './chance.ts'
import { agentEnabled, bootableSystem, guestName, touch } from './guest-config.ts'
import { readSeed } from './guest-inside.ts'
import type { Seen } from './parts.ts'
import type { Guest, Host, World } from './types.ts'

/** A guest as it comes into being: switched off, with what its configuration says. */
export function newGuest(vmid: number, type: 'qemu' | 'lxc', node: string, config: Map<string, string>): Guest {
  return {
    vmid,
    type,
    node,
    config,
    pending: new Map(),
    pendingDelete: new Set(),
    snapshots: new Map(),
    version: 1,
    digest: undefined,
    run: stoppedRun(0),
    trouble: {},
    seen: [],
  }
}

function stoppedRun(life: number): Guest['run'] {
  return {
    status: 'stopped',
    paused: false,
    life,
    startedAtMs: 0,
    pid: 0,
    system: undefined,
    bootedAtMs: undefined,
    agentChannel: false,
  }
}

/** The process is there. The system inside, if there is one, comes up some time later by itself. */
export function powerOn(
  world: World,
  host: Host,
  guest: Guest,
  bootMs = between(world.random, world.timing.bootMs),
): void {
  applyPending(guest)
  // Each start remakes the cloud-init drive.
  guest.seed = new Map(guest.config)
  const system = bootableSystem(host, guest.config)
  guest.run = {
    status: 'running',
    paused: false,
    life: guest.run.life + 1,
    startedAtMs: world.clock.now(),
    pid: host.nextPid++,
    system,
    bootedAtMs: undefined,
    agentChannel: agentEnabled(guest.config),
    name: guestName(guest),
  }
  noteSeen(world, guest)
  if (system !== undefined) boots(world, guest, bootMs)
}

/** The system inside comes up after `bootMs`, unless the guest was stopped or started again before that. */
export function boots(world: World, guest: Guest, bootMs: number): void {
  const life = guest.run.life
  guest.run.bootedAtMs = undefined
  systemStops(guest, false)
  if (guest.trouble.neverBoots === true) return
  world.clock.schedule(world.clock.now() + bootMs + (guest.trouble.slowBootMs ?? 0), () => {
    if (guest.run.life !== life || guest.run.status !== 'running') return
    const host = world.hosts.get(guest.node)
    if (host !== undefined) readSeed(host, guest)
    guest.run.bootedAtMs = world.clock.now()
    systemBoots(world, guest)
  })
}

/** `graceful`: the system inside was asked to go down, and what runs in it had the time to end well. */
export function powerOff(world: World, guest: Guest, graceful = false): void {
  if (guest.run.status === 'stopped') return
  systemStops(guest, graceful)
  guest.run = stoppedRun(guest.run.life + 1)
  applyPending(guest)
  noteSeen(world, guest)
}

/** What waited for a restart becomes the configuration. */
export function applyPending(guest: Guest): void {
  if (guest.pending.size === 0 && guest.pendingDelete.size === 0) return
  for (const key of guest.pendingDelete) {
    const value = guest.config.get(key)
    guest.config.delete(key)
    if (value !== undefined) keepVolume(guest, key, value)
  }
  for (const [key, value] of guest.pending) guest.config.set(key, value)
  guest.pending.clear()
  guest.pendingDelete.clear()
  touch(guest)
}

/** A disk or a mount that was taken out stays with the guest. */
function keepVolume(guest: Guest, key: string, value: string): void {
  const volid = value.split(',')[0] ?? ''
  if (!/^(ide|scsi|virtio|sata|mp)\d+$/.test(key) || !volid.includes(':') || /media=cdrom/.test(value)) return
  let number = 0
  while (guest.config.has(`unused${number}`)) number++
  guest.config.set(`unused${number}`, volid)
}

export function agentAnswers(guest: Guest): boolean {
  const { run } = guest
  return (
    run.status === 'running' &&
    !run.paused &&
    run.agentChannel &&
    run.deaf !== true &&
    guest.trouble.agentSilent !== true &&
    (run.system?.agent === true || guest.machine?.system.agentInstalled === true) &&
    run.bootedAtMs !== undefined
  )
}

/** Remembers what the status daemon will find at its next round. */
export function noteSeen(world: World, guest: Guest): void {
  const { seen } = guest
  const nowMs = world.clock.now()
  const entry: Seen = {
    atMs: nowMs,
    status: guest.run.status,
    name: guestName(guest),
    startedAtMs: guest.run.startedAtMs,
  }
  if (seen.length > 0 && seen[seen.length - 1]?.atMs === nowMs) seen.pop()
  seen.push(entry)
  // Older than a round and a cache can no longer be shown; one entry before that is what a late reader still sees.
  const horizonMs = nowMs - world.timing.statusCycleMs - world.timing.statusCacheMs - 1
  while (seen.length > 1 && (seen[1]?.atMs ?? nowMs) < horizonMs) seen.shift()
}

/**
 * What lists show of a guest: the state at the last round of its host's status daemon, read through a short cache.
 * Undefined: the daemon has not seen it yet, so its state and name are unknown.
 */
export function lastSeen(world: World, host: Host, guest: Guest): Seen | undefined {
  const { statusCycleMs, statusCacheMs } = world.timing
  let atMs = world.clock.now()
  if (statusCacheMs > 0) atMs -= atMs % statusCacheMs
  if (statusCycleMs > 0) atMs -= (((atMs - host.statusPhaseMs) % statusCycleMs) + statusCycleMs) % statusCycleMs
  for (let index = guest.seen.length - 1; index >= 0; index--) {
    const entry = guest.seen[index]
    if (entry !== undefined && entry.atMs <= atMs) return entry
  }
  return undefined
}
