import { may } from '../../../world/access.ts'
import { uuid } from '../../../world/chance.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { Guest, World } from '../../../world/types.ts'
import { type ApiError, badParameter, failed, forbidden } from '../../api-error.ts'
import type { Call, Routes } from '../../call.ts'
import { type Collection, collectionRoutes, deletions } from '../collection.ts'
import { requireRight } from '../guest/option-rights.ts'
import { shelf, type Thing, textOf } from '../shelf.ts'
import { nextRun } from './calendar.ts'

/** Backups at set times. */
const JOBS: Collection = {
  at: '/cluster/backup',
  key: 'id',
  shelf: 'backup-jobs',
  idOf: (call) => call.params.id ?? uuid(call.world.random),
  exists: (id) => failed(`Job '${id}' already exists`),
  missing: (id, verb) => {
    if (verb === 'read') return badParameter('id', `No such job '${id}'`)
    return failed(verb === 'update' ? 'no such vzdump job' : `${INVALID}id: No such job '${id}'`)
  },
  refuseNew: (call) => checkCall(call, true),
  refuseChange: (call) => checkCall(call, false),
  prepare,
  row: (_, thing, id) => ({ ...shownJob(thing), id, type: 'vzdump' }),
  one: (_, thing) => thing,
  listed: (call, thing) => ({ ...thing, ...whenNext(call, thing) }),
}

/** Some checks are made inside others: their whole answer then becomes the text. */
const INVALID = '400 Parameter verification failed.\n'

export const backupJobRoutes: Routes = {
  ...collectionRoutes(JOBS),
  'GET /cluster/backup-info/not-backed-up': (call) => {
    const jobs = [...shelf(call.world, 'backup-jobs').values()]
    const kept = new Set(jobs.flatMap((job) => guestsOf(call.world, job)))
    return [...call.world.guests.values()]
      .filter(({ vmid }) => !kept.has(vmid) && maySee(call, vmid))
      .map((guest) => ({ vmid: guest.vmid, ...named(guest), type: guest.type }))
  },
}

const PARTS = ['prune-backups', 'fleecing', 'performance']
const FLAGS = new Set(['enabled', 'keep-all'])

function shownJob(job: Thing): Thing {
  const shown: Thing = { ...job }
  for (const key of PARTS) {
    if (typeof job[key] !== 'string') continue
    const parts = [...parseProperties(job[key], 'enabled').named]
    const main = parseProperties(job[key], 'enabled').main
    const all: [string, string][] = main === '' ? parts : [['enabled', main], ...parts]
    shown[key] = Object.fromEntries(all.map(([name, part]) => [name, FLAGS.has(name) ? Number(part) : part]))
  }
  return shown
}

function whenNext(call: Call, job: Thing): Thing {
  // Also of one that is switched off.
  const next = nextRun(String(job.schedule), call.world.clock.now())
  return next === undefined ? {} : { 'next-run': next }
}

/** What a call may say at all, looked at before it is known whether there is such a job. */
function checkCall(call: Call, isNew: boolean): void {
  const { params } = call
  requireBackupRights(call)
  if (call.who.id !== 'root@pam' && params.dumpdir === undefined)
    if (isNew || params.storage !== undefined || deletions(call).includes('storage'))
      requireRight(call, `/storage/${params.storage ?? 'local'}`, 'Datastore.Allocate')
  if (params.pool !== undefined) {
    if (!call.world.pools.has(params.pool)) throw forbidden(`pool '${params.pool}' does not exist`)
    requireRight(call, `/pool/${params.pool}`, 'VM.Backup')
  }
  if (params.starttime !== undefined && params.schedule !== undefined)
    throw badParameter('starttime', "'starttime' and 'schedule' cannot both be set")
  if (isNew) {
    if (params.starttime === undefined && params.schedule === undefined)
      throw badParameter('schedule', "neither 'starttime' nor 'schedule' were set")
    return
  }
  const given = Object.keys(params).filter((key) => !['id', 'digest', 'delete'].includes(key))
  if (given.length === 0 && deletions(call).length === 0) throw failed('no options specified')
  checkSelection(Object.fromEntries(given.map((key) => [key, params[key] === '0' ? 0 : params[key]])), inJob)
}

function prepare(call: Call, job: Thing, _id: string, old: Thing | undefined): Thing {
  const { params } = call
  if (old !== undefined) checkChange(call, old)
  const { starttime, dow, node: _, ...rest } = job
  const times = starttime === undefined ? {} : { schedule: `${daysOf(dow)} ${textOf(starttime)}`.trim() }
  // Which node it is for is a setting here, not the place that the call goes to.
  const node = params.node ?? old?.node
  const vmid = params.vmid === undefined ? {} : { vmid: params.vmid }
  const wanted: Thing = { enabled: 1, ...rest, ...vmid, ...times, ...(node === undefined ? {} : { node }) }
  if (wanted.exclude !== undefined && wanted.pool === undefined && (old !== undefined || !says(wanted, 'vmid')))
    wanted.all = 1
  if (old !== undefined) for (const key of displaced(call, wanted)) delete wanted[key]
  checkSelection(wanted, inJob)
  if (!['all', 'stop', 'pool', 'vmid'].some((key) => says(wanted, key)))
    throw failed(`${INVALID}vmid: property is missing`)
  return wanted
}

