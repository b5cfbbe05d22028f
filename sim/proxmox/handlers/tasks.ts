import { may } from '../../world/access.ts'
import type { Task } from '../../world/parts.ts'
import { badParameter, failed, forbidden } from '../api-error.ts'
import { Answer, type Call, hostOf, param, type Routes } from '../call.ts'

const AT = '/nodes/{node}/tasks'

export const taskRoutes: Routes = {
  'GET /cluster/tasks': clusterTasks,
  [`GET ${AT}`]: nodeTasks,
  [`GET ${AT}/{upid}`]: () => [{ name: 'log' }, { name: 'status' }],
  [`GET ${AT}/{upid}/status`]: (call) => statusRow(taskOf(call, 'Sys.Audit')),
  [`GET ${AT}/{upid}/log`]: taskLog,
  [`DELETE ${AT}/{upid}`]: stopTask,
}

/** What a node tells of its tasks at most: running ones first, and finished ones only where there is room left. */
const SHOWN_PER_NODE = 25

/** A task belongs to the user, not to the token that started it: a token does not find its own tasks here. */
function clusterTasks(call: Call): unknown[] {
  const audits = may(call.world, call.who, '/', 'Sys.Audit')
  const isSeen = (task: Task) => audits || splitUser(task.user).user === call.who.id
  const rows: Record<string, unknown>[] = []
  for (const host of call.world.hosts.values()) {
    let room = SHOWN_PER_NODE - host.runningTasks.size
    for (const task of host.runningTasks) if (isSeen(task)) rows.push(clusterRow(task))
    for (let index = host.tasks.length - 1; index >= 0 && room > 0; index--) {
      const task = host.tasks[index]
      if (task === undefined || task.exit === undefined) continue
      room -= 1
      if (isSeen(task)) rows.push(clusterRow(task))
    }
  }
  return rows.sort((a, b) => Number(b.starttime) - Number(a.starttime))
}

/** Nodes tell each other less of a task than they know: of its process the number, and that only while it runs. */
function clusterRow(task: Task): Record<string, unknown> {
  const { pstart: _pstart, pid, ...row } = listRow(task)
  return task.exit === undefined ? { ...row, pid } : { ...row, saved: '1' }
}

function nodeTasks(call: Call): Answer {
  const host = hostOf(call)
  const { params } = call
  const audits = may(call.world, call.who, `/nodes/${host.name}`, 'Sys.Audit')
  const source = params.source ?? 'archive'
  const wanted = sortsWanted(params)
  const rows = host.tasks
    .filter((task) => audits || isOwn(call, task))
    .filter((task) => source === 'all' || (task.exit === undefined) === (source === 'active'))
    .filter((task) => params.vmid === undefined || task.id === params.vmid)
    .filter((task) => (params.typefilter ?? '') === '' || task.type === params.typefilter)
    .filter((task) =>
      userOf(task)
        .toLowerCase()
        .includes((params.userfilter ?? '').toLowerCase()),
    )
    .filter((task) => params.since === undefined || task.startSeconds >= Number(params.since))
    .filter((task) => params.until === undefined || task.startSeconds <= Number(params.until))
    .filter((task) => wanted.has(sortOf(task.exit)))
    .sort(laterFirst)
  const start = Number(params.start ?? 0)
  const shown = rows.slice(start, start + Number(params.limit ?? 50))
  return new Answer(
    shown.map((task) => (task.exit === undefined ? runningRow(task) : listRow(task))),
    rows.length > 0 ? { total: rows.length } : {},
  )
}

/** In the list of what runs a token is still part of the name; in that of what ended it stands apart. */
function userOf(task: Task): string {
  return task.exit === undefined ? task.user : splitUser(task.user).user
}

function runningRow(task: Task): Record<string, unknown> {
  const { tokenid: _tokenid, ...row } = taskRow(task)
  return { ...row, user: task.user, saved: '0', status: 'RUNNING' }
}

/** What runs comes first, then what ended last. */
function laterFirst(a: Task, b: Task): number {
  const end = (task: Task) => (task.exit === undefined ? Number.POSITIVE_INFINITY : (task.endSeconds ?? 0))
  return end(a) === end(b) ? b.startSeconds - a.startSeconds || b.pid - a.pid : end(b) - end(a)
}

/** How a task ended, in one word. One that runs has not said so yet. */
function sortOf(exit: string | undefined): string {
  if (exit === undefined || exit === 'unexpected status') return 'unknown'
  if (exit === 'OK') return 'ok'
  return /^WARNINGS: \d+$/.test(exit) ? 'warning' : 'error'
}

