import { between } from '../../../world/chance.ts'
import { boots, powerOff, powerOn } from '../../../world/guest-run.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest, Host, World } from '../../../world/types.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, flag, guestOn, hostOf, missingConfig, param, type Routes, vmidOf } from '../../call.ts'
import { refuseLocked, withConfigLock } from '../guest/config-lock.ts'
import { byManager } from '../ha/power.ts'
import { startGuest } from './start.ts'

const AT = '/nodes/{node}/qemu/{vmid}/status'

export const qemuPowerRoutes: Routes = {
  [`POST ${AT}/start`]: (call) =>
    byManager(call, 'hastart', 'started') ?? inTask(call, 'qmstart', missingConfig, startGuest),
  [`POST ${AT}/stop`]: (call) => byManager(call, 'hastop', 'stopped') ?? inTask(call, 'qmstop', missingFile, stop),
  [`POST ${AT}/shutdown`]: (call) =>
    byManager(call, 'hastop', 'stopped') ?? inTask(call, 'qmshutdown', missingFile, (...at) => shutdown(call, ...at)),
  [`POST ${AT}/reboot`]: (call) => inTaskIfRunning(call, 'qmreboot', (...at) => reboot(call, ...at)),
  [`POST ${AT}/reset`]: (call) => inTaskIfRunning(call, 'qmreset', reset),
  [`POST ${AT}/suspend`]: (call) =>
    inTaskIfRunning(call, flag(call, 'todisk') ? 'qmsuspend' : 'qmpause', setPaused(true)),
  [`POST ${AT}/resume`]: (call) => inTaskIfRunning(call, 'qmresume', setPaused(false)),
}

/** How long a shutdown waits for the guest unless told otherwise. */
const SHUTDOWN_TIMEOUT_SECONDS = 60

type Deed = (world: World, host: Host, guest: Guest, work: Work) => void | Promise<void>

/** The task is made in any case; that the guest is missing comes out inside it. */
function inTask(call: Call, type: string, missing: (node: string, vmid: number) => string, deed: Deed): string {
  const { world } = call
  const host = hostOf(call)
  const vmid = vmidOf(call)
  refuseSkipLock(call)
  return startTask(world, host, type, `${vmid}`, call.who.id, (work) => {
    const guest = guestOn(world, host.name, vmid)
    if (guest === undefined) throw new Error(missing(host.name, vmid))
    return deed(world, host, guest, work)
  })
}

function inTaskIfRunning(call: Call, type: string, deed: Deed): string {
  const vmid = vmidOf(call)
  const guest = guestOn(call.world, param(call, 'node'), vmid)
  if (guest === undefined) throw failed(missingFile(param(call, 'node'), vmid))
  if (guest.run.status !== 'running') throw failed(`VM ${vmid} not running`)
  return inTask(call, type, missingFile, deed)
}

function missingFile(node: string, vmid: number): string {
  return `unable to find configuration file for VM ${vmid} on node '${node}'`
}

function refuseSkipLock(call: Call): void {
  if (flag(call, 'skiplock') && call.who.id !== 'root@pam')
    throw badParameter('skiplock', 'Only root may use this option.')
}

function stop(world: World, host: Host, guest: Guest, work: Work): Promise<void> {
  return withConfigLock(world, host, guest.vmid, async () => {
    if (guest.run.status === 'stopped') return
    refuseLocked(guest)
    await work.pass(world.timing.shortTaskMs)
    powerOff(world, guest)
  })
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
    refuseLocked(guest)
    if (await goesDown(call, world, guest, work)) return
    if (!flag(call, 'forceStop')) throw new Error('VM quit/powerdown failed - got timeout')
    work.log('VM quit/powerdown failed - terminating now with SIGTERM')
    powerOff(world, guest)
  })
}

/** Down and up again: what waited for a restart takes effect. */
function reboot(call: Call, world: World, host: Host, guest: Guest, work: Work): Promise<void> {
  return withConfigLock(world, host, guest.vmid, async () => {
    refuseLocked(guest)
    if (!(await goesDown(call, world, guest, work))) throw new Error('VM quit/powerdown failed - got timeout')
    await work.pass(between(world.random, world.timing.startMs))
    powerOn(world, host, guest)
  })
}

/** The button on the case: the same process goes on, so nothing that waits for a restart takes effect. */
async function reset(world: World, host: Host, guest: Guest): Promise<void> {
  await withConfigLock(world, host, guest.vmid, () => {
    refuseLocked(guest)
    guest.run.life += 1
    if (guest.run.system !== undefined) boots(world, guest, between(world.random, world.timing.bootMs))
  })
}

function setPaused(paused: boolean): Deed {
  return async (world, host, guest) => {
    await withConfigLock(world, host, guest.vmid, () => {
      if (guest.config.get('lock') !== 'backup') refuseLocked(guest)
      guest.run.paused = paused
    })
  }
}
