const WIDTH = 110

/** The line before, the line itself and a mark under the place, cut to a sane width. */
export function excerpt(text: string, line: number, column: number): string {
  const lines = text.split('\n', line)
  const width = String(line).length
  // A very long line is shown around the place.
  const from = column > WIDTH ? column - Math.floor(WIDTH / 2) : 0
  const cut = (at: number) => printable(maskedAt(lines, at).slice(from, from + WIDTH))
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

/** Where a secret is written although it should not be, or by mistake: the line is shown, the value never. */
const SECRETS: readonly RegExp[] = [
  /((?:token|password|passwd|passphrase|secret|(?:api|private|client)[-_]?key)["']?\s*[:=]\s*)(?:"[^"]*"?|'[^']*'?|[^\s"'{[&*|>#][^\s#]*)/gi,
  // Only where a word begins: from each of its letters the search would be as long again, hours in a line of a megabyte.
  /((?<![\w.-])[\w.-]+@[\w.-]+![\w.-]+=)[0-9a-f-]{8,}/gi,
  /()AGE-SECRET-KEY-1[0-9A-Z]+/g,
  /()\bK10[0-9a-f]{64}::\S+/g,
]
/** A key whose value follows on lines of its own: any text in a block, or words that are no field. */
const BLOCK = /(?:token|password|passwd|passphrase|secret|key)["']?\s*:\s*[|>][-+\d]*\s*(?:#.*)?$/i
const OPEN = /(?:token|password|passwd|passphrase|secret|key)["']?\s*:\s*(?:#.*)?$/i
const FIELD = /^\s*(?:- )?["']?[\w./-]+["']?\s*:(?:\s|$)/

function maskedAt(lines: readonly string[], at: number): string {
  const line = lines[at] ?? ''
  const indent = indentOf(line)
  for (let above = at - 1; line.trim() !== '' && above >= Math.max(0, at - FAR); above--) {
    const parent = lines[above] ?? ''
    if (parent.trim() === '' || indentOf(parent) >= indent) continue
    if (BLOCK.test(parent) || (OPEN.test(parent) && !FIELD.test(line))) return `${' '.repeat(indent)}***`
    break
  }
  return SECRETS.reduce((text, pattern) => text.replace(pattern, '$1***'), line)
}

/** How many lines a secret may have; a key or a certificate has a few dozen. */
const FAR = 200

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}
