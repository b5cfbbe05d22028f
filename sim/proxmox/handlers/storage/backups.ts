import { guestName, maxDiskBytes } from '../../../world/guest-config.ts'
import { BACKUP_LOCK, holding, PowerLost } from '../../../world/locks.ts'
import type { StorageEntry } from '../../../world/parts.ts'
import { finishTask, Interrupted, startTask, type Work } from '../../../world/tasks.ts'
import type { Guest, Host } from '../../../world/types.ts'
import { addVolume, filePath, unusable } from '../../../world/volumes.ts'
import { badParameter, failed, forbidden } from '../../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../../call.ts'
import { clusterName } from '../cluster/cluster-name.ts'
import { underMark } from '../guest/config-lock.ts'
import { requireRight } from '../guest/option-rights.ts'
import { checkSelection, mayBackUp, requireBackupRights } from './backup-jobs.ts'
import { refuseOneMore, removeOld } from './backup-limits.ts'
import { rateUnder } from './bandwidth.ts'

export const backupRoutes: Routes = {
  'POST /nodes/{node}/vzdump': dump,
}

const EXTENSIONS: Readonly<Record<string, string>> = { zstd: '.zst', gzip: '.gz', '1': '.lzo', lzo: '.lzo' }

function dump(call: Call): string {
  const { world, params } = call
  const host = hostOf(call)
  const ids = (params.vmid ?? '').split(/[,;\s]+/).filter((id) => id !== '')
  if (params.stdout === '1') throw badParameter('stdout', 'option is only allowed on the command line interface.')
  requireBackupRights(call)
  if (params['prune-backups'] !== undefined)
    requireRight(call, `/storage/${params.storage ?? 'local'}`, 'Datastore.Allocate')
  checkSelection({ ...params, all: Number(params.all ?? 0) }, badParameter)
  const pool = params.pool === undefined ? undefined : world.pools.get(params.pool)
  const all = params.all === '1' || (params.exclude !== undefined && params.pool === undefined)
  if (ids.length === 0 && !all && params.pool === undefined && params.stop !== '1')
    throw badParameter('vmid', 'property is missing')
  if (params.stop === '1') requireRight(call, `/nodes/${host.name}`, 'Sys.Modify')
  if (params.pool !== undefined && pool === undefined) throw failed(`pool '${params.pool}' does not exist`)
  const excluded = new Set((params.exclude ?? '').split(/[,;\s]+/).map(Number))
  const wanted = [...(all ? world.guests.keys() : ids.map(Number)), ...(pool?.guests ?? [])].filter(
    (vmid) => !excluded.has(vmid),
  )
  const isHere = (vmid: number) => (world.guests.get(vmid)?.node ?? host.name) === host.name
  // Another node sees to what runs there: no task begins here.
  if (!wanted.some(isHere) && (!all || params.stop === '1')) return 'OK'
  requireRight(call, `/storage/${params.storage ?? 'local'}`, 'Datastore.AllocateSpace')
  return startTask(world, host, 'vzdump', ids.length === 1 ? (ids[0] ?? '') : '', call.who.id, async (work) => {
    const id = params.storage ?? 'local'
    const entry = world.storages.get(id)
    if (entry === undefined) {
      const why = `storage '${id}' does not exist`
      throw new Error(
        `could not activate storage '${id}': ${why} could not get storage information for '${id}': ${why}`,
      )
    }
    const off = unusable(world, host, id)
    const asleep = off === undefined ? [] : [`could not activate storage '${id}': ${off}`]
    const wrong = entry.content.includes('backup')
      ? []
      : [`could not get storage information for '${id}': can't use storage '${id}' for backups - wrong content type`]
    if (asleep.length + wrong.length > 0) throw new Error([...asleep, ...wrong].join(' '))
    await oneJobAtATime(call, host, work, () => {
      // Of all guests those are left out that one may not back up; one that is named ends the job.
      const refused = wanted.find((vmid) => world.guests.has(vmid) && !mayBackUp(call, vmid))
      if (refused !== undefined && !all) throw forbidden(`/vms/${refused}, VM.Backup`)
      return dumpAll(all ? wanted.filter((vmid) => mayBackUp(call, vmid)) : wanted, work, entry)
    })
  })
  async function dumpAll(vmids: readonly number[], work: Work, entry: StorageEntry): Promise<void> {
    let failures = 0
    for (const vmid of vmids) {
      const guest = world.guests.get(vmid)
      if (guest === undefined) {
        work.log(`ERROR: Backup of VM ${vmid} failed - unable to find VM '${vmid}'`)
        failures += 1
      } else if (guest.node === host.name) {
        try {
          await underMark(world, host, guest, 'backup', async () => {
            try {
              await dumpOne(call, host, entry, guest, work)
            } catch (error) {
              // A killed task cleans up as little as one whose host lost its power.
              throw work.task.exit === undefined ? error : new PowerLost()
            }
          })
        } catch (error) {
          if (error instanceof PowerLost) throw error
          if (error instanceof Interrupted) goOnUntilKilled(call, host, work)
          work.log(`ERROR: Backup of VM ${vmid} failed - ${error instanceof Error ? error.message : String(error)}`)
          failures += 1
        }
      }
    }
    if (failures > 0) throw new Error('job errors')
  }
}

