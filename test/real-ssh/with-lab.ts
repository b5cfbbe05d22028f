import { after } from 'node:test'
import { type Lab, labMissing, openLab } from './lab.ts'

/** The most time for one test on a busy computer: long enough for a slow one, and it ends one that hangs. */
const TEST_TIMEOUT_MS = 240_000

/**
 * The lab of a test file: opened by the first test that asks for it, closed when all are done. `within` are the options
 * of each of its tests; `more` says what else is missing, where something is.
 */
export function labWith(names: readonly string[], more: () => string | undefined = () => undefined) {
  const skip = labMissing() ?? more() ?? false
  let opened: Promise<Lab> | undefined
  after(async () => (await opened)?.close())
  return { lab: () => (opened ??= openLab(names)), within: { skip, timeout: TEST_TIMEOUT_MS } } as const
}
