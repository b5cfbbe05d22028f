/** One instruction of a compiled pattern, numbered as in RE2. */
interface Instruction {
  readonly op: number
  readonly out: number
  readonly arg: number
  matchRune(rune: number): boolean
}

/** A compiled pattern as a program. */
export interface PatternProgram {
  readonly inst: readonly Instruction[]
  readonly start: number
}

const [ALT, ALT_MATCH, CAPTURE, EMPTY_WIDTH, FAIL, MATCH, NOP] = [1, 2, 3, 4, 5, 6, 7]
const [RUNE_ANY, RUNE_ANY_NOT_NL] = [10, 11]
const NEWLINE = 10

/** A thread of the program, with the bounds of its groups. */
interface Way {
  readonly at: number
  readonly bounds: readonly number[]
}

/**
 * Returns the first match of a pattern with its groups, as Go selects them. Runs all threads in parallel, by priority,
 * so the time is linear in text times pattern. Undefined: no match.
 */
export function groupsIn({ inst, start }: PatternProgram, text: string): readonly (string | undefined)[] | undefined {
  let ways: Way[] = []
  let found: readonly number[] | undefined
  for (let at = 0; at <= text.length; ) {
    const rune = text.codePointAt(at)
    const context = edgesAt(text, at)
    const here: Way[] = []
    const seen = new Set<number>()
    for (const way of ways) follow(inst, way, at, context, here, seen)
    if (found === undefined) follow(inst, { at: start, bounds: [] }, at, context, here, seen)
    ways = []
    for (const { at: place, bounds } of here) {
      const one = inst[place]
      if (one === undefined) continue
      if (one.op === MATCH) {
        found = withBound(bounds, 1, at)
        // Stop here: the remaining threads have lower priority.
        break
      }
      if (rune !== undefined && takes(one, rune)) ways.push({ at: one.out, bounds })
    }
    if (found !== undefined && ways.length === 0) break
    at += rune !== undefined && rune > 0xffff ? 2 : 1
  }
  if (found === undefined) return undefined
  const groups: (string | undefined)[] = []
  for (let group = 0; group < groupCount(inst); group++) {
    const [from = -1, to = -1] = [found[2 * group], found[2 * group + 1]]
    groups.push(from < 0 || to < 0 ? undefined : text.slice(from, to))
  }
  return groups
}

function groupCount(inst: readonly Instruction[]): number {
  return inst.reduce((most, { op, arg }) => (op === CAPTURE ? Math.max(most, Math.floor(arg / 2) + 1) : most), 1)
}

/** Advances to the next instructions that take a letter or match; the first thread at an instruction has priority. */
function follow(
  inst: readonly Instruction[],
  from: Way,
  at: number,
  context: number,
  here: Way[],
  seen: Set<number>,
): void {
  const open: Way[] = [from.bounds.length === 0 ? { at: from.at, bounds: [at] } : from]
  for (let way = open.pop(); way !== undefined; way = open.pop()) {
    const one = inst[way.at]
    if (one === undefined || seen.has(way.at)) continue
    seen.add(way.at)
    const { bounds } = way
    switch (one.op) {
      case ALT:
      case ALT_MATCH:
        open.push({ at: one.arg, bounds }, { at: one.out, bounds })
        break
      case NOP:
        open.push({ at: one.out, bounds })
        break
      case CAPTURE:
        open.push({ at: one.out, bounds: withBound(bounds, one.arg, at) })
        break
      case EMPTY_WIDTH:
        if ((one.arg & ~context) === 0) open.push({ at: one.out, bounds })
        break
      case FAIL:
        break
      default:
        here.push(way)
    }
  }
}

function withBound(bounds: readonly number[], place: number, at: number): readonly number[] {
  const next = [...bounds]
  while (next.length <= place) next.push(-1)
  next[place] = at
  return next
}

function takes(one: Instruction, rune: number): boolean {
  if (one.op === RUNE_ANY) return true
  return one.op === RUNE_ANY_NOT_NL ? rune !== NEWLINE : one.matchRune(rune)
}

/** Returns the conditions between two letters: edge of line (1, 2), of text (4, 8), of word (16), or none (32). */
function edgesAt(text: string, at: number): number {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)]
  const [first, last] = [at === 0, at === text.length]
  const word = (code: number) => /^\w$/.test(String.fromCharCode(code))
  const edge = (!first && word(before)) !== (!last && word(after))
  return (
    (first || before === NEWLINE ? 1 : 0) |
    (last || after === NEWLINE ? 2 : 0) |
    (first ? 4 : 0) |
    (last ? 8 : 0) |
    (edge ? 16 : 32)
  )
}
