import path from 'node:path/posix'

/** One bug of one line. */
export interface Mutant {
  readonly file: string
  readonly line: number
  /** `=== → !==` with the line around it. */
  readonly change: string
  /** The whole file with the bug in it. */
  readonly text: string
}

/** What somebody mistypes, or forgets, in one place. */
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

/** Every bug that can be made in a source. Comments, imports, types and texts for people are left alone. Pure. */
export function mutantsIn(file: string, text: string): readonly Mutant[] {
  const lines = text.split('\n')
  let comment = false
  let declaration = false
  return lines.flatMap((line, at) => {
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
        .filter((match) => !inText(line, match.index))
        .map((match) => {
          const changed = `${line.slice(0, match.index)}${to}${line.slice(match.index + match[0].length)}`
          return {
            file,
            line: at + 1,
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

/** The files that a file imports, by their paths. Pure. */
export function importsOf(file: string, text: string): readonly string[] {
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, to = '']) => path.join(path.dirname(file), to))
}

/** The tests near a file, the nearest first: its own, then those that reach it by the fewest imports. Pure. */
export function neighbours(
  file: string,
  imports: ReadonlyMap<string, readonly string[]>,
  most: number,
): readonly string[] {
  const importers = new Map<string, string[]>()
  for (const [from, to] of imports) for (const one of to) importers.set(one, [...(importers.get(one) ?? []), from])
  const found: string[] = []
  const seen = new Set([file])
  let rank = [file]
  for (let depth = 0; depth < 4 && rank.length > 0 && found.length < most; depth++) {
    const next: string[] = []
    for (const one of rank)
      for (const from of importers.get(one) ?? []) {
        if (seen.has(from)) continue
        seen.add(from)
        next.push(from)
      }
    const near = (one: string) => (path.dirname(one) === path.dirname(file) ? 0 : /^(?:src|sim)\//.test(one) ? 1 : 2)
    found.push(
      ...next
        .filter((one) => one.endsWith('.test.ts') && !/^test\/(?:browser|binary|real|install)/.test(one))
        .toSorted((a, b) => near(a) - near(b) || (a < b ? -1 : 1)),
    )
    rank = next
  }
  return found.slice(0, most)
}
