import { readdirSync, readFileSync } from 'node:fs'

/**
 * In the environment of everything that a test run starts. Children inherit it, even those that leave their parent and
 * its group: so the run finds and ends them all.
 */
export const MARK = 'CROFT_TEST_RUN'

interface Running {
  readonly pid: number
  readonly parent: number
  /** Processor time of it and of its children that have ended, in clock ticks. */
  readonly ticks: number
}

/** Whether processes can be looked at here. */
export const SEES_PROCESSES = process.platform === 'linux'

/** Returns the processes with this mark, or a longer one, and their descendants (a container has another environment). */
function runningWith(mark: string): readonly Running[] {
  if (!SEES_PROCESSES) return []
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => runningAt(Number(name)) ?? [])
  const found = new Set(all.filter(({ pid }) => isMarked(pid, mark)).map(({ pid }) => pid))
  for (let before = -1; before < found.size; ) {
    before = found.size
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid)
  }
  return all.filter(({ pid }) => found.has(pid))
}

/** How much processor time they have had, in clock ticks: a hundredth of a second. */
export function ticksOf(mark: string): number {
  return runningWith(mark).reduce((sum, { ticks }) => sum + ticks, 0)
}

/** Ends all of them at once, again until none starts another. */
export function endAll(mark: string): void {
  for (let round = 0; round < 5; round++) {
    const left = runningWith(mark).filter(({ pid }) => pid !== process.pid)
    if (left.length === 0) return
    for (const { pid } of left) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It ended between the look and the signal.
      }
    }
  }
}

/** Processor time of the children of this process that have ended, in milliseconds. */
export function spentByChildrenMs(): number {
  const fields = statOf('self')
  return fields === undefined ? 0 : (Number(fields[13]) + Number(fields[14])) * 10
}

function runningAt(pid: number): Running | undefined {
  const fields = statOf(String(pid))
  if (fields === undefined) return undefined
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  // A zombie has ended.
  return fields[0] === 'Z' ? undefined : { pid, parent: Number(fields[1]), ticks }
}

/** Fields of stat from the third on: the second is a name, in which anything may stand. */
function statOf(pid: string): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

function isMarked(pid: number, mark: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`.includes(`\0${MARK}=${mark}`)
  } catch {
    return false
  }
}
