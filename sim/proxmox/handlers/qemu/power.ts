import { between } from '../../../world/chance.ts'
import { agentEnabled } from '../../../world/guest-config.ts'
import { agentAnswers, boots, powerOff, powerOn } from '../../../world/guest-run.ts'
import { PowerLost } from '../../../world/locks.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest, Host, World } from '../../../world/types.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, flag, guestOn, hostOf, missingConfig, param, type Routes, vmidOf } from '../../call.ts'
import { refuseLocked, refuseLockedFor, withConfigLock } from '../guest/config-lock.ts'
import { comingSeed } from '../guest/config-update.ts'
import { byManager } from '../ha/power.ts'
import { haEntry } from '../ha/resources.ts'
import { startGuest } from './start.ts'
import { suspend } from './suspend.ts'

const AT = '/nodes/{node}/qemu/{vmid}/status'

export const qemuPowerRoutes: Routes = {
  [`POST ${AT}/start`]: (call) => {
    forRoot(call, START_FOR_ROOT)
    if (isSet(call, 'targetstorage') && !isSet(call, 'migratedfrom'))
      throw badParameter('targetstorage', 'targetstorage can only by used with migratedfrom.')
    return byManager(call, 'hastart', 'started') ?? inTask(call, 'qmstart', missingConfig, starting(call))
  },
  [`POST ${AT}/stop`]: (call) => {
    forRoot(call, ['skiplock', 'keepActive', 'migratedfrom'])
    const guest = guestOn(call.world, param(call, 'node'), vmidOf(call))
    if (guest !== undefined && haEntry(call.world, guest) !== undefined && flag(call, 'overrule-shutdown'))
      throw badParameter('overrule-shutdown', 'Not applicable for HA resources.')
    return byManager(call, 'hastop', 'stopped') ?? inTask(call, 'qmstop', missingFile, (...at) => stop(call, ...at))
  },
  [`POST ${AT}/shutdown`]: (call) => {
    forRoot(call, ['skiplock', 'keepActive'])
    const paused = isPaused(call)
    if (paused && !flag(call, 'forceStop')) throw failed(PAUSED)
    const deed: Deed = (...at) => (paused ? stop(call, ...at) : shutdown(call, ...at))
    return byManager(call, 'hastop', 'stopped') ?? inTask(call, 'qmshutdown', missingFile, deed)
  },
  [`POST ${AT}/reboot`]: (call) => {
    if (isPaused(call)) throw failed(PAUSED)
    running(call)
    return inTask(call, 'qmreboot', missingFile, (...at) => reboot(call, ...at))
  },
  [`POST ${AT}/reset`]: (call) => {
    forRoot(call, ['skiplock'])
    running(call)
    return inTask(call, 'qmreset', missingFile, (world, host, guest) => reset(call, world, host, guest))
  },
  [`POST ${AT}/suspend`]: (call) => {
    forRoot(call, ['skiplock'])
    return suspend(call, running(call))
  },
  [`POST ${AT}/resume`]: async (call) => {
    forRoot(call, ['skiplock', 'nocheck'])
    await atItsLock(call)
    // What was written to disk goes on with a start.
    const asleep = guestOn(call.world, param(call, 'node'), vmidOf(call))?.config.get('lock') === 'suspended'
    if (asleep) return inTask(call, 'qmresume', missingFile, starting(call))
    running(call)
    return inTask(call, 'qmresume', missingFile, (world, host, guest) => resume(call, world, host, guest))
  },
}

const PAUSED = 'VM is paused - cannot shutdown'
/** What belongs to the other end of a migration. */
const START_FOR_ROOT = [
  'stateuri',
  'skiplock',
  'migratedfrom',
  'migration_type',
  'migration_network',
  'targetstorage',
  'force-cpu',
  'with-conntrack-state',
  'nets-host-mtu',
]

/** How long a shutdown waits for the guest unless told otherwise. */
const SHUTDOWN_TIMEOUT_SECONDS = 60

type Deed = (world: World, host: Host, guest: Guest, work: Work) => void | Promise<void>

/** The task is made in any case; that the guest is missing comes out inside it. */
function inTask(call: Call, type: string, missing: (node: string, vmid: number) => string, deed: Deed): string {
  const { world } = call
  const host = hostOf(call)
  const vmid = vmidOf(call)
  return startTask(world, host, type, `${vmid}`, call.who.id, (work) => {
    const guest = guestOn(world, host.name, vmid)
    if (guest === undefined) throw new Error(missing(host.name, vmid))
    return deed(world, host, guest, work)
  })
}

/** How it was paused is looked up with the lock in hand. Who does not get it goes on as if nothing had been written to disk. */
async function atItsLock(call: Call): Promise<void> {
  try {
    await withConfigLock(call.world, hostOf(call), vmidOf(call), () => {})
  } catch (error) {
    if (error instanceof PowerLost) throw error
  }
}

