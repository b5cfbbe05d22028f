import { may } from '../../../world/access.ts'
import { directoryNameProblem } from '../../../world/directory-name.ts'
import { configText, driveKeys, driveVolume, guestName, isCdrom, maxDiskBytes } from '../../../world/guest-config.ts'
import { BACKUP_LOCK, holding, PowerLost } from '../../../world/locks.ts'
import type { StorageEntry, Volume } from '../../../world/parts.ts'
import { parseProperties } from '../../../world/properties.ts'
import { finishTask, Interrupted, startTask, type Work } from '../../../world/tasks.ts'
import type { Guest, Host } from '../../../world/types.ts'
import {
  addVolume,
  contentOfName,
  filePath,
  findVolume,
  parseVolumeId,
  unusable,
  volumesOf,
} from '../../../world/volumes.ts'
import { badParameter, failed, forbidden, onlyRootNamesPaths } from '../../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../../call.ts'
import { clusterName } from '../cluster/cluster-name.ts'
import { underMark } from '../guest/config-lock.ts'
import { requireRight } from '../guest/option-rights.ts'
import { requireVolume } from '../qemu/drive-check.ts'
import type { Thing } from '../shelf.ts'
import { checkSelection, mayBackUp, requireBackupRights } from './backup-jobs.ts'
import { keepOf, refuseOneMore, removeOld } from './backup-limits.ts'
import { backupName, backupOwner } from './backup-name.ts'
import { rateUnder } from './bandwidth.ts'
import { marks } from './prune.ts'
import { needStorage } from './storage.ts'

const RESTORE = '/nodes/{node}/storage/{storage}/file-restore'
const PRUNE = '/nodes/{node}/storage/{storage}/prunebackups'

export const backupRoutes: Routes = {
  [`GET ${PRUNE}`]: (call) => dryRun(call),
  [`DELETE ${PRUNE}`]: prune,
  'GET /nodes/{node}/vzdump/defaults': defaults,
  'POST /nodes/{node}/vzdump': dump,
  'GET /nodes/{node}/vzdump/extractconfig': extractConfig,
  [`GET ${RESTORE}/list`]: refuseFiles,
  [`GET ${RESTORE}/download`]: refuseFiles,
}

/** Only backups are read as such, and by those who may: paths by root alone. */
export function requireBackupAccess(call: Call, volid: string): void {
  const id = parseVolumeId(volid)
  if (id === undefined) {
    if (call.who.id !== 'root@pam') throw onlyRootNamesPaths()
    return
  }
  const entry = needEntry(call, id.storage)
  const unread = entry.files ? directoryNameProblem(id.name) : undefined
  if (unread !== undefined) throw failed(unread)
  if (contentOfName(id.name) !== 'backup')
    throw failed(`unable to use volume ${volid} - content type needs to be 'backup'`)
  requireVolume(call, volid)
}

/** The configuration of a guest as it lies in its backup. */
function extractConfig(call: Call): string {
  const volid = param(call, 'volume')
  const id = parseVolumeId(volid)
  requireBackupAccess(call, volid)
  if (id === undefined) throw failed(`can't find file '${volid}'`)
  const owner = backupOwner(id.name)
  if (owner !== undefined) requireRight(call, `/vms/${owner}`, 'VM.Backup')
  const volume = findVolume(hostOf(call), volid)
  if (volume === undefined) throw failed(`volume '${volid}' does not exist`)
  if (volume.saved === undefined && /^backup\/vzdump-(lxc|openvz)-/.test(id.name))
    throw failed('ERROR: archive contains no configuration file')
  if (volume.saved === undefined)
    throw failed(`ERROR: file '${filePath(needEntry(call, id.storage), id.name)}' is empty`)
  return volume.saved.text
}

/** Single files come out of backups on a Proxmox Backup Server alone, and none of those answers here. */
function refuseFiles(call: Call): never {
  const id = param(call, 'storage')
  const said = parseVolumeId(param(call, 'volume'))
  if (said !== undefined && said.storage !== id)
    throw badParameter('volume', `storage ID mismatch (${said.storage} != ${id}).`)
  const entry = needEntry(call, id)
  const name = said?.name ?? param(call, 'volume').replace(/^(?!backup\/)/, 'backup/')
  const owner = backupOwner(name)
  const problem = entry.files ? directoryNameProblem(name) : undefined
  if (problem !== undefined) throw failed(problem)
  if (owner !== undefined) requireRight(call, `/vms/${owner}`, 'VM.Backup')
  if (entry.type !== 'pbs') throw badParameter('storage', 'Only PBS storages supported for file-restore.')
  throw failed(`unable to open the backup '${id}:${name}': no server answers`)
}

function needEntry({ world }: Call, id: string): StorageEntry {
  const entry = world.storages.get(id)
  if (entry === undefined) throw failed(`storage '${id}' does not exist`)
  return entry
}

