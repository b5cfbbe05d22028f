import { ShellFailure } from '../../../lib/shell.ts'
import type { ApiOutcome } from '../api.ts'

/** Converts an answer to a shell's failure. `ran`: whether a plain refusal means that it may have run. */
export function failureOf(answer: Exclude<ApiOutcome, { result: 'answered' }>, ran: 'no' | 'maybe'): ShellFailure {
  if (answer.result === 'not-sent') return new ShellFailure('no', 'unreachable', answer.message)
  if (answer.result === 'unclear') return new ShellFailure('maybe', 'unreachable', answer.message)
  const { reason, message } = answer.refusal
  // The agent accepted the request and did not answer again.
  if (/got timeout/.test(message)) return new ShellFailure('maybe', 'timeout', message)
  if (reason === 'AgentDown') return new ShellFailure(ran, 'no-agent', message)
  if (reason === 'NotRunning') return new ShellFailure(ran, 'not-running', message)
  if (reason === 'PermissionDenied')
    return new ShellFailure(ran, 'denied', `${message} (on Proxmox 8 the privilege is VM.Monitor)`)
  return new ShellFailure(ran, reason === 'Unauthorized' ? 'denied' : 'refused', message)
}
