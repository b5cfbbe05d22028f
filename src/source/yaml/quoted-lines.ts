/** A text with its quoted values indented, and the mapping back to the original positions. */
export interface DeeperQuotes {
  readonly text: string
  originalOffset(offset: number): number
}

/** A key or an item, and behind it a quote that opens a value. */
const OPENS = /^( *)((?:- +)*)(?:(?:"[^"]*"|'[^']*'|[^\s'"#[\]{},&*!|>%@`-][^'"#]*?)[ \t]*:[ \t]+)?(["'])/
/** A key or an item, and behind it the sign of a text that goes by its own indentation. */
const BLOCK = /^( *)(?:- +)*(?:[^#]*?:[ \t]+)?[|>][-+0-9]*[ \t]*(?:#.*)?$/

/**
 * YAML requires the lines of a quoted value to be deeper than its key; readers in Go, kubectl's among them, do not
 * check. Indents such lines, which leaves the value unchanged. Undefined: no line needs it.
 */
export function deeperQuotes(text: string): DeeperQuotes | undefined {
  const lines = text.split('\n')
  const moves: { readonly at: number; readonly by: number }[] = []
  let offset = 0
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? ''
    const [block, margin = ''] = BLOCK.exec(line) ?? []
    const [opening, indent = '', items = '', quote = ''] = block === undefined ? (OPENS.exec(line) ?? []) : []
    offset += line.length + 1
    if (block !== undefined) {
      while (index + 1 < lines.length && isBelow(lines[index + 1] ?? '', margin.length))
        offset += (lines[++index] ?? '').length + 1
    } else if (opening !== undefined) {
      const wanted = indent.length + items.length + 1
      let open = !closes(line, opening.length, quote)
      while (open && index + 1 < lines.length) {
        const next = lines[++index] ?? ''
        const found = next.length - next.trimStart().length
        if (found < wanted && next.trim() !== '') moves.push({ at: offset, by: wanted - found })
        open = !closes(next, 0, quote)
        offset += next.length + 1
      }
    }
  }
  return moves.length === 0 ? undefined : moved(text, moves)
}

function isBelow(line: string, margin: number): boolean {
  return line.trim() === '' || line.length - line.trimStart().length > margin
}

/** Reports whether the quote ends on this line. Doubled single and escaped double quotes belong to the value. */
function closes(line: string, from: number, quote: string): boolean {
  for (let at = from; at < line.length; at++) {
    if (quote === '"' && line[at] === '\\') at++
    else if (line[at] === quote && quote === "'" && line[at + 1] === "'") at++
    else if (line[at] === quote) return true
  }
  return false
}

function moved(text: string, moves: readonly { readonly at: number; readonly by: number }[]): DeeperQuotes {
  let made = ''
  let done = 0
  for (const { at, by } of moves) {
    made += text.slice(done, at) + ' '.repeat(by)
    done = at
  }
  return {
    text: made + text.slice(done),
    originalOffset(offset) {
      let before = 0
      for (const { at, by } of moves) {
        if (at + before >= offset) break
        before += Math.min(by, offset - at - before)
      }
      return offset - before
    },
  }
}
