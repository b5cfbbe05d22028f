import type { Work } from '../../../world/tasks.ts'
import type { Call } from '../../call.ts'
import { type CopyKind, copyLimit, rateUnder } from '../storage/bandwidth.ts'

/** A disk of a container is copied file by file: the time depends on its content, whose size is not recorded. */
const FILLED = 0.25

/** Lets the time pass that a copy between these storages takes. */
export function copyFiles(
  call: Call,
  work: Pick<Work, 'pass'>,
  diskBytes: number,
  kind: CopyKind,
  between: readonly (string | undefined)[],
): Promise<void> {
  const rate = rateUnder(call, copyLimit(call, kind, between))
  return work.pass(Math.ceil(((diskBytes * FILLED) / rate) * 1000))
}