/** Returns the guest if its process runs. */
function running(call: Call): Guest {
  const vmid = vmidOf(call)
  const guest = guestOn(call.world, param(call, 'node'), vmid)
  if (guest === undefined) throw failed(missingFile(param(call, 'node'), vmid))
  if (guest.run.status !== 'running') throw failed(`VM ${vmid} not running`)
  return guest
}

function isPaused(call: Call): boolean {
  return guestOn(call.world, param(call, 'node'), vmidOf(call))?.run.paused === true
}

function missingFile(node: string, vmid: number): string {
  return `unable to find configuration file for VM ${vmid} on node '${node}'`
}

function isSet(call: Call, name: string): boolean {
  return !/^0?$/.test(call.params[name] ?? '')
}

function forRoot(call: Call, names: readonly string[]): void {
  const taken = call.who.id === 'root@pam' ? undefined : names.find((name) => isSet(call, name))
  if (taken !== undefined) throw badParameter(taken, 'Only root may use this option.')
}

function starting(call: Call): Deed {
  return (world, host, guest, work) => startGuest(world, host, guest, work, flag(call, 'skiplock'))
}

function stop(call: Call, world: World, host: Host, guest: Guest, work: Work): Promise<void> {
  if (flag(call, 'overrule-shutdown'))
    for (const task of host.runningTasks)
      if (task.type === 'qmshutdown' && task.id === `${guest.vmid}`) task.interrupted = true
  return withConfigLock(world, host, guest.vmid, async () => {
    if (guest.run.status === 'stopped') return
    refuseLockedFor(call, guest)
    await work.pass(world.timing.shortTaskMs)
    tellSeed(guest, work)
    powerOff(world, guest)
  })
}

/** What waited for the end of the process is put in place with it, and a drive for cloud-init is filled. */
function tellSeed(guest: Guest, work: Work): void {
  if (comingSeed(guest)) work.log('generating cloud-init ISO')
}

/** Requires that the agent answers before the request goes through it. */
function tellAgent(guest: Guest, work: Work): void {
  if (!agentEnabled(guest.config) || agentAnswers(guest)) return
  const ping = `VM ${guest.vmid} qga command 'guest-ping' failed - got timeout`
  work.log(`QEMU Guest Agent is not running - ${ping}`)
}

/** Asks the system inside to go down. One that is not up yet, or not there, does not hear it. */
async function goesDown(call: Call, world: World, guest: Guest, work: Work): Promise<boolean> {
  const timeoutMs = 1000 * Number(call.params.timeout ?? SHUTDOWN_TIMEOUT_SECONDS)
  const hears = guest.run.system?.acpi === true && guest.run.bootedAtMs !== undefined && !guest.run.paused
  const takesMs = between(world.random, world.timing.shutdownMs)
  if (!hears || takesMs > timeoutMs) {
    if (hears) {
      const { life } = guest.run
      world.clock.schedule(world.clock.now() + takesMs, () => {
        if (guest.run.life === life) powerOff(world, guest, true)
      })
    }
    await work.pass(timeoutMs)
    return guest.run.status === 'stopped'
  }
  const { life } = guest.run
  await work.pass(takesMs)
  if (guest.run.life === life) powerOff(world, guest, true)
  return true
}

function shutdown(call: Call, world: World, host: Host, guest: Guest, work: Work): Promise<void> {
  return withConfigLock(world, host, guest.vmid, async () => {
    if (guest.run.status === 'stopped') return
    refuseLockedFor(call, guest)
    tellAgent(guest, work)
    const coming = comingSeed(guest)
    if (await goesDown(call, world, guest, work)) {
      if (coming) work.log('generating cloud-init ISO')
      return
    }
    if (!flag(call, 'forceStop')) throw new Error('VM quit/powerdown failed - got timeout')
    work.log('VM still running - terminating now with SIGTERM')
    tellSeed(guest, work)
    powerOff(world, guest)
  })
}

/** Down and up again: what waited for a restart takes effect. */
function reboot(call: Call, world: World, host: Host, guest: Guest, work: Work): Promise<void> {
  return withConfigLock(world, host, guest.vmid, async () => {
    refuseLocked(guest)
    tellAgent(guest, work)
    if (!(await goesDown(call, world, guest, work))) throw new Error('VM quit/powerdown failed - got timeout')
    await work.pass(between(world.random, world.timing.startMs))
    powerOn(world, host, guest)
  })
}

/** The button on the case: the same process goes on, so nothing that waits for a restart takes effect. */
async function reset(call: Call, world: World, host: Host, guest: Guest): Promise<void> {
  await withConfigLock(world, host, guest.vmid, () => {
    refuseLockedFor(call, guest)
    guest.run.life += 1
    if (guest.run.system !== undefined) boots(world, guest, between(world.random, world.timing.bootMs))
  })
}

function resume(call: Call, world: World, host: Host, guest: Guest): Promise<void> {
  return withConfigLock(world, host, guest.vmid, () => {
    if (!guest.run.paused) return
    refuseLockedFor(call, guest, 'backup')
    guest.run.paused = false
  })
}
