import { powerOff, powerOn } from '../../../world/guest-run.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest, Host, World } from '../../../world/types.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, flag, guestOf, guestOn, hostOf, missingConfig, param, type Routes, vmidOf } from '../../call.ts'
import { refuseLocked } from '../guest/config-lock.ts'

const AT = '/nodes/{node}/lxc/{vmid}/status'

type Deed = (world: World, host: Host, guest: Guest, work: Work) => void | Promise<void>

export const lxcPowerRoutes: Routes = {
  [`GET ${AT}`]: () => ['current', 'start', 'stop', 'shutdown', 'reboot', 'migrate'].map((subdir) => ({ subdir })),
  [`POST ${AT}/start`]: (call) => {
    refuseSkipLock(call)
    if (guestOn(call.world, param(call, 'node'), vmidOf(call), 'lxc')?.run.status === 'running')
      throw failed(`CT ${vmidOf(call)} already running`)
    return inTask(call, 'vzstart', startContainer)
  },
  [`POST ${AT}/stop`]: (call) => ifRunning(call, 'vzstop', (world, _, guest) => powerOff(world, guest)),
  [`POST ${AT}/shutdown`]: (call) => ifRunning(call, 'vzshutdown', (world, _, guest) => powerOff(world, guest)),
  [`POST ${AT}/reboot`]: (call) =>
    ifRunning(
      call,
      'vzreboot',
      (world, host, guest) => {
        powerOff(world, guest)
        powerOn(world, host, guest, CONTAINER_BOOT_MS)
      },
      'VM',
    ),
  [`POST ${AT}/suspend`]: (call) => ifRunning(call, 'vzsuspend', cannotCheckpoint),
  [`POST ${AT}/resume`]: (call) => {
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
  throw new Error(`command 'lxc-checkpoint -n ${guest.vmid} -s -D /var/lib/vz/dump' failed: exit code 1`)
}

/** Starts a container, or says why it cannot be started. Runs inside a task. */
export async function startContainer(world: World, host: Host, guest: Guest, work: Work): Promise<void> {
  if (guest.config.get('template') === '1') throw new Error("you can't start a CT if it's a template")
  refuseLocked(guest)
  if (guest.run.status === 'running') throw new Error(`CT ${guest.vmid} already running`)
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
  refuseSkipLock(call)
  return startTask(world, host, type, `${vmid}`, call.who.id, async (work) => {
    const guest = guestOn(world, host.name, vmid, 'lxc')
    if (guest === undefined) throw new Error(missingConfig(host.name, vmid, 'lxc'))
    refuseLocked(guest)
    await work.pass(world.timing.shortTaskMs)
    await deed(world, host, guest, work)
  })
}

function refuseSkipLock(call: Call): void {
  if (flag(call, 'skiplock') && call.who.id !== 'root@pam')
    throw badParameter('skiplock', 'Only root may use this option.')
}

function ifRunning(call: Call, type: string, deed: Deed, what = 'CT'): string {
  const guest = guestOn(call.world, param(call, 'node'), vmidOf(call), 'lxc')
  if (guest?.run.status !== 'running') throw failed(`${what} ${vmidOf(call)} not running`)
  return inTask(call, type, deed)
}

/** Only a container that runs has any. */
function interfaces(call: Call): unknown {
  const guest = guestOn(call.world, param(call, 'node'), vmidOf(call), 'lxc')
  if (guest?.run.status !== 'running') return null
  const cards = [...guestOf(call, 'lxc').config].filter(([key]) => /^net\d+$/.test(key))
  return [
    { name: 'lo', hwaddr: '00:00:00:00:00:00', inet: '127.0.0.1/8', inet6: '::1/128' },
    ...cards.map(([key, value]) => {
      const number = Number(key.slice(3))
      const ip = /(?:^|,)ip=([^,]+)/.exec(value)?.[1]
      const given = ip?.includes('/') ? ip : `192.168.${4 + number}.${2 + (guest.vmid % 250)}/24`
      return {
        name: /(?:^|,)name=([^,]+)/.exec(value)?.[1] ?? `eth${number}`,
        hwaddr: (/hwaddr=([^,]+)/.exec(value)?.[1] ?? '').toLowerCase(),
        inet: given,
      }
    }),
  ]
}
