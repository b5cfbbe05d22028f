import { wordSet } from '../lib/word-list.ts'
import type { CoordinatedIntention, ThingIntention } from '../model/record.ts'
import type { RemoteTask } from '../model/resource.ts'

/** What is known of an effect that started in an earlier pass, maybe of an earlier process. */
export type Fate =
  | { readonly is: 'running'; readonly task: RemoteTask }
  /** Its task has left the running set: one read shows its result. */
  | { readonly is: 'ended'; readonly taskId: string }
  /** It may still arrive: wait before another call about the same thing. */
  | { readonly is: 'unsure' }
  /** Nothing of it is under way: the world's state decides the next step. */
  | { readonly is: 'over' }

/**
 * A call without an answer may still be in a proxy's queue. A second create conflicts with its own id and a second
 * configure with its digest, but a late delete could hit a thing that was recreated since.
 */
const LATE_MS = 40_000

/**
 * Verbs whose call must not arrive late: a delete, and an upload whose file was discarded. On a cluster what would hit
 * a node that has returned since, on a Power what would switch off a host that was woken.
 */
const NEVER_LATE = wordSet(`
  delete upload wipe-k3s delete-node delete-node-password remove-member restore-snapshot forget-db stop-host
`)

/** Tasks without a subject, by the verb that starts them. */
const NAMELESS: Readonly<Record<string, string>> = {
  download: 'download',
  verify: 'download',
  upload: 'imgcopy',
  discard: 'imgdel',
}

/**
 * Judges one intention by the survey's tasks. Pure. A task that another intention has recorded is not this one's. If
 * several are about the same subject and the task's owner is unknown, all of them wait for it.
 */
export function fateOf(
  intention: ThingIntention,
  tasks: readonly RemoteTask[],
  nowMs: number,
  all: Iterable<ThingIntention> = [],
  knownMs?: number,
): Fate {
  if (intention.taskId !== undefined) {
    const task = tasks.find((one) => one.id === intention.taskId)
    return task?.state === 'running' ? { is: 'running', task } : { is: 'ended', taskId: intention.taskId }
  }
  const others = [...all].filter((other) => other.id !== intention.id)
  const atWork = tasks.find(
    (task) =>
      task.state === 'running' && concerns(task, intention) && !others.some((other) => other.taskId === task.id),
  )
  if (atWork !== undefined) {
    const shared = others.some((other) => other.taskId === undefined && concerns(atWork, other))
    return shared ? { is: 'unsure' } : { is: 'running', task: atWork }
  }
  return fateByAge(intention.step.verb, intention.atMs, nowMs, knownMs)
}

/** The same for a step on a cluster, of a Power or of an operation: it has no task, and the world shows its result. */
export function fateOfStep(
  { step, atMs }: Pick<CoordinatedIntention, 'step' | 'atMs'>,
  nowMs: number,
  knownMs?: number,
): Extract<Fate, { is: 'unsure' | 'over' }> {
  return fateByAge(step.verb, atMs, nowMs, knownMs)
}

/**
 * Judges by age. A wall clock that was set back proves nothing about it, nor does another computer's clock: then
 * `knownMs` counts, the time since we first saw it.
 */
function fateByAge(
  verb: string,
  atMs: number,
  nowMs: number,
  knownMs = Number.POSITIVE_INFINITY,
): Extract<Fate, { is: 'unsure' | 'over' }> {
  const young = Math.abs(nowMs - atMs) < LATE_MS || knownMs < LATE_MS
  return NEVER_LATE.has(verb) && young ? { is: 'unsure' } : { is: 'over' }
}

function concerns(task: RemoteTask, intention: ThingIntention): boolean {
  if (task.host !== intention.host) return false
  const { taskSubject } = intention.step
  if (taskSubject !== undefined) return task.subject === taskSubject
  const nameless = NAMELESS[intention.step.verb]
  return nameless === undefined ? task.subject === intention.externalId : task.verb === nameless
}
