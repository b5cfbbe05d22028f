import { isUtf8 } from 'node:buffer'
import type { Clock } from '../../../lib/clock.ts'
import { LIMITS } from '../../../lib/limits.ts'
import type { Random } from '../../../lib/random.ts'
import { type Ran, type RunOptions, ShellFailure } from '../../../lib/shell.ts'
import { Secret } from '../../../model/secret.ts'
import { ObservationFailed } from '../../port.ts'
import type { Api, ApiOutcome, CallSubject } from '../api.ts'
import { cleanText, countOf, flagOf, isRecord } from '../foreign.ts'
import { failureOf } from './failures.ts'

/** A guest whose agent is called through Proxmox, without SSH or a network. */
export interface AgentGuest {
  readonly api: Api
  readonly clock: Clock
  readonly random: Random
  /** `/nodes/pve1/qemu/114/agent`. */
  readonly path: string
  readonly about: (doing: string) => CallSubject
}

/**
 * Runs one program and waits for its end. `env` starts it, so that a missing program gives exit code 127: Proxmox
 * itself fails on the agent's message without a useful answer.
 */
export async function runProgram(guest: AgentGuest, argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const [program = ''] = argv
  const about = guest.about(`run ${cleanText(program, 100)}`)
  refuseUnsendable(argv, about)
  const input = bytesOf(options.input)
  const signal = options.signal ?? new AbortController().signal
  const deadlineMs = guest.clock.monotonicMs() + (options.timeoutMs ?? LIMITS.commandTimeoutMs)
  const command = ['/usr/bin/env', '--', ...argv].join('\0')
  const sent = input === undefined ? new Map<string, Secret>() : new Map([['input-data', asCharacters(input)]])
  const answer = await guest.api.ask(
    {
      method: 'POST',
      path: `${guest.path}/exec`,
      params: { command, ...(input === undefined ? {} : { 'input-data': '' }) },
    },
    sent,
    about,
    signal,
  )
  return awaitEnd(guest, pidOf(answer, about), about, deadlineMs, signal)
}

/** Polls with growing pauses until the deadline. Its end is reported once: a lost answer stays lost. */
async function awaitEnd(
  guest: AgentGuest,
  pid: number,
  about: CallSubject,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<Ran> {
  const { baseMs, factor, maxMs } = LIMITS.agentPoll
  let lost = false
  for (let waitMs: number = baseMs; ; waitMs = Math.min(maxMs, waitMs * factor)) {
    const leftMs = deadlineMs - guest.clock.monotonicMs()
    if (leftMs <= 0 || signal.aborted) {
      const why = signal.aborted ? 'it was given up' : 'it has not ended in time and may still be running'
      throw new ShellFailure('maybe', signal.aborted ? 'aborted' : 'timeout', `could not ${about.doing}: ${why}`)
    }
    await guest.clock.sleep(Math.min(waitMs, leftMs), signal)
    try {
      const status = await guest.api.read(`${guest.path}/exec-status?pid=${pid}`, about, signal)
      if (isRecord(status) && flagOf(status.exited) === true) return ranAs(status, about)
    } catch (error) {
      if (!(error instanceof ObservationFailed)) throw error
      const forgotten = /Invalid parameter 'pid'/.test(error.message)
      if (forgotten)
        throw new ShellFailure('maybe', 'lost', `could not ${about.doing}: ${lost ? 'the answer' : 'it'} was lost`)
      if (error.refusal.reason === 'NotRunning' || error.refusal.meaning === 'stalled')
        throw failureOf({ result: 'refused', refusal: error.refusal }, 'maybe')
      lost = true
    }
  }
}

function ranAs(status: Readonly<Record<string, unknown>>, about: CallSubject): Ran {
  if (flagOf(status['out-truncated']) || flagOf(status['err-truncated']))
    throw new ShellFailure('maybe', 'too-large', `could not ${about.doing}: it printed more than the agent keeps`)
  const signal = countOf(status.signal)
  return {
    // As a shell reports it: 128 and the number of the signal.
    code: signal === undefined ? (countOf(status.exitcode) ?? 0) : 128 + signal,
    stdout: textOf(status['out-data']),
    stderr: textOf(status['err-data']),
  }
}

/** Proxmox encodes every byte as the character of that number. */
function textOf(data: unknown): string {
  if (typeof data !== 'string') return ''
  const bytes = Buffer.from(data, 'latin1')
  return isUtf8(bytes) && !/[^\x00-\xff]/.test(data) ? bytes.toString('utf8') : data
}

export function bytesOf(input: string | Uint8Array | undefined): Uint8Array | undefined {
  return typeof input === 'string' ? Buffer.from(input, 'utf8') : input
}

function asCharacters(bytes: Uint8Array): Secret {
  return new Secret(Buffer.from(bytes).toString('latin1'))
}

/** Characters beyond ASCII in an argument make the agent unresponsive until the guest restarts. */
function refuseUnsendable(argv: readonly string[], about: CallSubject): void {
  const [program = ''] = argv
  const why =
    program === '' || program.includes('=')
      ? 'that is not a name of a program'
      : argv.some((word) => word.includes('\0'))
        ? 'a word has a zero byte in it'
        : argv.some((word) => /[^\x01-\x7f]/.test(word))
          ? 'words may hold ASCII only here; give the rest as input'
          : undefined
  if (why !== undefined) throw new ShellFailure('no', 'unsendable', `could not ${about.doing}: ${why}`)
}

function pidOf(answer: ApiOutcome, about: CallSubject): number {
  if (answer.result !== 'answered') throw failureOf(answer, 'no')
  const pid = isRecord(answer.data) ? countOf(answer.data.pid) : undefined
  if (pid === undefined)
    throw new ShellFailure('maybe', 'unreadable', `could not ${about.doing}: the answer names no process`)
  return pid
}
