import { may } from '../../../world/access.ts'
import { BACKUP_LOCK, holding } from '../../../world/locks.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest, Host } from '../../../world/types.ts'
import { ApiError, badParameter, failed, forbidden } from '../../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../../call.ts'
import { haEntry } from '../ha/resources.ts'
import { shelf, textOf } from '../shelf.ts'
import { type Turn, turnsOf, workThrough } from './bulk-turns.ts'
import { unmark } from './config-lock.ts'

/** The same for many guests at once: each gets a task of its own, as if somebody had asked for it alone. */
export const bulkActionRoutes: Routes = {
  'POST /nodes/{node}/startall': (call) => {
    requirePower(call, ['VM.PowerMgmt'])
    const force = call.params.force === '1'
    return onNode(call, 'startall', async (work, guests) => {
      await forgetBackups(call, work)
      const chosen = guests.filter(({ config }) => force || config.get('onboot') === '1')
      await workThrough(work, call, turnsOf(chosen), workersOf(call), async (turn) => {
        if (turn.guest.run.status === 'running') return undefined
        work.log(`Starting ${kindOf(turn.guest)} ${turn.guest.vmid}`)
        const upid = await ask(call, turn.guest, 'start', {})
        await work.pass(1000 * (turn.up ?? (turn.guest.type === 'qemu' ? 3 : 0)))
        return upid
      })
    })
  },
  'POST /nodes/{node}/stopall': (call) => {
    requirePower(call, ['VM.PowerMgmt'])
    return onNode(call, 'stopall', (work, guests) =>
      workThrough(work, call, turnsOf(guests).reverse(), workersOf(call), ({ guest, down }) => {
        if (guest.run.status !== 'running') return undefined
        const timeout = `${down ?? call.params.timeout ?? 180}`
        work.log(`Stopping ${kindOf(guest)} ${guest.vmid} (timeout = ${timeout} seconds)`)
        return ask(call, guest, 'shutdown', { timeout, forceStop: call.params['force-stop'] ?? '1' })
      }),
    )
  },
  'POST /nodes/{node}/suspendall': (call) => {
    requirePower(call, ['VM.PowerMgmt', 'VM.Config.Disk'])
    return onNode(call, 'suspendall', (work, guests) =>
      workThrough(work, call, turnsOf(guests).reverse(), workersOf(call), ({ guest }) => {
        if (guest.type !== 'qemu') work.warn(`skipping ${guest.vmid}, only VMs can be suspended`)
        if (guest.type !== 'qemu' || guest.run.status !== 'running') return undefined
        work.log(`Suspending VM ${guest.vmid}`)
        return ask(call, guest, 'suspend', { todisk: '1' })
      }),
    )
  },
  'POST /nodes/{node}/migrateall': migrateAll,
  'GET /cluster/bulk-action': () => [{ name: 'guest' }],
  'GET /cluster/bulk-action/guest': () => ['start', 'shutdown', 'migrate', 'suspend'].map((name) => ({ name })),
}

/** Those who may not do it everywhere may do it to guests that they name. */
function requirePower(call: Call, everywhere: readonly string[]): void {
  if (everywhere.every((privilege) => may(call.world, call.who, '/', privilege))) return
  const [privilege = ''] = everywhere
  const named = namedIn(call) ?? []
  if (named.length === 0) throw forbidden(`/, ${everywhere.join(' && ')}`)
  for (const vmid of named)
    if (!may(call.world, call.who, `/vms/${vmid}`, privilege)) throw forbidden(`/vms/${vmid}, ${privilege}`)
}

export function namedIn(call: Call): string[] | undefined {
  return call.params.vms?.split(/[,;\s]+/).filter((word) => word !== '')
}

/** Guests of a host, or of all. Those of the HA manager are left to it, unless they are named. */
export function guestsFor(call: Call, host: Host | undefined, withTemplates: boolean): Guest[] {
  const named = namedIn(call)
  return [...call.world.guests.values()]
    .filter(({ node }) => host === undefined || node === host.name)
    .filter(({ vmid }) => named === undefined || named.includes(String(vmid)))
    .filter(({ config }) => withTemplates || config.get('template') !== '1')
    .filter((guest) => withTemplates || named !== undefined || haEntry(call.world, guest) === undefined)
}

