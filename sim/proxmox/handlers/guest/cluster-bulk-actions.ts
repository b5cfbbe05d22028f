import { may } from '../../../world/access.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import { failed, forbidden } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { ask, guestsFor, kindOf, namedIn, workersOf } from './bulk-actions.ts'
import { type Turn, type TurnEnded, turnsDown, turnsOf, workThrough } from './bulk-turns.ts'

const AT = '/cluster/bulk-action/guest'

/** The same for many guests wherever they are. One that fails makes the whole fail, after all have had their turn. */
export const clusterBulkActionRoutes: Routes = {
  [`POST ${AT}/start`]: (call) => {
    requireOn(call, 'VM.PowerMgmt')
    return inTask(call, 'start', 'Starting', (work) => ({
      failed: 'Starting',
      turns: turnsOf(guestsFor(call, undefined, false)),
      workers: workersOf(call, 4),
      failure: 'Some guests failed to start: ',
      begin: ({ guest }) => {
        const { status, paused } = guest.run
        if (status === 'running' && guest.type === 'qemu' && !paused) {
          work.warn(`Skipping ${kindOf(guest)} ${guest.vmid}, already running.`)
          return undefined
        }
        const timeout = call.params.timeout
        const given = timeout === undefined || status === 'running' || guest.type === 'lxc' ? {} : { timeout }
        work.log(`Starting ${kindOf(guest)} ${guest.vmid}`)
        return ask(call, guest, status === 'running' ? 'resume' : 'start', given)
      },
    }))
  },
  [`POST ${AT}/shutdown`]: (call) => {
    requireOn(call, 'VM.PowerMgmt')
    return inTask(call, 'shutdown', 'Shutting down', (work) => ({
      failed: 'Stopping',
      turns: turnsDown(guestsFor(call, undefined, false)),
      workers: workersOf(call, 4),
      failure: 'Some guests failed to shutdown ',
      begin: ({ guest, down }) => {
        if (guest.run.status !== 'running') {
          work.warn(`Skipping ${kindOf(guest)} ${guest.vmid}, not running.`)
          return undefined
        }
        if (guest.run.paused && call.params['force-stop'] !== '1') {
          work.warn(`Skipping ${kindOf(guest)} ${guest.vmid}, resume paused VM before shutdown.`)
          return undefined
        }
        const timeout = `${down ?? call.params.timeout ?? 180}`
        work.log(`Shutting down ${kindOf(guest)} ${guest.vmid} (Timeout = ${timeout} seconds)`)
        return ask(call, guest, 'shutdown', { timeout, forceStop: call.params['force-stop'] ?? '1' })
      },
    }))
  },
  [`POST ${AT}/suspend`]: (call) => {
    requireOn(call, 'VM.PowerMgmt')
    const toDisk = call.params['to-disk'] === '1'
    const { statestorage } = call.params
    if (toDisk) requireOn(call, 'VM.Config.Disk')
    const path = `/storage/${statestorage}`
    if (toDisk && statestorage !== undefined && !may(call.world, call.who, path, 'Datastore.AllocateSpace'))
      throw forbidden(`${path}, Datastore.AllocateSpace`)
    // A machine that is not suspended was not stopped, the real text says.
    return inTask(call, 'suspend', 'Suspending', (work) => ({
      failed: 'Stopping',
      turns: turnsDown(guestsFor(call, undefined, false)),
      workers: workersOf(call, 4),
      failure: 'Some guests failed to suspend ',
      begin: ({ guest }) => {
        const why = guest.type !== 'qemu' ? 'only VMs can be suspended' : 'not running.'
        if (guest.type !== 'qemu' || guest.run.status !== 'running') {
          work.warn(guest.type === 'qemu' ? `Skipping VM ${guest.vmid}, ${why}` : `skipping ${guest.vmid}, ${why}`)
          return undefined
        }
        const kept = toDisk && statestorage !== undefined ? { statestorage } : {}
        work.log(`Suspending VM ${guest.vmid}`)
        return ask(call, guest, 'suspend', { todisk: toDisk ? '1' : '0', ...kept })
      },
    }))
  },
  [`POST ${AT}/migrate`]: (call) => {
    requireOn(call, 'VM.Migrate')
    const { target = '', online, 'with-local-disks': disks } = call.params
    return inTask(call, 'migrate', 'Migrating', (work) => ({
      failed: 'Migrating',
      turns: guestsFor(call, undefined, true).map((guest) => ({ guest, order: 0, up: undefined, down: undefined })),
      workers: workersOf(call, 1),
      failure: 'Some guests failed to migrate ',
      begin: ({ guest }) => {
        if (guest.node === target) {
          work.warn(`${kindOf(guest)} ${guest.vmid} already on ${guest.node}, skipping.`)
          return undefined
        }
        const running = online === undefined ? {} : guest.type === 'lxc' ? { restart: online } : { online }
        const local = disks === undefined || guest.type === 'lxc' ? {} : { 'with-local-disks': disks }
        work.log(`Migrating ${kindOf(guest)} ${guest.vmid}`)
        return ask(call, guest, 'migrate', { target, ...running, ...local })
      },
    }))
  },
}

/** On each guest that is named, or on all there are. */
function requireOn(call: Call, privilege: string): void {
  const named = namedIn(call) ?? []
  const paths = named.length === 0 ? ['/'] : named.map((vmid) => `/vms/${vmid}`)
  for (const path of paths) if (!may(call.world, call.who, path, privilege)) throw forbidden(`${path}, ${privilege}`)
}

interface Plan {
  /** What is said to have failed where a guest's task did. */
  readonly failed: string
  readonly turns: readonly Turn[]
  readonly workers: number
  /** Stands before the numbers of those that failed. */
  readonly failure: string
  begin(turn: Turn): string | undefined | Promise<string | undefined>
}

function inTask(call: Call, verb: string, doing: string, plan: (work: Work) => Plan): string {
  const [first] = call.world.hosts.values()
  const host = call.world.hosts.get(param(call, 'node')) ?? first
  if (host === undefined) throw failed('there is no node')
  return startTask(call.world, host, `bulk-${verb}`, '', call.who.id, async (work) => {
    const { turns, workers, failure, failed: deed, begin } = plan(work)
    const named = namedIn(call) ?? []
    const where = verb === 'migrate' ? ` to ${call.params.target}` : ''
    work.log(named.length === 0 ? `${doing} all guests${where}` : `${doing} guests${where}: ${named.join(', ')}`)
    const lost: number[] = []
    const ended: TurnEnded = async ({ guest, up = 0 }, exit) => {
      if (exit === 'OK' || exit?.startsWith('WARNINGS: ')) {
        if (verb !== 'start' || up === 0) return
        work.log(`Waiting for ${up} seconds (startup delay)`)
        return work.pass(up * 1000)
      }
      lost.push(guest.vmid)
      // Of one that was refused the refusal has been told already.
      if (exit !== undefined) work.warn(`${deed} ${kindOf(guest)} ${guest.vmid} failed: ${exit}`)
    }
    await workThrough(work, call, turns, workers, begin, ended, ({ status, message }) =>
      work.warn(`${status} ${message}`),
    )
    if (lost.length > 0) throw new Error(`${failure}${lost.join(', ')}`)
  })
}
