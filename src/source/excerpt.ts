const WIDTH = 110

/** The line before, the line itself and a mark under the place, cut to a sane width. */
export function excerpt(text: string, line: number, column: number): string {
  const lines = text.split('\n', line)
  const width = String(line).length
  // A very long line is shown around the place.
  const from = column > WIDTH ? column - Math.floor(WIDTH / 2) : 0
  const cut = (source: string) => printable(masked(source).slice(from, from + WIDTH))
  const rows: string[] = []
  const before = lines[line - 2]
  if (before !== undefined && before.trim() !== '') rows.push(`${String(line - 1).padStart(width)} | ${cut(before)}`)
  rows.push(`${String(line).padStart(width)} | ${cut(lines[line - 1] ?? '')}`)
  rows.push(`${' '.repeat(width)} | ${' '.repeat(Math.max(0, column - 1 - from))}^`)
  return rows.join('\n')
}

/** Text of others that can go to a terminal: nothing in it moves the cursor, colours or reverses. */
export function printable(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, '?')
}

/** Where a secret is written although it should not be, or by mistake: the line is shown, the value never. */
const SECRETS: readonly RegExp[] = [
  /((?:token|password|passwd|passphrase|secret)["']?\s*[:=]\s*)(?:"[^"]*"|'[^']*'|[^\s"'{[&*|>#][^\s#]*)/gi,
  /([\w.-]+@[\w.-]+![\w.-]+=)[0-9a-f-]{8,}/gi,
  /()AGE-SECRET-KEY-1[0-9A-Z]+/g,
  /()\bK10[0-9a-f]{64}::\S+/g,
]

function masked(line: string): string {
  return SECRETS.reduce((text, pattern) => text.replace(pattern, '$1***'), line)
}