function sortsWanted({ errors, statusfilter }: Readonly<Record<string, string>>): ReadonlySet<string> {
  if (errors === '1') return new Set(['warning', 'error', 'unknown'])
  if (statusfilter === undefined) return new Set(['ok', 'warning', 'error', 'unknown'])
  return new Set(statusfilter.split(/[,;\s]+/).map((word) => word.toLowerCase()))
}

function isOwn(call: Call, { user }: Task): boolean {
  return isBy(call, user)
}

function isBy({ who }: Call, user: string): boolean {
  return user === who.id || user.startsWith(`${who.id}!`)
}

function listRow(task: Task): Record<string, unknown> {
  return {
    ...taskRow(task),
    ...(task.exit === undefined ? {} : { endtime: task.endSeconds, status: task.exit }),
  }
}

function statusRow(task: Task): Record<string, unknown> {
  return {
    ...taskRow(task),
    status: task.exit === undefined ? 'running' : 'stopped',
    ...(task.exit === undefined ? {} : { exitstatus: task.exit }),
  }
}

function taskRow(task: Task): Record<string, unknown> {
  const { user, tokenid } = splitUser(task.user)
  return {
    upid: task.upid,
    node: task.node,
    pid: task.pid,
    pstart: task.pstart,
    starttime: task.startSeconds,
    type: task.type,
    id: task.id,
    user,
    ...(tokenid === undefined ? {} : { tokenid }),
  }
}

function splitUser(text: string): { user: string; tokenid: string | undefined } {
  const [user = text, tokenid] = text.split('!')
  return { user, tokenid }
}

function taskOf(call: Call, privilege: 'Sys.Audit' | 'Sys.Modify'): Task {
  const task = found(call)
  if (task === undefined) throw badParameter('upid', 'no such task')
  const path = `/nodes/${hostOf(call).name}`
  if (!isOwn(call, task) && !may(call.world, call.who, path, privilege)) throw forbidden(`${path}, ${privilege}`)
  return task
}

function found(call: Call): Task | undefined {
  const upid = param(call, 'upid')
  if (!/^UPID:[^:]+:[0-9A-Fa-f]{8}:[0-9A-Fa-f]{8,9}:[0-9A-Fa-f]{8}:[^:\s]+:[^:\s]*:[^:\s]+:$/.test(upid))
    throw badParameter('upid', 'unable to parse worker upid')
  return hostOf(call).tasksById.get(upid)
}

function taskLog(call: Call): Answer {
  const { download, start: from, limit: most } = call.params
  const task = found(call)
  if (download === '1' && (from ?? most) !== undefined)
    throw failed("'download' cannot be used together with 'start' or 'limit' parameters")
  // Who asks for the log of a task that is not there is told so in the log.
  if (task === undefined) {
    const path = `/nodes/${hostOf(call).name}`
    const [user = ''] = param(call, 'upid').split(':').slice(7)
    if (!isBy(call, user) && !may(call.world, call.who, path, 'Sys.Audit')) throw forbidden(`${path}, Sys.Audit`)
    if (download === '1') throw failed(`Could not open file '${logFile(call)}' - No such file or directory`)
    return new Answer([{ n: 1, t: 'unable to open file - No such file or directory' }], { total: 1 })
  }
  const { log } = taskOf(call, 'Sys.Audit')
  const start = Number(from ?? 0)
  const limit = Number(most ?? 50)
  const end = limit === 0 ? log.length : start + limit
  const lines = log.slice(start, end).map((t, index) => ({ n: start + index + 1, t }))
  return new Answer(lines.length > 0 || start > 0 ? lines : [{ n: 1, t: 'no content' }], { total: log.length })
}

/** Logs lie in folders by the last digit of the time at which their tasks began. */
function logFile(call: Call): string {
  const upid = param(call, 'upid')
  return `/var/log/pve/tasks/${(upid.split(':')[4] ?? '').slice(-1)}/${upid}`
}

/** Answers at once, also for a task that has ended long ago. */
/** Seconds in which a task that is stopped can end by itself. */
const STOP_SECONDS = 5

/** The answer comes when the task has ended, or when that was waited for long enough. */
async function stopTask(call: Call): Promise<null> {
  const task = taskOf(call, 'Sys.Modify')
  if (task.exit === undefined) task.interrupted = true
  for (let waited = 0; waited < STOP_SECONDS && task.exit === undefined; waited += 1)
    await call.world.clock.sleep(1_000)
  return null
}