/** Without its snapshots and its mark; a machine's backup says which of its parts holds which disk. */
function savedOf(host: Host, guest: Guest): NonNullable<Volume['saved']> {
  const disks = guest.type === 'qemu' ? driveKeys(guest.config) : []
  const maps = disks.flatMap((key) => {
    const value = guest.config.get(key) ?? ''
    if (isCdrom(value) || parseProperties(value, 'file').named.get('backup') === '0') return []
    const volid = driveVolume(value)
    const [storage = ''] = volid.split(':')
    return [`#qmdump#map:${key}:drive-${key}:${storage}:${findVolume(host, volid)?.format ?? 'raw'}:\n`]
  })
  const own = configText(guest).split(/^\[/m)[0] ?? ''
  const left = guest.type === 'qemu' ? /^(?:lock|parent|unused\d+): .*\n/gm : /^(?:lock|parent): .*\n/gm
  return { config: new Map(guest.config), text: `${own.trimEnd()}\n`.replace(left, '') + maps.join('') }
}

function dryRun(call: Call): Thing[] {
  const asked = needEntry(call, param(call, 'storage'))
  if (!asked.content.includes('backup')) throw failed(`storage '${asked.id}' does not support backups`)
  const keep = keepOf(call, asked)
  if (keep === undefined) throw failed(`no prune-backups options configured for storage '${asked.id}'`)
  const entry = needStorage(call)
  const { vmid, type } = call.params
  const groups = new Map<string, { volume: Volume; seconds: number; type: string; vmid: number }[]>()
  const renamed: Thing[] = []
  for (const volume of volumesOf(hostOf(call), entry.id).values()) {
    const parts = volume.content === 'backup' ? backupName(volume.name) : undefined
    if (parts === undefined && volume.content === 'backup') renamed.push(...renamedRow(entry, volume, type, vmid))
    if (parts === undefined || (vmid !== undefined && parts.vmid !== Number(vmid))) continue
    if (type !== undefined && parts.type !== type) continue
    const group = `${parts.type}/${parts.vmid}`
    groups.set(group, [...(groups.get(group) ?? []), { volume, ...parts }])
  }
  const named = [...groups.values()].flatMap((backups) => {
    const given = marks(
      backups.map(({ seconds, volume }) => ({ seconds, protected: volume.protected === true })),
      keep,
    )
    return backups.map((backup, index) => ({
      volid: `${entry.id}:${backup.volume.name}`,
      ctime: backup.seconds,
      type: backup.type,
      vmid: backup.vmid,
      mark: given[index],
    }))
  })
  return [...named, ...renamed]
}

/** A backup that somebody gave another name stays. It may still say whose it is. */
function renamedRow(
  entry: StorageEntry,
  volume: Volume,
  wanted: string | undefined,
  guest: string | undefined,
): Thing[] {
  const type = /\/vzdump-(qemu|lxc|openvz)-/.exec(volume.name)?.[1] ?? 'unknown'
  const vmid = backupOwner(volume.name)
  if ((wanted !== undefined && wanted !== type) || (guest !== undefined && vmid !== Number(guest))) return []
  const mark = volume.protected === true ? 'protected' : 'renamed'
  const owner = vmid === undefined ? {} : { vmid }
  return [{ volid: `${entry.id}:${volume.name}`, ctime: volume.ctimeSeconds, type, mark, ...owner }]
}

function prune(call: Call): string {
  const { world } = call
  const host = hostOf(call)
  const place = `/storage/${param(call, 'storage')}`
  if (call.params.vmid === undefined) requireRight(call, place, 'Datastore.Allocate')
  else {
    requireRight(call, place, 'Datastore.AllocateSpace')
    requireRight(call, `/vms/${call.params.vmid}`, 'VM.Backup')
  }
  const storage = param(call, 'storage')
  // Whether there is one, and what is to be kept there, is looked for by the task.
  const doomed = () => dryRun(call).filter((row) => row.mark === 'remove')
  const id = call.params.vmid === undefined ? storage : `${call.params.vmid}@${storage}`
  return startTask(world, host, 'prunebackups', id, call.who.id, async (work) => {
    for (const { volid } of doomed()) {
      work.log(`removing backup '${String(volid)}'`)
      volumesOf(host, storage).delete(String(volid).slice(storage.length + 1))
    }
    await work.pass(world.timing.shortTaskMs)
  })
}

function defaults(call: Call): Thing {
  const id = call.params.storage ?? 'local'
  const enough = ['Datastore.Audit', 'Datastore.AllocateSpace']
  if (!enough.some((right) => may(call.world, call.who, `/storage/${id}`, right)))
    throw forbidden(`/storage/${id}, ${enough.join('|')}`)
  const entry = call.world.storages.get(id)
  if (entry === undefined) throw failed(`storage '${id}' does not exist`)
  if (!entry.content.includes('backup')) throw failed(`can't use storage '${id}' for backups - wrong content type`)
  return {
    all: 0,
    bwlimit: 0,
    compress: '0',
    ...(may(call.world, call.who, `/nodes/${param(call, 'node')}`, 'Sys.Audit')
      ? { dumpdir: `${entry.path}/dump`, ionice: 7 }
      : {}),
    fleecing: { enabled: 0 },
    lockwait: 180,
    mailnotification: 'always',
    mode: 'snapshot',
    'notification-mode': 'auto',
    performance: { 'max-workers': 16, 'pbs-entries-max': 1_048_576 },
    pigz: 0,
    'prune-backups': String(entry.options['prune-backups'] ?? 'keep-all=1'),
    quiet: 0,
    remove: 1,
    stdexcludes: 1,
    stop: 0,
    stopwait: 10,
    storage: id,
    zstd: 1,
  }
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
              // Whoever was killed cleans up as little as one whose host lost its power.
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

/** How long somebody who stops a task waits for it to end before it is killed. */
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
    // It ends so early that nobody writes down how.
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
    saved: savedOf(host, guest),
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
