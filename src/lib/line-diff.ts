import { LIMITS } from './limits.ts'

/** A kept, removed or added line, with its number on its side. */
export interface LineEdit {
  readonly sign: '+' | '-' | ' '
  readonly text: string
  readonly line: number
}

/**
 * The shortest way from one text to another, line by line (Myers 1986). Very different texts cost the square of their
 * length: beyond the limit, all lines between the first and the last difference are replaced. Pure.
 */
export function lineDiff(before: readonly string[], after: readonly string[]): readonly LineEdit[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail++
  const same = (text: string, index: number): LineEdit => ({ sign: ' ', text, line: index + 1 })
  return [
    ...after.slice(0, head).map(same),
    ...between(before.slice(head, before.length - tail), after.slice(head, after.length - tail), head),
    ...after.slice(after.length - tail).map((text, index) => same(text, after.length - tail + index)),
  ]
}

function between(before: readonly string[], after: readonly string[], offset: number): readonly LineEdit[] {
  const goes = (index: number): LineEdit => ({ sign: '-', text: before[index] ?? '', line: offset + index + 1 })
  const comes = (index: number): LineEdit => ({ sign: '+', text: after[index] ?? '', line: offset + index + 1 })
  const trace = furthest(before, after)
  if (trace === undefined) return [...before.map((_, index) => goes(index)), ...after.map((_, index) => comes(index))]
  const edits: LineEdit[] = []
  let [x, y] = [before.length, after.length]
  for (let d = trace.length - 1; d >= 0; d--) {
    const reached = trace[d] ?? new Map<number, number>()
    const k = x - y
    const down = k === -d || (k !== d && (reached.get(k - 1) ?? -1) < (reached.get(k + 1) ?? -1))
    const fromK = down ? k + 1 : k - 1
    const fromX = d === 0 ? 0 : (reached.get(fromK) ?? 0)
    const fromY = d === 0 ? 0 : fromX - fromK
    while (x > fromX && y > fromY) {
      x--
      y--
      edits.push({ sign: ' ', text: after[y] ?? '', line: offset + y + 1 })
    }
    if (d === 0) break
    if (down) edits.push(comes(--y))
    else edits.push(goes(--x))
  }
  return edits.reverse()
}

/** Returns the furthest point of each diagonal before every round; undefined beyond the maximum of edits. */
function furthest(
  before: readonly string[],
  after: readonly string[],
): readonly ReadonlyMap<number, number>[] | undefined {
  const trace: Map<number, number>[] = []
  const reached = new Map<number, number>([[1, 0]])
  const most = Math.min(before.length + after.length, LIMITS.diff.edits)
  for (let d = 0; d <= most; d++) {
    trace.push(new Map(reached))
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (reached.get(k - 1) ?? -1) < (reached.get(k + 1) ?? -1))
      let x = down ? (reached.get(k + 1) ?? 0) : (reached.get(k - 1) ?? 0) + 1
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++
      reached.set(k, x)
      if (x >= before.length && x - k >= after.length) return trace
    }
  }
  return undefined
}