/** How long a stop waits for the task to end before it kills it. */
const KILL_AFTER_MS = 5_000

/**
 * A job that is stopped gives up the guest that it works on and goes on with the next. If it is not at its end soon it is
 * killed, and leaves the mark on that one.
 */
function goOnUntilKilled({ world }: Call, host: Host, { task }: Work): void {
  task.interrupted = false
  world.clock.schedule(world.clock.now() + KILL_AFTER_MS, () => {
    if (task.exit !== undefined) return
    finishTask(world, host, task, 'unexpected status')
    task.interrupted = true
  })
}

/** Minutes, unless the call says otherwise. */
const LOCK_WAIT = 180

/** A host runs one backup job at a time; the next one waits for hours. */
async function oneJobAtATime(call: Call, host: Host, work: Work, job: () => Promise<void>): Promise<void> {
  const minutes = Number(call.params.lockwait ?? 0) || LOCK_WAIT
  const refuse = (why = 'got timeout') => new Error(`can't acquire lock '${BACKUP_LOCK}' - ${why}`)
  const isHeld = () => (host.locks.get(BACKUP_LOCK)?.held ?? 0) > 0
  const waits = isHeld()
  if (waits) work.log('INFO: trying to get global lock - waiting...')
  const untilMs = call.world.clock.now() + minutes * 60_000
  try {
    while (isHeld() && call.world.clock.now() < untilMs) await work.pass(1_000)
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    // It ends before the backup's log begins, so only the task log has the reason.
    work.log(`ERROR: ${refuse(error.message).message}`)
    finishTask(call.world, host, work.task, 'unexpected status')
    throw error
  }
  const begin = async () => {
    if (waits) work.log('INFO: got global lock')
    await job()
  }
  await holding(call.world, host, BACKUP_LOCK, refuse, begin, 'exclusive', 0)
}

async function dumpOne(call: Call, host: Host, entry: StorageEntry, guest: Guest, work: Work): Promise<void> {
  const { world } = call
  const type = guest.type === 'qemu' ? 'qemu' : 'lxc'
  const now = new Date(world.clock.now())
  const stamp = now.toISOString().slice(0, 19).replace(/[-:]/g, '_').replace('T', '-')
  const format = `${type === 'qemu' ? 'vma' : 'tar'}${EXTENSIONS[param(call, 'compress')] ?? ''}`
  const name = `backup/vzdump-${type}-${guest.vmid}-${stamp}.${format}`
  refuseOneMore(call, entry, guest)
  work.log(`INFO: Starting Backup of VM ${guest.vmid} (${type})`)
  const bytes = Math.round(maxDiskBytes(host, guest) / 4)
  await work.pass(Math.ceil((bytes / rateUnder(call, Number(call.params.bwlimit ?? 0))) * 1000))
  addVolume(world, host, entry, {
    name,
    content: 'backup',
    format,
    sizeBytes: bytes,
    vmid: guest.vmid,
    ctimeSeconds: Math.floor(now.getTime() / 1000),
    ...notesOf(call, host, guest),
    ...(call.params.protected === '1' ? { protected: true } : {}),
  })
  work.log(`INFO: archive file: ${filePath(entry, name)}`)
  removeOld(call, entry, guest, work)
  work.log(`INFO: Finished Backup of VM ${guest.vmid}`)
}

function notesOf({ params, world }: Call, host: Host, guest: Guest): { notes?: string } {
  const template = params['notes-template']
  if (template === undefined) return {}
  const cluster = clusterName(world) ?? 'standalone node'
  const words: Readonly<Record<string, string>> = {
    guestname: guestName(guest),
    vmid: `${guest.vmid}`,
    node: host.name,
    cluster,
  }
  return { notes: template.replace(/\{\{(guestname|vmid|node|cluster)\}\}/g, (_, word: string) => words[word] ?? '') }
}
