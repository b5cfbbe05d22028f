import { PowerLost } from './locks.ts'
import type { Task } from './parts.ts'
import type { Host, World } from './types.ts'

/** What a piece of background work may do while it runs. */
export interface Work {
  readonly task: Task
  log(line: string): void
  /** Something went wrong that does not make the whole fail: the task ends with the number of them. */
  warn(line: string): void
  /** Lets time pass. Throws when the host lost its power or the task was stopped meanwhile. */
  pass(ms: number): Promise<void>
}

/** Thrown in a stopped task. The work may catch it to clean up, and must rethrow it. */
export class Interrupted extends Error {
  constructor() {
    super('interrupted by signal')
    this.name = 'Interrupted'
  }
}

/** Finished tasks that a host remembers. */
const TASKS_KEPT = 2_000

const SLICE_MS = 1_000

/** Begins work in the background and answers its id at once, as the daemon does. */
export function startTask(
  world: World,
  host: Host,
  type: string,
  id: string,
  user: string,
  body: (work: Work) => void | Promise<void>,
): string {
  const task = newTask(world, host, type, id, user)
  if (world.losesWorkers > 0) {
    world.losesWorkers -= 1
    // What the call has done before it, such as the lock of a new guest, stays, and its end is not recorded.
    finishTask(world, host, task, 'unexpected status')
    throw new Error('got no worker upid - start worker failed')
  }
  const life = host.life
  let warnings = 0
  const work: Work = {
    task,
    log: (line) => {
      task.log.push(line)
    },
    warn: (line) => {
      task.log.push(`WARN: ${line}`)
      warnings += 1
    },
    pass: async (ms) => {
      // Who is stopped while he waits does not wait to the end.
      for (let left = ms; left > 0; left -= SLICE_MS) {
        await world.clock.sleep(Math.min(left, SLICE_MS))
        if (task.interrupted) break
      }
      if (host.life !== life) throw new PowerLost()
      if (task.interrupted) throw new Interrupted()
    },
  }
  world.clock.schedule(world.clock.now() + world.timing.taskStartMs, () => {
    void run()
  })
  async function run(): Promise<void> {
    let exit = 'OK'
    try {
      if (host.life !== life) throw new PowerLost()
      if (task.interrupted) throw new Interrupted()
      await body(work)
      if (host.life !== life) throw new PowerLost()
      if (warnings > 0) exit = `WARNINGS: ${warnings}`
    } catch (error) {
      if (error instanceof PowerLost) return
      exit = toldInTask(error)
    }
    finishTask(world, host, task, exit)
  }
  return task.upid
}

/** A right that is missing inside a task is told with the number of its refusal. */
export function toldInTask(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'status' in error && error.status === 403 ? `403 ${error.message}` : error.message
}

export function finishTask(world: World, host: Host, task: Task, exit: string): void {
  if (task.exit !== undefined) return
  task.exit = exit
  task.endSeconds = Math.floor(world.clock.now() / 1000)
  if (exit !== 'unexpected status')
    task.log.push(exit === 'OK' || exit.startsWith('WARNINGS: ') ? `TASK ${exit}` : `TASK ERROR: ${exit}`)
  host.runningTasks.delete(task)
  if (host.tasks.length > TASKS_KEPT + 500) {
    for (const old of host.tasks.splice(0, 500)) if (!host.runningTasks.has(old)) host.tasksById.delete(old.upid)
  }
}

function newTask(world: World, host: Host, type: string, id: string, user: string): Task {
  const nowMs = world.clock.now()
  const pid = host.nextPid++
  const pstart = Math.max(0, Math.floor((nowMs - host.bootedAtMs) / 10))
  const startSeconds = Math.floor(nowMs / 1000)
  const upid = `UPID:${host.name}:${hex8(pid)}:${hex8(pstart)}:${hex8(startSeconds)}:${type}:${id}:${user}:`
  const task: Task = {
    upid,
    node: host.name,
    pid,
    pstart,
    startSeconds,
    type,
    id,
    user,
    log: [],
    endSeconds: undefined,
    exit: undefined,
    interrupted: false,
  }
  host.tasks.push(task)
  host.runningTasks.add(task)
  host.tasksById.set(upid, task)
  return task
}

function hex8(value: number): string {
  return value.toString(16).toUpperCase().padStart(8, '0')
}
