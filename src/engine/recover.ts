import type { Intention } from '../model/intention.ts'
import type { RemoteTask } from '../model/survey.ts'

/** What is known of an effect that was begun in an earlier pass, perhaps by an earlier process. */
export type Fate =
  | { readonly is: 'running'; readonly task: RemoteTask }
  /** Its task has left the running set: one read tells how it ended. */
  | { readonly is: 'ended'; readonly taskId: string }
  /** It may still arrive: wait before doing anything about the same thing. */
  | { readonly is: 'unsure' }
  /** Nothing of it is under way: the world's state decides what comes next. */
  | { readonly is: 'over' }

/**
 * A call of which no answer came may still sit in a proxy's queue. A second create meets its own id and a second
 * configure its digest, but a late delete could hit what was made anew since.
 */
const LATE_MS = 40_000

/** Verbs whose call must not arrive after something else was done: a delete, and an upload whose file was discarded. */
const NEVER_LATE: ReadonlySet<string> = new Set(['delete', 'upload'])

/** Tasks that do not name what they work on, by the verb that begins them. */
const NAMELESS: Readonly<Record<string, string>> = {
  download: 'download',
  verify: 'download',
  upload: 'imgcopy',
  discard: 'imgdel',
}

/**
 * Judges one intention by the survey's tasks. Pure. A task that another intention knows as its own is not this one's;
 * where several are about the same subject and nobody can tell whose the task is, all of them wait for it.
 */
export function fateOf(
  intention: Intention,
  tasks: readonly RemoteTask[],
  nowMs: number,
  all: Iterable<Intention> = [],
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
  if (NEVER_LATE.has(intention.step.verb) && nowMs - intention.atMs < LATE_MS) return { is: 'unsure' }
  return { is: 'over' }
}

function concerns(task: RemoteTask, intention: Intention): boolean {
  if (task.host !== intention.host) return false
  const { taskSubject } = intention.step
  if (taskSubject !== undefined) return task.subject === taskSubject
  const nameless = NAMELESS[intention.step.verb]
  return nameless === undefined ? task.subject === intention.externalId : task.verb === nameless
}
