import { cleanText } from '../../lib/clean-text.ts'
import type { RemoteTask } from '../../model/survey.ts'
import { begunAt, lookAtJob } from './jobs.ts'
import { powerOf } from './observe.ts'
import type { Virsh } from './virsh.ts'

/** A job that nobody has heard of may only be young. */
const YOUNG_MS = 10_000

/** How far a task is that this driver began: a job on the host, or a guest that was asked to shut down. */
export async function taskOutcome(
  virsh: Virsh,
  taskId: string,
  host: string,
  waitedMs: number,
  signal: AbortSignal,
): Promise<RemoteTask | undefined> {
  const [kind, id = '', begun, seconds, force] = taskId.split('|')
  const task = { id: taskId, host, verb: kind ?? '', subject: id, user: '', startedMs: Number(begun ?? begunAt(id)) }
  if (kind === 'job') return jobOutcome(virsh, { ...task, startedMs: begunAt(id) }, waitedMs, signal)
  if (kind !== 'shutdown') return undefined
  const state = await virsh.read(['domstate', id], `see whether domain ${id} is off`, signal)
  const power = state === undefined ? 'stopped' : powerOf(state)
  if (power === 'stopped') return { ...task, state: 'succeeded' }
  if (waitedMs < Number(seconds) * 1000) return { ...task, state: 'running' }
  if (force === 'force') {
    await virsh.write(['destroy', id], { doing: `switch off domain ${id}`, says: /destroyed/ }, signal)
    return { ...task, state: 'running' }
  }
  const message = `domain ${id} on ${host} did not shut down within ${seconds} s; see its console: virsh console ${id}`
  return { ...task, state: 'failed', message, refusal: { reason: 'ShutdownTimeout', meaning: 'backoff', message } }
}

async function jobOutcome(
  virsh: Virsh,
  task: Omit<RemoteTask, 'state'>,
  waitedMs: number,
  signal: AbortSignal,
): Promise<RemoteTask | undefined> {
  const ran = await virsh.run(lookAtJob(task.subject), `look at job ${task.subject}`, signal)
  if (ran.code !== 0) return waitedMs < YOUNG_MS ? { ...task, state: 'running' } : undefined
  const [state = '', ...log] = ran.stdout.split('\n')
  if (state === 'running') return { ...task, state: 'running' }
  if (state === 'done') return { ...task, state: 'succeeded' }
  const said = cleanText(log.join(' '))
  const mismatch = said.includes('croft: ChecksumMismatch')
  const message = mismatch
    ? `checksum mismatch: ${fileIn(task.subject)} on ${task.host} is not what its checksum says`
    : `${task.subject} failed: ${said === '' ? 'the host was switched off, or somebody ended it' : said}`
  const reason = mismatch ? 'ChecksumMismatch' : 'JobFailed'
  return { ...task, state: 'failed', message, refusal: { reason, meaning: mismatch ? 'stalled' : 'backoff', message } }
}

/** The file that a job is about, as people call it: its id says also what is done to it, and when it was begun. */
function fileIn(job: string): string {
  return /^[a-z]+-(.*)-\d+$/.exec(job)?.[1] ?? job
}
