/** Words that name what nobody should read over a shoulder. */
const SECRET_WORD = /pass(?:word|wd|phrase)?|secret|token|private[-_]?key|credential|api[-_]?key|^key$/i
/** Places where such a word stands for something that may be seen: a reference to a secret, a file of keys. */
const REFERENCE = /(?:ref|reference|from|file|name|id|hash|fingerprint)$/i

/**
 * A manifest with its secrets taken out: the value behind a key whose name says secret becomes `***`, line for line, so
 * that comments and order stay as they were written. References to secrets (`{env: …}`) stay: they are no secrets.
 */
export function maskManifest(text: string): string {
  const lines = text.split('\n')
  const masked: string[] = []
  let blockIndent: number | undefined
  /** Of a secret key whose value is on the lines below it. */
  let belowIndent: number | undefined
  for (const line of lines) {
    const indent = line.length - line.trimStart().length
    if (belowIndent !== undefined && line.trim() !== '' && !/^\s*#/.test(line)) {
      const [, before = '', item = ''] = /^(\s*(?:- +)*)(.*)$/.exec(line) ?? []
      const below = indent > belowIndent || (indent === belowIndent && before.includes('-'))
      // Fields below it are a reference, or have names of their own; anything else is the secret itself.
      if (below && !/^["']?[\w./-]+["']?\s*:(?:\s|$)/.test(item) && !/^[{[]/.test(item)) {
        masked.push(`${before}***`)
        continue
      }
      if (!below) belowIndent = undefined
    }
    if (blockIndent !== undefined) {
      if (line.trim() === '') continue
      if (indent > blockIndent) continue
      blockIndent = undefined
    }
    const match = /^(\s*(?:- +)*)(["']?)([\w./-]+)\2(\s*:)(\s*)(.*)$/.exec(line)
    const [, lead = '', quote = '', key = '', colon = '', gap = '', written = ''] = match ?? []
    // An anchor or a tag precedes the value.
    const value = written.replace(/^(?:[&!]\S*\s*)+/, '')
    const isEmpty = value === '' || value.startsWith('#')
    if (match !== null && isSecretKey(key) && isEmpty) belowIndent = lead.replaceAll('-', ' ').length
    if (match !== null && isSecretKey(key) && value.startsWith('[')) {
      masked.push(`${lead}${quote}${key}${quote}${colon} [***]`)
      if (!value.includes(']')) blockIndent = lead.replaceAll('-', ' ').length
      continue
    }
    if (match === null || !isSecretKey(key) || isEmpty || /^[{*]/.test(value)) {
      masked.push(
        line
          .replaceAll(INLINE, (all, lead: string, key: string) =>
            isSecretKey(key) && key !== 'key' ? `${lead}***` : all,
          )
          .replaceAll(IN_PROSE, '$1***'),
      )
      continue
    }
    // A block of text (| or >), or text that goes on in the next lines, goes with its key.
    blockIndent = lead.replaceAll('-', ' ').length
    masked.push(`${lead}${quote}${key}${quote}${colon}${gap === '' ? ' ' : gap}***`)
  }
  return masked.join('\n')
}

/** `{password: hunter2, user: x}`: every pair on one line whose value is plain. */
const INLINE = /((?<=[{,]\s*)["']?([\w./-]+)["']?\s*:\s*)(?![{[&*\s])(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^,}\]]+)/g

/** The same wherever it stands, in a comment for one. */
const IN_PROSE =
  /(\b(?:password|passwd|passphrase|secret|token|private[-_]?key|api[-_]?key)["']?\s*:\s*)(?![{[&*\s])(?:"[^"]*"|'[^']*'|[^,}\]\s]+)/gi

function isSecretKey(key: string): boolean {
  return SECRET_WORD.test(key) && !REFERENCE.test(key)
}
