import { maskedLines } from '../../model/masked/masked-manifest.ts'
import { SWALLOWED } from '../../model/masked/secret-text.ts'

const WIDTH = 110

/** The line before, the line itself and a mark under the place, cut to a sane width. */
export function excerpt(text: string, line: number, column: number): string {
  const lines = shownLines(text)
  const width = String(line).length
  // A very long line is shown around the place.
  const from = column > WIDTH ? column - Math.floor(WIDTH / 2) : 0
  const cut = (at: number) => printable(shownLine(lines, at).slice(from, from + WIDTH))
  const rows: string[] = []
  const before = cut(line - 2)
  if (before.trim() !== '') rows.push(`${String(line - 1).padStart(width)} | ${before}`)
  rows.push(`${String(line).padStart(width)} | ${cut(line - 1)}`)
  rows.push(`${' '.repeat(width)} | ${' '.repeat(Math.max(0, column - 1 - from))}^`)
  return rows.join('\n')
}

/** Text of others that can go to a terminal: nothing in it moves the cursor, colours or reverses. */
export function printable(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, '?')
}

/** Cache of the last text: a file with many problems is masked once. */
let last: { readonly text: string; readonly lines: readonly string[] } | undefined

function shownLines(text: string): readonly string[] {
  if (last?.text !== text) last = { text, lines: maskedLines(text) }
  return last.lines
}

/** Mask whole texts: the last line of a secret is as secret as the first. */
function shownLine(lines: readonly string[], at: number): string {
  const line = lines[at] ?? ''
  return line === SWALLOWED ? '***' : line
}
