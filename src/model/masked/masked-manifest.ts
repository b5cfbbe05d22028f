import type { Node, Pair, YAMLMap } from 'yaml'
import { yamlLibrary } from '../../lib/yaml-library.ts'
import { announcesSecret, type Hidden, hiddenOf, isSecretValue } from './secret-fields.ts'
import { namesSecret } from './secret-name.ts'
import { maskWritten, SWALLOWED, swallow } from './secret-text.ts'

/** A replaced piece of the text. */
interface MaskedPiece {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Flow collections nested deeper than this are masked line by line: the YAML parser would take minutes. */
const DEEPEST = 100
const LARGEST = 512 * 1024
/** The nesting limit of texts inside texts. */
const NESTED = 3

/**
 * Returns a manifest, or another person's text, with its secrets masked: fields by name and siblings, and secrets
 * inside texts. Comments, order and references to secrets stay. Pure.
 */
export function maskManifest(text: string, nested = 0): string {
  return maskedLines(text, nested)
    .filter((line) => line !== SWALLOWED)
    .join('\n')
}

/** Returns the masked lines; `SWALLOWED` for the further lines of a secret. Pure. */
export function maskedLines(text: string, nested = 0): readonly string[] {
  return maskLines(text, nested)
    .split('\n')
    .map((line) => (line.includes(SWALLOWED) ? SWALLOWED : line))
}

function maskLines(text: string, nested: number): string {
  if (nested > NESTED) return swallow(text)
  const edits = text.length > LARGEST || isDeep(text) ? undefined : editsOf(text, nested)
  return edits === undefined ? maskLoosely(text) : applied(text, edits)
}

function isDeep(text: string): boolean {
  let depth = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = bracket === '[' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1)
    if (depth > DEEPEST) return true
  }
  return /^(?: *[?-] ){40}/m.test(text)
}

/** Returns undefined if the text is no YAML with fields or a list. */
function editsOf(text: string, nested: number): readonly MaskedPiece[] | undefined {
  const { parseAllDocuments, isCollection } = yamlLibrary()
  try {
    const documents = parseAllDocuments(text, { uniqueKeys: false, prettyErrors: false, strict: false })
    if (!Array.isArray(documents) || documents.some(({ errors }) => errors.length > 0)) return undefined
    if (!documents.some(({ contents }) => isCollection(contents))) return undefined
    const walk = new ManifestWalk(text, nested)
    for (const { contents } of documents) walk.node(contents as Node | null, 'none', '')
    return walk.edits.toSorted((a, b) => a.from - b.from)
  } catch {
    // Too deep for the parser's stack.
    return undefined
  }
}

class ManifestWalk {
  readonly edits: MaskedPiece[] = []
  readonly #text: string
  readonly #nested: number
  /** Names of anchors whose value is used as a secret. */
  readonly #secretAnchors = new Set<string>()
  readonly #anchored = new Map<string, Node>()

  constructor(text: string, nested: number) {
    this.#text = text
    this.#nested = nested
  }

  node(node: Node | null, hidden: Hidden, parent: string): void {
    const { isAlias, isMap, isScalar, isSeq } = yamlLibrary()
    if (node === null) return
    if (isAlias(node)) {
      const source = this.#anchored.get(node.source)
      if (hidden === 'none' || source === undefined || this.#secretAnchors.has(node.source)) return
      this.#secretAnchors.add(node.source)
      this.node(source, hidden, parent)
      return
    }
    if ('anchor' in node && node.anchor !== undefined) this.#anchored.set(node.anchor, node)
    if (isScalar(node)) this.#scalar(node, hidden)
    else if (isSeq(node)) {
      let before: unknown
      for (const item of node.items as Node[]) {
        const value = isScalar(item) ? item.value : undefined
        this.node(item, hidden === 'none' && announcesSecret(before) ? 'plain' : hidden, parent)
        before = value
      }
    } else if (isMap(node)) this.#map(node, hidden, parent)
  }

  #map(map: YAMLMap, hidden: Hidden, parent: string): void {
    const sibling = (name: string) => {
      const value = map.get(name)
      return typeof value === 'string' ? value : undefined
    }
    for (const { key, value } of map.items as Pair<Node, Node | null>[]) {
      const name = nameOf(key)
      this.node(value, hidden === 'all' ? 'all' : hiddenOf({ name, parent, sibling }), name)
    }
  }

