import { powerOff, powerOn } from '../../../world/guest-run.ts'
import { parseProperties } from '../../../world/properties.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest, Host, World } from '../../../world/types.ts'
import { findVolume, parseVolumeId } from '../../../world/volumes.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, flag, guestOf, guestOn, hostOf, missingConfig, param, type Routes, vmidOf } from '../../call.ts'
import { refuseLocked, refuseLockedFor, refuseSkipLock, withConfigLock } from '../guest/config-lock.ts'
import { byManager } from '../ha/power.ts'
import { haEntry } from '../ha/resources.ts'
import { isMount } from './mounts.ts'

const AT = '/nodes/{node}/lxc/{vmid}/status'

type Deed = (world: World, host: Host, guest: Guest, work: Work) => void | Promise<void>

export const lxcPowerRoutes: Routes = {
  [`GET ${AT}`]: (call) => {
    guestOf(call, 'lxc')
    return ['current', 'start', 'stop', 'shutdown', 'reboot', 'migrate'].map((subdir) => ({ subdir }))
  },
  [`POST ${AT}/start`]: (call) => {
    refuseSkipLock(call)
    refuseRunning(call)
    return (
      byManager(call, 'hastart', 'started', 'lxc') ??
      inTask(call, 'vzstart', (...at) => startContainer(...at, flag(call, 'skiplock')))
    )
  },
  [`POST ${AT}/stop`]: (call) => {
    refuseSkipLock(call)
    const guest = running(call)
    if (haEntry(call.world, guest) !== undefined && flag(call, 'overrule-shutdown'))
      throw badParameter('overrule-shutdown', 'Not applicable for HA resources.')
    const stop: Deed = (world, _, one) => {
      refuseLockedFor(call, one, 'mounted')
      powerOff(world, one)
    }
    return byManager(call, 'hastop', 'stopped', 'lxc') ?? inTask(call, 'vzstop', stop)
  },
  [`POST ${AT}/shutdown`]: (call) => {
    running(call)
    const shutdown: Deed = (world, _, guest) => {
      refuseLocked(guest)
      powerOff(world, guest)
    }
    return byManager(call, 'hastop', 'stopped', 'lxc') ?? inTask(call, 'vzshutdown', shutdown)
  },
  [`POST ${AT}/reboot`]: (call) => {
    running(call, 'VM')
    return inTask(call, 'vzreboot', (world, host, guest) => {
      powerOff(world, guest)
      powerOn(world, host, guest, CONTAINER_BOOT_MS)
    })
  },
  [`POST ${AT}/suspend`]: (call) => {
    running(call)
    return inTask(call, 'vzsuspend', cannotCheckpoint)
  },
  [`POST ${AT}/resume`]: (call) => {
    refuseRunning(call)
    const vmid = vmidOf(call)
    return startTask(call.world, hostOf(call), 'vzresume', `${vmid}`, call.who.id, () => {
      throw new Error(`command 'lxc-checkpoint -n ${vmid} -r --foreground -D /var/lib/vz/dump' failed: exit code 1`)
    })
  },
  'GET /nodes/{node}/lxc/{vmid}/interfaces': interfaces,
}

const CONTAINER_BOOT_MS = 1000

/** Memory of a container cannot be written out on any host that people have. */
function cannotCheckpoint(_world: World, _host: Host, guest: Guest): never {
  refuseLocked(guest)
  throw new Error(`command 'lxc-checkpoint -n ${guest.vmid} -s -D /var/lib/vz/dump' failed: exit code 1`)
}

/** Starts a container, or says why it cannot be started. Runs inside a task. */
export async function startContainer(
  world: World,
  host: Host,
  guest: Guest,
  work: Work,
  skipLock = false,
): Promise<void> {
  if (guest.config.get('template') === '1') throw new Error("you can't start a CT if it's a template")
  if (!skipLock) refuseLocked(guest, 'mounted')
  if (guest.run.status === 'running') throw new Error(`CT ${guest.vmid} already running`)
  for (const [key, value] of guest.config) {
    const volid = parseProperties(value, 'volume').main
    if (isMount(key) && parseVolumeId(volid) !== undefined && findVolume(host, volid) === undefined)
      throw new Error(`volume '${volid}' does not exist`)
  }
  await work.pass(world.timing.shortTaskMs)
  // Where the recordings were made, no container could be started.
  if (!world.statusDaemon) throw new Error(`startup for container '${guest.vmid}' failed`)
  powerOn(world, host, guest, CONTAINER_BOOT_MS)
}

/** The task is made in any case; that the container is missing comes out inside it. */
function inTask(call: Call, type: string, deed: Deed): string {
  const { world } = call
  const host = hostOf(call)
  const vmid = vmidOf(call)
  return startTask(world, host, type, `${vmid}`, call.who.id, (work) =>
    withConfigLock(world, host, vmid, async () => {
      const guest = guestOn(world, host.name, vmid, 'lxc')
      if (guest === undefined) throw new Error(missingConfig(host.name, vmid, 'lxc'))
      await work.pass(world.timing.shortTaskMs)
      await deed(world, host, guest, work)
    }),
  )
}

function refuseRunning(call: Call): void {
  if (guestOn(call.world, param(call, 'node'), vmidOf(call), 'lxc')?.run.status === 'running')
    throw failed(`CT ${vmidOf(call)} already running`)
}

function running(call: Call, what = 'CT'): Guest {
  const guest = guestOn(call.world, param(call, 'node'), vmidOf(call), 'lxc')
  if (guest?.run.status !== 'running') throw failed(`${what} ${vmidOf(call)} not running`)
  return guest
}

/** Only a container that runs has any. */
function interfaces(call: Call): unknown {
  const guest = guestOn(call.world, param(call, 'node'), vmidOf(call), 'lxc')
  if (guest?.run.status !== 'running') return null
  const cards = [...guestOf(call, 'lxc').config].filter(([key]) => /^net\d+$/.test(key))
  return [
    shownInterface('lo', '00:00:00:00:00:00', { inet: '127.0.0.1/8', inet6: '::1/128' }),
    ...cards.map(([key, value]) => {
      const number = Number(key.slice(3))
      const ip = /(?:^|,)ip=([^,]+)/.exec(value)?.[1]
      const given = ip?.includes('/') ? ip : `192.168.${4 + number}.${2 + (guest.vmid % 250)}/24`
      const name = /(?:^|,)name=([^,]+)/.exec(value)?.[1] ?? `eth${number}`
      return shownInterface(name, (/hwaddr=([^,]+)/.exec(value)?.[1] ?? '').toLowerCase(), { inet: given })
    }),
  ]
}

/** Every address is told twice: in the old words and in those of the guest agent. */
function shownInterface(name: string, hwaddr: string, addresses: Readonly<Record<string, string>>): unknown {
  return {
    name,
    hwaddr,
    'hardware-address': hwaddr,
    ...addresses,
    'ip-addresses': Object.entries(addresses).map(([family, address]) => {
      const [ip, prefix] = address.split('/')
      return { 'ip-address-type': family, 'ip-address': ip, prefix: Number(prefix) }
    }),
  }
}
