/** More lines than this are compared at both ends only: the table would grow with the square. */
const MOST_LINES = 2_000

/** `-old`, `+new` and up to two lines around them, in order. */
export function lineDiff(from: string, to: string): readonly string[] {
  const [a, b] = [linesOf(from), linesOf(to)]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const middle = compare(a.slice(start, a.length - end), b.slice(start, b.length - end))
  const before = a.slice(Math.max(0, start - 2), start).map((line) => ` ${line}`)
  const after = a.slice(a.length - end, a.length - end + 2).map((line) => ` ${line}`)
  return [...before, ...middle, ...after]
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

/** By the longest common run of lines. */
function compare(a: readonly string[], b: readonly string[]): readonly string[] {
  if (a.length * b.length > MOST_LINES * MOST_LINES)
    return [...a.map((line) => `-${line}`), ...b.map((line) => `+${line}`)]
  const width = b.length + 1
  const table = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i * width + j] =
        a[i] === b[j]
          ? (table[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(table[(i + 1) * width + j] ?? 0, table[i * width + j + 1] ?? 0)
  const lines: string[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(` ${a[i]}`)
      i++
      j++
    } else if (j >= b.length || (i < a.length && (table[(i + 1) * width + j] ?? 0) >= (table[i * width + j + 1] ?? 0)))
      lines.push(`-${a[i++]}`)
    else lines.push(`+${b[j++]}`)
  }
  return lines
}
