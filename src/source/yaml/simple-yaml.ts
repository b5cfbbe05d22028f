import { LIMITS } from '../../lib/limits.ts'

/** The text uses something beyond the plain subset: the full reader must look at it. */
export const NOT_SIMPLE: unique symbol = Symbol('not simple')

/**
 * Reads the YAML that manifests are nearly always written in (block maps and lists, one-line scalars, literal blocks,
 * small flow collections) some twenty times faster than the full reader. It never guesses: text outside the subset,
 * broken or merely unusual, gives NOT_SIMPLE and goes to the full reader, which also finds the errors. A property test
 * compares the two.
 */
export function readSimpleYaml(text: string): unknown {
  if (text.includes('\t')) return NOT_SIMPLE
  const lines = text.split('\n')
  const reader = new YamlReader(lines)
  const value = reader.document()
  return reader.failed ? NOT_SIMPLE : value
}

const KEY = /([A-Za-z_][A-Za-z0-9_./-]*):(?: +|$)/y
const NOT_KEYS = /^(?:__proto__|constructor|prototype|true|false|null|yes|no|on|off|y|n)$/i
const PLAIN_START = /[A-Za-z0-9_./+$(<=^-]/
const FLOW_WORD = /[A-Za-z0-9_./](?:[A-Za-z0-9_./+@-]|:(?=[A-Za-z0-9/]))*/y
const WHOLE = /^-?(?:0|[1-9][0-9]{0,14})$/
/** Texts that some YAML reader takes for a number: dates, octals, exponents, sexagesimals, dots alone. */
const NUMBER_LIKE =
  /^[-+.]?[0-9][0-9_,.:]*(?:[eE][-+]?[0-9]+)?$|^0[xob][0-9a-fA-F_]+$|^[-+]?\.(?:inf|nan|[0-9]+)|^[-+.]+$/i

type YamlFields = Record<string, unknown>

/** A class, because all methods share the position; it lives for one call of readSimpleYaml. */
class YamlReader {
  failed = false
  readonly #lines: string[]
  #at = 0
  #nodes = 0

  constructor(lines: string[]) {
    this.#lines = lines
  }

  document(): unknown {
    if (/^---(?: *| +#.*)$/.test(this.#lines[0] ?? '')) this.#at = 1
    const indent = this.#next()
    if (indent < 0) return this.#fail()
    const value = this.#block(indent, 0)
    if (this.#next() >= 0) return this.#fail()
    return value
  }

  #fail(): undefined {
    this.failed = true
    return undefined
  }

  /** Moves to the next line with content and returns its indentation; -1 at the end. */
  #next(): number {
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at] ?? ''
      let indent = 0
      while (line.charCodeAt(indent) === 32) indent++
      if (indent < line.length && line.charCodeAt(indent) !== 35) return indent
    }
    return -1
  }

  #block(indent: number, depth: number): unknown {
    if (depth > LIMITS.yamlDepth - 2) return this.#fail()
    return isItem(this.#lines[this.#at] ?? '', indent) ? this.#list(indent, depth) : this.#map(indent, depth)
  }

  #map(indent: number, depth: number): unknown {
    const map: YamlFields = Object.create(null)
    for (;;) {
      const found = this.#next()
      if (found < indent) return map
      const line = this.#lines[this.#at] ?? ''
      KEY.lastIndex = indent
      const match = found > indent ? null : KEY.exec(line)
      const key = match?.[1]
      if (key === undefined || key in map || NOT_KEYS.test(key) || ++this.#nodes > LIMITS.yamlNodes) return this.#fail()
      const rest = line.slice(KEY.lastIndex)
      if (rest === '' || rest.startsWith('#')) {
        this.#at++
        map[key] = this.#below(indent, depth, true)
      } else if (rest.startsWith('|')) {
        map[key] = this.#literal(rest, indent)
      } else {
        this.#at++
        map[key] = this.#inline(rest, depth)
      }
      if (this.failed) return undefined
    }
  }

  #list(indent: number, depth: number): unknown {
    const list: unknown[] = []
    for (;;) {
      const found = this.#next()
      const line = this.#lines[this.#at] ?? ''
      // A key at the indentation of the dashes ends the list and belongs to the map around it.
      if (found < indent || (found === indent && !isItem(line, indent))) return list
      if (found > indent || ++this.#nodes > LIMITS.yamlNodes) return this.#fail()
      let start = indent + 1
      while (line.charCodeAt(start) === 32) start++
      const rest = line.slice(start)
      KEY.lastIndex = 0
      if (rest === '' || rest.startsWith('#')) {
        this.#at++
        list.push(this.#below(indent, depth, false))
      } else if (KEY.test(rest)) {
        // `- name: x` opens a map with its keys at the column of `name`.
        this.#lines[this.#at] = ' '.repeat(start) + rest
        list.push(depth > LIMITS.yamlDepth - 3 ? this.#fail() : this.#map(start, depth + 1))
      } else {
        this.#at++
        list.push(this.#inline(rest, depth))
      }
      if (this.failed) return undefined
    }
  }

  /** Reads the value below a key or a dash without one on its line. */
  #below(indent: number, depth: number, underKey: boolean): unknown {
    const found = this.#next()
    if (found > indent) return this.#block(found, depth + 1)
    if (underKey && found === indent && isItem(this.#lines[this.#at] ?? '', indent))
      return this.#list(indent, depth + 1)
    return null
  }

  /** A literal block: everything indented deeper, as it stands. */
  #literal(header: string, indent: number): unknown {
    const keep = header === '|-' ? '' : header === '|' ? '\n' : undefined
    if (keep === undefined) return this.#fail()
    const first = this.#lines[++this.#at] ?? ''
    const inner = first.length - first.replace(/^ +/, '').length
    if (inner <= indent || inner === first.length) return this.#fail()
    const body: string[] = []
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at] ?? ''
      const blank = /^ *$/.test(line)
      if (blank && line.length > inner) return this.#fail()
      // The surrounding map refuses a line that is deeper than the key but not as deep as the block.
      if (!blank && !line.startsWith(' '.repeat(inner))) break
      body.push(blank ? '' : line.slice(inner))
    }
    while (body.at(-1) === '') body.pop()
    return body.join('\n') + keep
  }

  /** A value on its line. A line indented deeper behind it would continue it: the caller sees that and gives up. */
  #inline(rest: string, depth: number): unknown {
    const first = rest[0] ?? ''
    if (first === '"' || first === "'") {
      const end = rest.indexOf(first, 1)
      const inner = rest.slice(1, end)
      if (end < 0 || inner.includes('\\') || !isEnd(rest, end + 1)) return this.#fail()
      return inner
    }
    if (first === '{' || first === '[') {
      const flow = { text: rest, at: 0 }
      const value = this.#flow(flow, depth + 1)
      return this.failed || !isEnd(rest, flow.at) ? this.#fail() : value
    }
    const comment = rest.indexOf(' #')
    const plain = rightTrim(comment < 0 ? rest : rest.slice(0, comment))
    if (!PLAIN_START.test(first) || plain.includes(': ') || plain.endsWith(':')) return this.#fail()
    return this.#plain(plain)
  }

  #plain(text: string): unknown {
    if (text === 'true') return true
    if (text === 'false') return false
    if (WHOLE.test(text) && text !== '-0') return Number(text)
    if (/^(?:null|true|false)$/i.test(text)) return text === 'null' ? null : this.#fail()
    if (NUMBER_LIKE.test(text) && !/^[0-9]+(?:\.[0-9]+){2,}$/.test(text)) return this.#fail()
    if (text.startsWith('-')) return this.#fail()
    return text
  }

  #flow(flow: { readonly text: string; at: number }, depth: number): unknown {
    if (++this.#nodes > LIMITS.yamlNodes || depth > LIMITS.yamlDepth - 2) return this.#fail()
    const open = flow.text[flow.at]
    if (open !== '{' && open !== '[') return this.#flowScalar(flow)
    const close = open === '{' ? '}' : ']'
    const map: YamlFields = Object.create(null)
    const list: unknown[] = []
    flow.at++
    for (let first = true; ; first = false) {
      skipSpaces(flow)
      if (flow.text[flow.at] === close && first) break
      if (open === '{') {
        const key = this.#flowWord(flow)
        if (key === undefined || key in map || NOT_KEYS.test(key) || /^[0-9.]/.test(key)) return this.#fail()
        if (flow.text[flow.at] !== ':' || flow.text[flow.at + 1] !== ' ') return this.#fail()
        flow.at++
        skipSpaces(flow)
        map[key] = this.#flow(flow, depth + 1)
      } else list.push(this.#flow(flow, depth + 1))
      if (this.failed) return undefined
      skipSpaces(flow)
      if (flow.text[flow.at] === close) break
      if (flow.text[flow.at] !== ',') return this.#fail()
      flow.at++
    }
    flow.at++
    return open === '{' ? map : list
  }

  #flowScalar(flow: { readonly text: string; at: number }): unknown {
    const quote = flow.text[flow.at] ?? ''
    if (quote === '"' || quote === "'") {
      const end = flow.text.indexOf(quote, flow.at + 1)
      const inner = flow.text.slice(flow.at + 1, end)
      if (end < 0 || inner.includes('\\') || !/[ ,\]}]/.test(flow.text[end + 1] ?? '')) return this.#fail()
      flow.at = end + 1
      return inner
    }
    const word = this.#flowWord(flow)
    if (word === undefined || !/[ ,\]}]/.test(flow.text[flow.at] ?? '')) return this.#fail()
    return this.#plain(word)
  }

  #flowWord(flow: { readonly text: string; at: number }): string | undefined {
    FLOW_WORD.lastIndex = flow.at
    const word = FLOW_WORD.exec(flow.text)?.[0]
    if (word !== undefined) flow.at += word.length
    return word
  }
}

function isItem(line: string, indent: number): boolean {
  return line.charCodeAt(indent) === 45 && (line.length === indent + 1 || line.charCodeAt(indent + 1) === 32)
}

/** Reports whether only spaces or a comment follow. */
function isEnd(text: string, at: number): boolean {
  return /^(?: *| +#.*)$/.test(text.slice(at))
}

function rightTrim(text: string): string {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === 32) end--
  return text.slice(0, end)
}

function skipSpaces(flow: { readonly text: string; at: number }): void {
  while (flow.text.charCodeAt(flow.at) === 32) flow.at++
}
