import { guestName, touch } from './world/guest-config.ts'
import { noteSeen, powerOff, powerOn } from './world/guest-run.ts'
import { addGuest, addRunningGuest } from './world/presets.ts'
import type { Guest, Host, World } from './world/types.ts'
import { carryVolumes, freeVolume, volumesOfGuest } from './world/volumes.ts'

/** What a person at the machines, or the world itself, does to a datacentre. Never used by the product. */
export interface Experiments {
  /** Everything there is, as plain data. */
  state(): Record<string, unknown>
  /** Merges into the configuration; `status`, `paused` and `node` are the guest's state. `null` takes a key away. */
  patchGuest(vmid: number, patch: Readonly<Record<string, unknown>>): void
  /** Makes a guest as the web interface does. Disks are written `storage:GiB`. */
  addGuest(vmid: number, node: string, config: Readonly<Record<string, string>>, running?: boolean): void
  removeGuest(vmid: number): void
  hostPower(name: string, power: 'on' | 'off'): void
  /** Makes its processors this busy from now on, 0 to 1. */
  hostLoad(name: string, load: number): void
  /** Takes VM.Audit from an identity for some guests. Undefined gives it back. */
  hideGuests(identity: string, hidden: 'all' | ((vmid: number) => boolean) | undefined): void
  /** Makes a token valid or not, from one call to the next. */
  setToken(id: string, change: { readonly secret?: string; readonly expireSeconds?: number }): void
  setQuorum(quorate: boolean): void
  /** Makes a storage this large. Less than what lies on it makes it full. */
  setStorageSize(id: string, totalBytes: number): void
}

export function createExperiments(world: World): Experiments {
  return {
    state: () => stateOf(world),
    patchGuest: (vmid, patch) => patchGuest(world, needGuest(world, vmid), patch),
    addGuest(vmid, node, config, running = false) {
      if (world.guests.has(vmid)) throw new Error(`there is a guest ${vmid} already`)
      const host = needHost(world, node)
      if (running) addRunningGuest(world, host, vmid, config)
      else addGuest(world, host, vmid, config)
    },
    removeGuest(vmid) {
      const guest = needGuest(world, vmid)
      const host = needHost(world, guest.node)
      powerOff(world, guest)
      for (const volid of volumesOfGuest(host, vmid)) freeVolume(host, volid)
      for (const pool of world.pools.values()) pool.guests.delete(vmid)
      world.guests.delete(vmid)
    },
    hostLoad(name, load) {
      needHost(world, name).load = { value: load, sinceMs: world.clock.now() }
    },
    hostPower(name, power) {
      const host = needHost(world, name)
      if (host.power === power) return
      if (power === 'off') losePower(world, host)
      else gainPower(world, host)
    },
    hideGuests(identity, hidden) {
      if (hidden === undefined) world.access.hidden.delete(identity)
      else world.access.hidden.set(identity, hidden === 'all' ? () => true : hidden)
    },
    setToken(id, change) {
      const [user = '', name = ''] = id.split('!')
      const token = world.access.users.get(user)?.tokens.get(name)
      if (token === undefined) throw new Error(`there is no token ${id}`)
      if (change.secret !== undefined) token.secret = change.secret
      if (change.expireSeconds !== undefined) token.expireSeconds = change.expireSeconds
    },
    setQuorum(quorate) {
      world.quorate = quorate
    },
    setStorageSize(id, totalBytes) {
      const entry = world.storages.get(id)
      if (entry === undefined) throw new Error(`there is no storage ${id}`)
      entry.totalBytes = totalBytes
    },
  }
}

function patchGuest(world: World, guest: Guest, patch: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(patch)) {
    if (key === 'status') {
      if (value === 'running' && guest.run.status === 'stopped') powerOn(world, needHost(world, guest.node), guest)
      if (value === 'stopped') powerOff(world, guest)
    } else if (key === 'paused') guest.run.paused = value === true
    else if (key === 'node') {
      const target = needHost(world, configText(value))
      carryVolumes(world, needHost(world, guest.node), target, guest.vmid)
      guest.node = target.name
    } else {
      if (value === null) guest.config.delete(key)
      else guest.config.set(key, configText(value))
      // The last word counts: what waited for a restart must not come back over it.
      guest.pending.delete(key)
      guest.pendingDelete.delete(key)
    }
  }
  touch(guest)
  noteSeen(world, guest)
}

function configText(value: unknown): string {
  if (typeof value === 'boolean') return value ? '1' : '0'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** All at once and without a trace: processes, locks and tasks are gone, what was written stays as it was. */
function losePower(world: World, host: Host): void {
  host.power = 'off'
  host.life += 1
  host.offSinceMs = world.clock.now()
  host.locks.clear()
  for (const task of host.runningTasks) {
    task.exit = 'unexpected status'
    task.endSeconds = Math.floor(world.clock.now() / 1000)
  }
  host.runningTasks.clear()
  for (const guest of world.guests.values()) if (guest.node === host.name) powerOff(world, guest)
}

function gainPower(world: World, host: Host): void {
  host.power = 'on'
  host.offSinceMs = undefined
  host.bootedAtMs = world.clock.now()
  const { life } = host
  for (const guest of world.guests.values()) {
    if (guest.node !== host.name || guest.config.get('onboot') !== '1' || guest.config.has('lock')) continue
    world.clock.schedule(world.clock.now() + world.timing.startMs[1], () => {
      if (host.life === life && guest.run.status === 'stopped' && world.guests.get(guest.vmid) === guest)
        powerOn(world, host, guest)
    })
  }
}

function needGuest(world: World, vmid: number): Guest {
  const guest = world.guests.get(vmid)
  if (guest === undefined) throw new Error(`there is no guest ${vmid}`)
  return guest
}

function needHost(world: World, name: string): Host {
  const host = world.hosts.get(name)
  if (host === undefined) throw new Error(`there is no host ${name}`)
  return host
}

function stateOf(world: World): Record<string, unknown> {
  return {
    nowMs: world.clock.now(),
    quorate: world.quorate,
    hosts: [...world.hosts.values()].map((host) => ({
      name: host.name,
      power: host.power,
      address: host.address,
      volumes: Object.fromEntries(
        [...host.volumes].map(([storage, volumes]) => [
          storage,
          [...volumes.values()].map(({ name, content, format, sizeBytes, vmid }) => ({
            name,
            content,
            format,
            sizeBytes,
            vmid,
          })),
        ]),
      ),
      locks: [...host.locks.keys()],
      runningTasks: [...host.runningTasks].map((task) => task.upid),
      tasks: host.tasks.map(({ upid, exit, log }) => ({ upid, exit, log })),
    })),
    storages: [...world.storages.values()],
    guests: [...world.guests.values()].map((guest) => ({
      vmid: guest.vmid,
      type: guest.type,
      node: guest.node,
      name: guestName(guest),
      status: guest.run.status,
      paused: guest.run.paused,
      booted: guest.run.bootedAtMs !== undefined,
      config: Object.fromEntries(guest.config),
      pending: Object.fromEntries(guest.pending),
      pendingDelete: [...guest.pendingDelete],
      snapshots: [...guest.snapshots.keys()],
    })),
    pools: [...world.pools.values()].map((pool) => ({
      id: pool.id,
      guests: [...pool.guests],
      storages: [...pool.storages],
    })),
    users: [...world.access.users.keys()],
  }
}
