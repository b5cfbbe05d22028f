interface PastingSlip {
  readonly pattern: RegExp
  readonly message: (found: string) => string
  readonly hint: string
}

/** Mistakes from pasting YAML off a web page. The library's messages do not explain them. */
const SLIPS: readonly PastingSlip[] = [
  {
    pattern: /(?<=^[ \t]*)[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/m,
    message: (found) =>
      `this line is indented with a character that only looks like a space (U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')})`,
    hint: 'delete the indentation and type it again with spaces',
  },
  {
    pattern: /^[ \t]*```/m,
    message: () => 'this line is a fence of Markdown, not YAML',
    hint: 'remove the lines with ```',
  },
  {
    pattern: /^(?:--|-{4,})[ \t\r]*$/m,
    message: (found) => `${found.trim()} does not separate two documents`,
    hint: 'write ---',
  },
]

/** Returns the first pasting mistake in a text that is no YAML. */
export function slipOfPasting(
  text: string,
): { readonly offset: number; readonly message: string; readonly hint: string } | undefined {
  const found = SLIPS.flatMap(({ pattern, message, hint }) => {
    const match = pattern.exec(text)
    return match === null ? [] : [{ offset: match.index, message: message(match[0]), hint }]
  })
  return found.toSorted((a, b) => a.offset - b.offset)[0]
}
