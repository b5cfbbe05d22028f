import { userInfo } from 'node:os'
import type { Step } from '../../../model/step.ts'
import type { Store } from '../../../store/port.ts'
import { clean } from '../../render/clean.ts'
import type { Runtime } from '../../runtime.ts'

/** Notes in the audit log what a person asked for by a command, under his name. What was sent is not in it. */
export async function noteOperation(
  runtime: Runtime,
  store: Store,
  subject: string,
  what: string,
  outcome: 'done' | 'refused',
  message: string,
): Promise<void> {
  const atMs = runtime.clock.now()
  await store.appendAudit({ atMs, actor: actorOf(runtime), from: 'cli', what, subject, outcome, message })
}

export function actorOf({ env }: Runtime): string {
  return `cli:${clean(env.SUDO_USER ?? env.USER ?? nameOfUser(), 60)}`
}

function nameOfUser(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run as a number that has no name.
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}

/** `POST /nodes/…/status/reboot`, for a line in the journal. */
export function callOf({ call }: Step): string {
  return `${call.method} ${call.path}`
}