  #scalar(node: Node & { readonly value: unknown; readonly type?: string }, hidden: Hidden): void {
    const [from, to] = node.range ?? [0, 0]
    if (from === to) return
    const raw = this.#text.slice(from, to)
    const end = raw.endsWith('\n') ? '\n' : ''
    const body = end === '' ? raw : raw.slice(0, -1)
    const text = this.#maskedScalar(node, hidden, { raw, body, end })
    if (text !== raw) this.edits.push({ from, to, text })
  }

  #maskedScalar(
    { value, type }: { readonly value: unknown; readonly type?: string },
    hidden: Hidden,
    { raw, body, end }: { readonly raw: string; readonly body: string; readonly end: string },
  ): string {
    if (hidden === 'all' || (hidden === 'plain' && isSecretValue(value))) return `${swallow(body)}${end}`
    if (typeof value !== 'string') return raw
    if (type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED') return `${this.#block(body)}${end}`
    if (type === 'PLAIN') return maskWritten(raw)
    const masked = maskManifest(value, this.#nested + 1)
    if (masked === value) return raw
    const quoted = type === 'QUOTE_SINGLE' ? `'${masked.replaceAll("'", "''")}'` : JSON.stringify(masked)
    return raw.includes('\n') || quoted.includes('\n') ? swallow(body) : quoted
  }

  /** A text in a block may be YAML itself: cloud-init, values of a chart. */
  #block(raw: string): string {
    const [header = '', ...lines] = raw.split('\n')
    const indents = lines.flatMap((line) => (line.trim() === '' ? [] : [line.length - line.trimStart().length]))
    const indent = indents.length === 0 ? 0 : Math.min(...indents)
    const inner = maskLines(lines.map((line) => line.slice(indent)).join('\n'), this.#nested + 1)
    const back = inner.split('\n').map((line, index) => {
      const before = lines[index] ?? ''
      return line === before.slice(indent) ? before : `${' '.repeat(indent)}${line}`
    })
    return [header, ...back].join('\n')
  }
}

function nameOf(key: unknown): string {
  const { isScalar } = yamlLibrary()
  return isScalar(key) ? String(key.value) : ''
}

/** Names, brackets and comments between the values stay. */
function applied(text: string, edits: readonly MaskedPiece[]): string {
  const pieces: string[] = []
  let at = 0
  for (const { from, to, text: next } of edits) {
    if (from < at) continue
    pieces.push(withoutTold(text.slice(at, from)), next)
    at = to
  }
  pieces.push(withoutTold(text.slice(at)))
  return pieces.join('')
}

function withoutTold(between: string): string {
  return between.replaceAll(/#.*$/gm, (comment) => maskWritten(comment))
}

const FIELD = /^(\s*(?:- +)*)(["']?)([\w./ -]{1,200}?)\2(\s*[:=](?=\s|$))(\s*)(.*)$/
const SECRET_KIND = /^\s*["']?kind["']?\s*:\s*["']?Secret\b/m

/** Masks text that is no valid YAML: line by line, by each line's name and indentation. */
function maskLoosely(text: string): string {
  const isSecret = SECRET_KIND.test(text)
  let hiddenBelow: { readonly indent: number; readonly fields: boolean } | undefined
  return maskWritten(text)
    .split('\n')
    .map((line) => {
      if (line.includes(SWALLOWED)) return line
      const indent = line.length - line.trimStart().length
      const [, lead = '', quote = '', name = '', colon = '', gap = '', written = ''] = FIELD.exec(line) ?? []
      if (hiddenBelow !== undefined && line.trim() !== '') {
        if (indent > hiddenBelow.indent || (indent === hiddenBelow.indent && /^\s*- /.test(line))) {
          const field = name !== '' && /^(?:\s|$)/.test(`${gap}${written}`)
          if (hiddenBelow.fields || !field) return `${' '.repeat(indent)}***`
        } else hiddenBelow = undefined
      }
      if (name === '') return line
      const below = lead.length
      if (isSecret && /^(?:data|stringData)$/.test(name)) {
        hiddenBelow = { indent: below, fields: true }
        return /^(?:#.*)?$/.test(written) ? line : `${lead}${quote}${name}${quote}${colon}${gap}***`
      }
      if (!namesSecret(name)) return line
      const value = written.replace(/^(?:[&!]\S*\s+)+/, '')
      if (/^[|>]/.test(value)) hiddenBelow = { indent: below, fields: true }
      else if (value === '' || value.startsWith('#') || value.startsWith('[')) {
        hiddenBelow = { indent: below, fields: value.startsWith('[') }
      }
      if (value === '' || /^[#{*]/.test(value) || !isSecretValue(value.replace(/\s+#.*$/, ''))) return line
      if (/^(?:true|false|yes|no|null|~)\s*(?:#.*)?$/i.test(value)) return line
      const comment = /^[^"'#]*?(\s+#.*)$/.exec(value)?.[1] ?? ''
      return `${lead}${quote}${name}${quote}${colon}${gap === '' ? ' ' : gap}***${comment}`
    })
    .join('\n')
}