export function kindOf({ type }: Guest): 'VM' | 'CT' {
  return type === 'qemu' ? 'VM' : 'CT'
}

/** Asks for one thing to be done to one guest, in the name of the one who asked for all. */
export async function ask(call: Call, guest: Guest, verb: string, params: Readonly<Record<string, string>>) {
  const at = `/nodes/${guest.node}/${guest.type}/${guest.vmid}`
  return textOf(await call.perform('POST', verb === 'migrate' ? `${at}/migrate` : `${at}/status/${verb}`, params))
}

export function workersOf(call: Call, unset = Math.min(Math.max(1, hostCpus(call) - 1), 8)): number {
  const given = call.params['max-workers'] ?? call.params.maxworkers
  const kept = textOf(shelf(call.world, 'options').get('datacenter')?.max_workers)
  return Number(given ?? (kept === '' ? unset : kept))
}

function hostCpus(call: Call): number {
  const [first] = call.world.hosts.values()
  return call.world.hosts.get(param(call, 'node'))?.cpus ?? first?.cpus ?? 1
}

/**
 * A host that starts its guests runs no backup of them: marks that one left are taken away, on every guest of the host
 * and not only on those that are meant. If a job does run, the marks stay.
 */
async function forgetBackups(call: Call, work: Work): Promise<void> {
  const host = hostOf(call)
  const marked = () =>
    [...call.world.guests.values()].filter(
      ({ node, config }) => node === host.name && config.get('template') !== '1' && config.get('lock') === 'backup',
    )
  const busy = () => failed(`can't lock file '${BACKUP_LOCK}' - got timeout`)
  const forget = async () => {
    for (const guest of marked()) {
      await unmark(call.world, host, guest)
      work.log(`removed left over backup lock from '${guest.vmid}'!`)
    }
  }
  try {
    await holding(call.world, host, BACKUP_LOCK, busy, forget)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    work.log(error.message)
  }
}

function onNode(
  call: Call,
  type: string,
  deed: (work: Work, guests: readonly Guest[]) => void | Promise<void>,
): string {
  const host = hostOf(call)
  return startTask(call.world, host, type, '', call.who.id, (work) => deed(work, guestsFor(call, host, false)))
}

function migrateAll(call: Call): string {
  const host = hostOf(call)
  requirePower(call, ['VM.Migrate'])
  const target = param(call, 'target')
  if (target === host.name) throw badParameter('target', 'target is local node.')
  if (!call.world.hosts.has(target)) throw failed(`no such cluster node '${target}'`)
  const workers = workersOf(call, 0)
  if (workers === 0) throw failed("either 'max-workers' parameter or max_workers in datacenter.cfg must be set!")
  return startTask(call.world, host, 'migrateall', '', call.who.id, async (work) => {
    const guests = guestsFor(call, host, true)
    if (guests.length === 0) {
      work.log('no virtual guests matched, nothing to do..')
      return
    }
    let begun = 0
    const turns = guests.map((guest): Turn => ({ guest, order: 0, up: undefined, down: undefined }))
    await workThrough(work, call, turns, workers, async ({ guest }) => {
      work.log(`Migrating ${kindOf(guest)} ${guest.vmid}`)
      const running = guest.run.status === 'running' ? '1' : '0'
      const disks = call.params['with-local-disks']
      const upid = await ask(call, guest, 'migrate', {
        target,
        ...(guest.type === 'lxc' ? { restart: running } : { online: running }),
        ...(disks === undefined || guest.type === 'lxc' ? {} : { 'with-local-disks': disks }),
      })
      begun += 1
      return upid
    })
    if (begun === 0) throw new Error('no migrations worker started...')
    work.log(`All jobs finished, used ${begun} workers in total.`)
  })
}
