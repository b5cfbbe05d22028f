import { clean, type Style } from './text.ts'

export interface Column {
  readonly title: string
  /** Longer cells are cut: one long message must not push every other column off the screen. */
  readonly max?: number
}

/** Columns three spaces apart, as kubectl prints them. The last column is not padded. Cells are cleaned here. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  style: Style,
  options: { readonly headers?: boolean } = {},
): string {
  const body = rows.map((row) => columns.map((column, index) => cell(row[index] ?? '', column.max)))
  const head = columns.map((column) => column.title)
  const shown = options.headers === false ? body : [head, ...body]
  const widths = columns.map((_, index) => Math.max(0, ...shown.map((row) => displayWidth(row[index] ?? ''))))
  return shown
    .map((row, number) => {
      const line = row
        .map((text, index) => (index === row.length - 1 ? text : padded(text, widths[index] ?? 0)))
        .join('   ')
      const trimmed = line.trimEnd()
      return number === 0 && options.headers !== false ? style.paint('bold', trimmed) : coloured(trimmed, style)
    })
    .map((line) => `${line}\n`)
    .join('')
}

function cell(text: string, max = 120): string {
  const cleaned = clean(text)
  return cleaned.length > max ? `${cleaned.slice(0, max - 1)}…` : cleaned
}

// Colour is only an addition: the words True and False are always there.
function coloured(line: string, style: Style): string {
  if (!style.colour) return line
  return line.replace(/(?<=\s)(True|False|Unknown)(?=\s|$)/g, (word) =>
    style.paint(word === 'True' ? 'green' : word === 'False' ? 'red' : 'yellow', word),
  )
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)))
}

// Wide characters (CJK, most emoji) take two cells; a name in them must not shift the columns after it.
function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (/\p{M}/u.test(character)) continue
    width += isWide(code) ? 2 : 1
  }
  return width
}

function isWide(code: number): boolean {
  return (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  )
}
