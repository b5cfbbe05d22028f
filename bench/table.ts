/** A table of right-aligned columns. Headings of several words are written on as many lines. */
export function showTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const words = head.map((title) => title.split(' '))
  const height = Math.max(...words.map((parts) => parts.length))
  const headLines = Array.from({ length: height }, (_, line) =>
    words.map((parts) => parts[line - (height - parts.length)] ?? ''),
  )
  const all = [...headLines, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  return all.map((row) => widths.map((width, column) => (row[column] ?? '').padStart(width)).join('  ')).join('\n')
}
