import { LIMITS } from '../../lib/limits.ts'
import type { Shell } from '../../lib/shell.ts'
import type { Outcome } from '../../model/step.ts'
import { askProgram, DONE, outcomeOf, type ProgramAnswer, refused } from './node-lane.ts'

export interface Copying {
  readonly from: { readonly name: string; readonly shell: Shell; readonly path: string }
  readonly to: { readonly name: string; readonly shell: Shell; readonly path: string }
  /** Once true, no further piece is started: the next call continues. */
  isLate(): boolean
  readonly signal: AbortSignal
}

/**
 * Copies a snapshot of any size from one node to another in pieces, over any lanes; no side ever holds more than one
 * piece. Resumes where an earlier call stopped. The copy counts only once its checksum matches the original's.
 */
export async function copySnapshot({ from, to, isLate, signal }: Copying): Promise<Outcome> {
  const fail = (reply: Unanswered, doing: string): Outcome => outcomeOf(reply, doing)
  const measured = await askProgram(from.shell, ['measure', from.path], signal)
  if (measured.is !== 'answer') return fail(measured, `measure ${from.path} on ${from.name}`)
  const size = numberIn(measured.value, 'bytes')
  const taken = await askProgram(to.shell, ['taken', to.path], signal)
  if (taken.is !== 'answer') return fail(taken, `look for ${to.path} on ${to.name}`)
  let at = numberIn(taken.value, 'bytes')
  // It is a leftover of another copy.
  if (at > size) at = 0
  while (at < size) {
    if (isLate())
      return refused('Copying', 'waiting', `copied ${mebibytes(at)} of ${mebibytes(size)} MiB to ${to.name}`)
    const piece = await askProgram(
      from.shell,
      ['piece', from.path, String(at), String(LIMITS.snapshotPieceBytes)],
      signal,
    )
    if (piece.is !== 'answer') return fail(piece, `read ${from.path} on ${from.name}`)
    const put = await askProgram(to.shell, ['take', to.path, String(at)], signal, textIn(piece.value, 'base64'))
    if (put.is !== 'answer') return fail(put, `write ${to.path} on ${to.name}`)
    const now = numberIn(put.value, 'bytes')
    if (now <= at) return refused('Copying', 'backoff', `${to.name} took nothing more of ${to.path} at ${at} bytes`)
    at = now
  }
  const kept = await askProgram(to.shell, ['keep', to.path, textIn(measured.value, 'sha256')], signal)
  return kept.is === 'answer' ? DONE : fail(kept, `keep the copy of ${from.path} on ${to.name}`)
}

type Unanswered = Exclude<ProgramAnswer<unknown>, { readonly is: 'answer' }>

function numberIn(answer: Readonly<Record<string, unknown>>, field: string): number {
  const value = answer[field]
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}

function textIn(answer: Readonly<Record<string, unknown>>, field: string): string {
  const value = answer[field]
  return typeof value === 'string' ? value : ''
}

function mebibytes(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20)
}
