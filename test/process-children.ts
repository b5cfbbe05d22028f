import { readFileSync } from 'node:fs'

/** Processes that this one started and that still run; none where it has ended. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .split(' ')
      .map(Number)
      .filter((child) => child > 0)
  } catch {
    return []
  }
}
