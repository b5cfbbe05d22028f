import { createHash } from 'node:crypto'
import path from 'node:path/posix'

/** One bug of one line. */
export interface Mutant {
  readonly file: string
  readonly line: number
  /** `=== → !==` with the line around it. */
  readonly change: string
  /** Which of several equal changes of its file. */
  readonly nth: number
  /** Where in the file it begins. */
  readonly offset: number
  /** The whole file with the bug in it. */
  readonly text: string
}

/** Mistakes of one place: a mistyped or forgotten token. */
const SWAPS: readonly (readonly [from: RegExp, to: string])[] = [
  [/ === /g, ' !== '],
  [/ !== /g, ' === '],
  [/ && /g, ' || '],
  [/ \|\| /g, ' && '],
  [/ <= /g, ' < '],
  [/ >= /g, ' > '],
  [/ < /g, ' <= '],
  [/ > /g, ' >= '],
  [/ \+ 1\b/g, ' - 1'],
  [/ - 1\b/g, ' + 1'],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/\bsome\(/g, 'every('],
  [/\bevery\(/g, 'some('],
  [/\bMath\.min\(/g, 'Math.max('],
  [/\bMath\.max\(/g, 'Math.min('],
  [/(?<=[(\s])!(?=[a-z])/g, ''],
]

/** In a comparison for sorting, equal elements stay equal: `a < b ? -1 : 1` and `a <= b ? -1 : 1` sort alike. */
const COMPARATOR = /[<>] [^?]*\? -?1 : /

/**
 * Every bug that can be made in a source. Comments, imports, types and texts for people are left alone, and so are bugs
 * that change nothing. Pure.
 */
export function mutantsIn(file: string, text: string): readonly Mutant[] {
  const seen = new Map<string, number>()
  return changesIn(file, text).map((mutant) => {
    const nth = seen.get(mutant.change) ?? 0
    seen.set(mutant.change, nth + 1)
    return { ...mutant, nth }
  })
}

function changesIn(file: string, text: string): readonly Omit<Mutant, 'nth'>[] {
  const lines = text.split('\n')
  let comment = false
  let declaration = false
  let begins = 0
  return lines.flatMap((line, at) => {
    const lineBegins = begins
    begins += line.length + 1
    if (line.trimStart().startsWith('/*')) comment = true
    const skipped =
      comment ||
      declaration ||
      /^\s*(?:\/\/|\*|import |export type |type |export interface |interface |readonly |\|)/.test(line)
    if (/^(?:export )?(?:interface|type) /.test(line) && !/[;}]\s*$|= [^{|]+$/.test(line)) declaration = true
    if (declaration && line.startsWith('}')) declaration = false
    if (line.includes('*/')) comment = false
    if (skipped) return []
    return SWAPS.flatMap(([from, to]) =>
      [...line.matchAll(from)]
        .filter((match) => !inText(line, match.index) && !(/^ [<>]/.test(match[0]) && COMPARATOR.test(line)))
        .map((match) => {
          const changed = `${line.slice(0, match.index)}${to}${line.slice(match.index + match[0].length)}`
          return {
            file,
            line: at + 1,
            offset: lineBegins + match.index,
            change: `${match[0].trim()} → ${to.trim() || 'nothing'}: ${line.trim().slice(0, 90)}`,
            text: [...lines.slice(0, at), changed, ...lines.slice(at + 1)].join('\n'),
          }
        }),
    )
  })
}

/** Between quotes, as far as one line tells. */
function inText(line: string, index: number): boolean {
  const before = line.slice(0, index)
  const odd = (quote: string) => (before.split(quote).length - 1) % 2 === 1
  if (odd("'")) return true
  return odd('`') && before.lastIndexOf('${') <= before.lastIndexOf('}')
}

/**
 * As many as wanted, by the seed and by what each mutant is. An edit elsewhere leaves the choice as it was, so that the
 * same seed after new tests tries the same bugs. Pure.
 */
export function sampled(all: readonly Mutant[], wanted: number, seed: string): readonly Mutant[] {
  return all
    .map((mutant) => {
      const what = `${mutant.file}\0${mutant.change}\0${mutant.nth}`
      return { mutant, rank: createHash('sha256').update(`${seed}\0${what}`).digest('hex') }
    })
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, wanted)
    .map(({ mutant }) => mutant)
}

/** The files that a file imports, by their paths. Pure. */
export function importsOf(file: string, text: string): readonly string[] {
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, to = '']) => path.join(path.dirname(file), to))
}

/** What files need, directly or by others, themselves included. Pure. */
export function reached(
  from: readonly string[],
  imports: ReadonlyMap<string, readonly string[]>,
  within: (file: string) => boolean = () => true,
): ReadonlySet<string> {
  const seen = new Set(from)
  for (const file of seen) for (const next of imports.get(file) ?? []) if (within(next)) seen.add(next)
  return seen
}

/** Tests of the page, of packages and of real systems take minutes and more than this machine. */
const NOT_HERE = /^test\/(?:browser|binary|real|real-ssh|install|k3s|clients|docs)\//

/** How far a test is from a file: its own test, one of its folder, one of its part of the program, or any other. Pure. */
export function nearness(test: string, file: string): 0 | 1 | 2 | 3 {
  if (test === file.replace(/\.ts$/, '.test.ts')) return 0
  if (path.dirname(test) === path.dirname(file)) return 1
  const part = file.startsWith('src/drivers/') ? 3 : 2
  const inPart = file.split('/').slice(0, part).join('/')
  return test.startsWith(`${inPart}/`) ? 2 : 3
}

/** The tests that reach a file: its own, those of its folder and part, then the shortest and nearest. Pure. */
export function neighbours(
  file: string,
  imports: ReadonlyMap<string, readonly string[]>,
  cost: (test: string) => number,
): readonly string[] {
  const importers = new Map<string, string[]>()
  for (const [from, to] of imports) for (const one of to) importers.set(one, [...(importers.get(one) ?? []), from])
  const distance = new Map([[file, 0]])
  for (const [one, far] of distance)
    for (const from of importers.get(one) ?? []) if (!distance.has(from)) distance.set(from, far + 1)
  return [...distance.keys()]
    .filter((one) => one.endsWith('.test.ts') && !NOT_HERE.test(one))
    .toSorted(
      (a, b) =>
        nearness(a, file) - nearness(b, file) ||
        cost(a) * (distance.get(a) ?? 0) - cost(b) * (distance.get(b) ?? 0) ||
        (a < b ? -1 : a > b ? 1 : 0),
    )
}

/** A part of a file that V8 counted: from, to, and whether it ran. */
export type Counted = readonly [from: number, to: number, ran: boolean]

/** The same parts of several processes, once each: it ran if one of them ran it. Pure. */
export function withoutRepeats(counted: readonly Counted[]): Counted[] {
  const parts = new Map<string, Counted>()
  for (const part of counted) {
    const place = `${part[0]}-${part[1]}`
    if (part[2] || !parts.has(place)) parts.set(place, part)
  }
  return [...parts.values()]
}

/** Whether the code at a place of a file ran: the smallest part around it says so. Pure. */
export function ranAt(counted: readonly Counted[], offset: number): boolean {
  let smallest: Counted | undefined
  for (const part of counted) {
    const [from, to] = part
    if (offset < from || offset >= to) continue
    const larger = smallest === undefined ? 1 : smallest[1] - smallest[0] - (to - from)
    // Of several processes one may have run it.
    if (larger > 0 || (larger === 0 && part[2])) smallest = part
  }
  return smallest?.[2] ?? false
}
