import { wordSet } from '../../lib/word-list.ts'
import type { RemoteTask } from '../../model/resource.ts'

export interface WhoChanged {
  /** `alice@pam`, or with a token's name: `root@pam!web`. */
  readonly user: string
  /** The system's own name for it: its verb, or only its number. */
  readonly task: string
  readonly atMs: number
}

/** Tasks that only read a guest or move it change nothing. */
const ONLY_LOOKED = wordSet('vncproxy vncshell spiceproxy spiceshell vzdump aptupdate')

/**
 * Returns who last changed a thing since it was seen as declared, if the outside system keeps a log. May be undefined:
 * Proxmox logs no task for a plain change of configuration. `ours` is croft's user: its changes are no drift.
 */
export function whoChanged(
  tasks: readonly RemoteTask[],
  externalId: string,
  sinceMs: number,
  ours?: string,
): WhoChanged | undefined {
  let last: RemoteTask | undefined
  for (const task of tasks) {
    if (task.subject !== externalId || ONLY_LOOKED.has(task.verb) || task.user === ours) continue
    if (whenOf(task) < sinceMs) continue
    // For two at the same time the order of the list must not decide.
    if (last === undefined || compare(task, last) > 0) last = task
  }
  return last === undefined ? undefined : { user: last.user, task: last.verb, atMs: whenOf(last) }
}

/** A task changes things until it ends. */
function whenOf(task: RemoteTask): number {
  return task.endedMs ?? task.startedMs
}

function compare(a: RemoteTask, b: RemoteTask): number {
  // A failed one has probably changed less.
  return whenOf(a) - whenOf(b) || Number(a.state !== 'failed') - Number(b.state !== 'failed') || (a.id < b.id ? -1 : 1)
}
