import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ImportedText, ImportRequest } from '../foreign/import-text.ts'
import type { ForeignFile } from '../foreign/reading.ts'
import { createCage } from './cage.ts'

/** Reads foreign files in the cage. Rejects with TooCostly beyond the limits of time or memory. */
export async function importInCage(
  request: ImportRequest,
  files: readonly ForeignFile[],
  clock: Clock,
  { deadlineMs = LIMITS.readMs, heapMb = LIMITS.importHeapMb }: { deadlineMs?: number; heapMb?: number } = {},
): Promise<ImportedText> {
  const { imported } = await createCage(heapMb).perform(
    { job: 'import', ...request },
    { clock, deadlineMs, placeOf: () => 'reading it' },
    files.map(({ path, text }) => ({ path, bytes: Buffer.from(text) })),
  )
  return imported ?? { problem: 'the process that reads it gave no answer' }
}
