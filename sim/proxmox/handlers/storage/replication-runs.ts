import type { World } from '../../../world/types.ts'
import { shelf, type Thing, textOf } from '../shelf.ts'
import { nextRun } from './calendar.ts'

/** The jobs, by their id. */
export const SHELF = 'replication'
const RUNS = 'replication/runs'

interface ReplicationRun {
  /** Nothing is copied before. */
  readonly fromMs: number
  /** Seconds since 1970; 0 before the first copy. */
  lastTry: number
  lastSync: number
  /** When a job that is to go will be gone. */
  goneMs?: number
}

const MINUTE_MS = 60_000
const SCHEDULE = '*/15'
const MOST_RUNS = 10_000
/** How long a copy takes. */
const SECONDS = 2.5

/** Nodes look at their jobs once in a minute. What happened since is worked out when somebody asks. */
const nextLook = (ms: number) => (Math.floor(ms / MINUTE_MS) + 1) * MINUTE_MS

export function noteNew(world: World, id: string): void {
  setRun(world, id, { fromMs: world.clock.now(), lastTry: 0, lastSync: 0 })
}

export function markForRemoval(world: World, id: string): void {
  const run = runOf(world, id)
  run.goneMs ??= nextLook(world.clock.now())
}

/** Takes away the jobs that were marked and whose nodes have seen to that. A node that is off sees to nothing. */
export function takeAwayMarked(world: World): void {
  for (const [id, job] of shelf(world, SHELF)) {
    const { goneMs } = runOf(world, id)
    if (job.remove_job === undefined || goneMs === undefined || goneMs > world.clock.now()) continue
    const node = world.guests.get(Number(job.guest))?.node
    if (node !== undefined && world.hosts.get(node)?.power === 'off') continue
    shelf(world, SHELF).delete(id)
    shelf(world, RUNS).delete(id)
  }
}

/** A job that has not run yet runs anyway: only one that has is told that it is due. */
export function runSoon(world: World, id: string): void {
  const run = runOf(world, id)
  if (run.lastTry > 0) setRun(world, id, { ...run, fromMs: world.clock.now(), lastTry: 0 })
}

export function statusOf(world: World, id: string, job: Thing): Thing {
  const run = upToNow(world, id, job)
  const due = nextRun(textOf(job.schedule ?? SCHEDULE), run.lastTry * 1000) ?? 0
  return {
    ...job,
    id,
    vmtype: world.guests.get(Number(job.guest))?.type,
    next_sync: job.remove_job === undefined ? due : 1,
    last_sync: run.lastSync,
    last_try: run.lastTry,
    fail_count: 0,
    ...(run.lastSync > 0 ? { duration: SECONDS } : {}),
  }
}

/** What the last copy said. */
export function logOf(world: World, id: string, job: Thing): string[] {
  const run = upToNow(world, id, job)
  if (run.lastSync === 0) return ['unable to open file - No such file or directory']
  const stamp = new Date(run.lastSync * 1000).toISOString().slice(0, 19).replace('T', ' ')
  const guest = world.guests.get(Number(job.guest))
  const kind = guest?.type === 'lxc' ? 'CT' : 'VM'
  return [
    'start replication job',
    `guest => ${kind} ${textOf(job.guest)}, running => ${guest?.run.status === 'running' ? 1 : 0}`,
    'end replication job',
  ].map((line) => `${stamp} ${id}: ${line}`)
}

function upToNow(world: World, id: string, job: Thing): ReplicationRun {
  const run = runOf(world, id)
  const both = [textOf(job.source), textOf(job.target)].every((name) => world.hosts.get(name)?.power === 'on')
  if (job.disable === 1 || job.remove_job !== undefined || !both) return run
  const schedule = textOf(job.schedule ?? SCHEDULE)
  for (let runs = 0; runs < MOST_RUNS; runs += 1) {
    const due = (nextRun(schedule, run.lastTry * 1000) ?? Number.POSITIVE_INFINITY) * 1000
    const at = due <= run.fromMs ? nextLook(run.fromMs) : Math.ceil(due / MINUTE_MS) * MINUTE_MS
    if (at > world.clock.now()) break
    run.lastTry = Math.floor(at / 1000)
    run.lastSync = run.lastTry
  }
  return run
}

function runOf(world: World, id: string): ReplicationRun {
  const known = shelf(world, RUNS).get(id)
  if (known === undefined) noteNew(world, id)
  return shelf(world, RUNS).get(id) as unknown as ReplicationRun
}

function setRun(world: World, id: string, run: ReplicationRun): void {
  shelf(world, RUNS).set(id, run as unknown as Thing)
}