/** Checks the parameters that only root may give, or that need a further right, in jobs and single backups. */
export function requireBackupRights(call: Call): void {
  const { params, who } = call
  if (who.id === 'root@pam') return
  const named = [...Object.keys(params), ...deletions(call)]
  for (const key of ['tmpdir', 'dumpdir', 'script', 'job-id'])
    if (named.includes(key)) throw badParameter(key, 'Only root may set this option.')
  if (['bwlimit', 'ionice', 'performance'].some((key) => named.includes(key))) requireRight(call, '/', 'Sys.Modify')
  const fleecing = params.fleecing === undefined ? undefined : parseProperties(params.fleecing, 'enabled')
  const storage = fleecing?.named.get('storage')
  if (storage !== undefined) requireRight(call, `/storage/${storage}`, 'Datastore.AllocateSpace')
}

/** What is asked of a change before it is put together with what is there. */
function checkChange(call: Call, old: Thing): void {
  if (call.who.id !== 'root@pam') {
    if (old.dumpdir !== undefined) throw failed("only root@pam may edit jobs with a 'dumpdir' option.")
    requireRight(call, `/storage/${textOf(old.storage) || 'local'}`, 'Datastore.Allocate')
  }
  for (const key of deletions(call)) {
    if (!KNOWN.has(key)) throw failed(`${INVALID}delete: unknown option '${key}'`)
  }
}

/** Guests by their ids, all of them, and those of a pool: what a change names takes the place of the others. */
function displaced({ params }: Call, job: Thing): readonly string[] {
  if (params.vmid !== undefined) return ['all', 'exclude', 'pool']
  // Who leaves some out means all the others.
  if (params.all === '1' || (params.exclude !== undefined && params.pool === undefined)) return ['vmid', 'pool']
  return says(job, 'pool') ? ['vmid', 'all', 'exclude'] : []
}

/** Passed through the writer of the jobs' file, which makes a refusal of a parameter a failure. */
function inJob(key: string, why: string): ApiError {
  return failed(`${INVALID}${key}: ${why}`)
}

function says(job: Thing, key: string): boolean {
  return job[key] !== undefined && job[key] !== 0 && job[key] !== ''
}

const KNOWN: ReadonlySet<string> = new Set(
  (
    'all bwlimit comment compress dumpdir exclude exclude-path fleecing ionice lockwait mailnotification mailto mode node ' +
    'notes-template notification-mode pbs-change-detection-mode performance pigz pool protected prune-backups quiet ' +
    'remove repeat-missed script stdexcludes stop stopwait storage tmpdir vmid zstd'
  ).split(' '),
)

const VARIABLES = new Set(['cluster', 'guestname', 'node', 'vmid'])

/** Which guests, and what is noted at them: a job and a backup at once are told the same in their own words. */
export function checkSelection(job: Thing, refusal: (key: string, why: string) => ApiError): void {
  const conflict = (key: string) => refusal(key, "option conflicts with option 'vmid'")
  if (says(job, 'vmid')) for (const key of ['all', 'exclude', 'pool']) if (says(job, key)) throw conflict(key)
  const template = textOf(job['notes-template'])
  if (template.includes('\n')) throw refusal('notes-template', 'contains a line feed')
  const unknown = [...template.matchAll(/\\(.)/g)].flatMap(({ 1: char = '', index }) =>
    char === 'n' || char === '\\' ? [] : [`escape sequence '\\${char}' at char ${index}`],
  )
  for (const { 1: name = '', index } of template.matchAll(/\{\{([^\s{}]+)\}\}/g))
    if (!VARIABLES.has(name)) unknown.push(`variable '${name}' at char ${index + 4}`)
  if (unknown.length > 0) throw refusal('notes-template', `found unknown: ${unknown.join(', ')}`)
}

/** `mon,tue`; nothing for every day of the week. */
function daysOf(dow: unknown): string {
  const days = textOf(dow)
    .split(/[,;\s\0]+/)
    .join(',')
  return days === 'mon,tue,wed,thu,fri,sat,sun' ? '' : days
}

/** The guests of a job, in the order of their ids: one that it names and that is gone is among them. */
function guestsOf(world: World, job: Thing): number[] {
  const excluded = new Set(idsOf(job.exclude))
  const pool = typeof job.pool === 'string' ? world.pools.get(job.pool) : undefined
  const all = [...world.guests.keys()].filter((vmid) => !excluded.has(vmid))
  const some = says(job, 'vmid') ? idsOf(job.vmid) : says(job, 'all') ? all : []
  return (says(job, 'pool') ? [...(pool?.guests ?? [])] : some)
    .filter((vmid) => {
      const guest = world.guests.get(vmid)
      return job.node === undefined || guest === undefined || guest.node === job.node
    })
    .sort((a, b) => a - b)
}

function maySee(call: Call, vmid: number): boolean {
  return may(call.world, call.who, `/vms/${vmid}`, 'VM.Audit')
}

function named(guest: Guest): Thing {
  const name = guest.config.get(guest.type === 'qemu' ? 'name' : 'hostname')
  return name === undefined ? {} : { name }
}

function idsOf(value: unknown): number[] {
  return typeof value === 'string' || typeof value === 'number' ? `${value}`.split(/[,;\s]+/).map(Number) : []
}

/** A guest that is removed with all that points to it leaves its jobs; a job for it alone goes too. */
export function leaveJobs(world: World, vmid: number): void {
  const jobs = shelf(world, 'backup-jobs')
  for (const [id, job] of jobs) {
    for (const key of ['vmid', 'exclude']) {
      if (job[key] === undefined) continue
      const left = idsOf(job[key]).filter((one) => one !== vmid)
      if (left.length > 0) job[key] = left.join(',')
      else if (key === 'vmid') jobs.delete(id)
      else delete job[key]
    }
  }
}

export function mayBackUp(call: Call, vmid: number): boolean {
  return may(call.world, call.who, `/vms/${vmid}`, 'VM.Backup')
}
