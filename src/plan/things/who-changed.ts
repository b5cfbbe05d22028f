import { wordSet } from '../../lib/word-list.ts'
import type { RemoteTask } from '../../model/resource.ts'

export interface WhoChanged {
  /** `alice@pam`, or with the token's name behind it: `root@pam!web`. */
  readonly user: string
  /** What the system itself calls it: its verb, or its number where that is all there is. */
  readonly task: string
  readonly atMs: number
}

/** Tasks that look at a guest, or carry it away without touching it, have changed nothing. */
const ONLY_LOOKED = wordSet('vncproxy vncshell spiceproxy spiceshell vzdump aptupdate')

/**
 * Who was the last to work on a thing since it was seen as declared, as far as the outside system keeps a list of it.
 * Undefined is an answer too: Proxmox notes no task for what it does at once, a plain change of configuration.
 * `ours` is the user that croft works as: what croft did is no drift.
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
    // Of two at the same moment the order of the list must not decide.
    if (last === undefined || compare(task, last) > 0) last = task
  }
  return last === undefined ? undefined : { user: last.user, task: last.verb, atMs: whenOf(last) }
}

/** It changes things until it ends. */
function whenOf(task: RemoteTask): number {
  return task.endedMs ?? task.startedMs
}

function compare(a: RemoteTask, b: RemoteTask): number {
  // One that failed has most likely changed less than one that did not.
  return whenOf(a) - whenOf(b) || Number(a.state !== 'failed') - Number(b.state !== 'failed') || (a.id < b.id ? -1 : 1)
}
