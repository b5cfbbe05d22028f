import { isUtf8 } from 'node:buffer'

/** Why bytes are not readable text, with the place. */
export interface TextFinding {
  readonly code: string
  readonly line: number
  readonly column: number
  readonly message: string
  readonly hint?: string
}

/** Characters that have no business in a manifest and that terminals and readers take for something else. */
const UNWANTED = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/

/** Bytes as text with plain line ends. Only UTF-8, without a byte order mark, with one kind of line end. */
export function textOf(bytes: Uint8Array): { readonly text: string } | { readonly finding: TextFinding } {
  const mark = byteOrderMark(bytes)
  if (mark !== undefined) {
    const message = `the file begins with a byte order mark (${mark})`
    return { finding: { code: 'encoding', line: 1, column: 1, message, hint: 'save it as UTF-8 without one' } }
  }
  if (!isUtf8(bytes)) {
    const lenient = new TextDecoder('utf-8').decode(bytes)
    const place = placeOf(lenient, Math.max(0, lenient.indexOf('\ufffd')))
    return { finding: { code: 'encoding', ...place, message: 'the file is not UTF-8', hint: 'save it as UTF-8' } }
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  const unwanted = UNWANTED.exec(text)
  if (unwanted !== null) {
    const code = (unwanted[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    return {
      finding: {
        code: 'control-character',
        ...placeOf(text, unwanted.index),
        message: `the character U+${code} cannot stand in a manifest`,
      },
    }
  }
  return text.includes('\r') ? plainLineEnds(text) : { text }
}

function plainLineEnds(text: string): { readonly text: string } | { readonly finding: TextFinding } {
  const odd = /\r(?!\n)|(?<!\r)\n/.exec(text)
  if (odd === null) return { text: text.replaceAll('\r\n', '\n') }
  return {
    finding: {
      code: 'line-ends',
      ...placeOf(text, odd.index),
      message: 'the file has more than one kind of line end',
      hint: 'save it with the same line end throughout',
    },
  }
}

function byteOrderMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'UTF-8'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'UTF-16'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'UTF-16'
  return undefined
}

/** Line and column, both from one, of a place in a text. */
export function placeOf(text: string, index: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, index)
  return { line: before.split('\n').length, column: index - before.lastIndexOf('\n') }
}
