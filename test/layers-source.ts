/** A source file as data, so that every rule can be shown a made-up violation. */
export interface SourceFile {
  /** From the repository's root, with forward slashes: `src/plan/things/decide.ts`. */
  readonly path: string
  readonly text: string
}

export interface Import {
  readonly line: number
  /** As written: `../model/step.ts`, `node:fs`, `zod`. */
  readonly specifier: string
  /** The path of the file when it is one of ours, the specifier otherwise. */
  readonly target: string
  /** Names taken from it: `isIP`; `*` for everything; empty for none. */
  readonly names: readonly string[]
  /** An import() whose path is not a plain string: its target is unknown. */
  readonly computed: boolean
}

/** The code of a file alone. Line breaks stay where they are; comments and the insides of texts are gone. */
export interface Code {
  /** Every text literal is `"N"`, where N is its place in `literals`. */
  readonly text: string
  readonly literals: readonly string[]
}

/** Every import, export-from, import() and require() of a file. */
export function importsOf(file: SourceFile): readonly Import[] {
  const code = codeOf(file.text)
  const found: Import[] = []
  const add = (at: number, literal: string | undefined, clause: string) => {
    const specifier = literal === undefined ? '' : (code.literals[Number(literal)] ?? '')
    found.push({
      line: lineAt(code.text, at),
      specifier,
      target: specifier.startsWith('.') ? joined(file.path, specifier) : specifier,
      names: namesIn(clause),
      computed: literal === undefined,
    })
  }
  for (const match of code.text.matchAll(/\b(?:import|export)\b\s*(?:([\w\s{},*$]*?)\bfrom\b\s*)?"(\d+)"/g)) {
    add(match.index, match[2], match[1] ?? '')
  }
  for (const match of code.text.matchAll(/\b(?:import|require)\s*\(\s*(?:"(\d+)"\s*[,)])?/g))
    add(match.index, match[1], '*')
  return found.sort((a, b) => a.line - b.line)
}

/**
 * Takes comments and texts out of a file, character by character. What stands inside `${}` of a template is code. A
 * slash begins a pattern where an operand is expected and divides otherwise, which the character before it tells well
 * enough for code that a formatter has been over.
 */
export function codeOf(text: string): Code {
  const literals: string[] = []
  let out = ''
  let at = 0
  /** How many braces are open inside each `${` that we are in. */
  const templates: number[] = []

  const blank = (end: number) => {
    out += text.slice(at, end).replace(/[^\n]/g, ' ')
    at = end
  }
  const literal = (value: string, end: number) => {
    const lines = text.slice(at, end).split('\n').length - 1
    out += `"${literals.length}"${'\n'.repeat(lines)}`
    literals.push(value)
    at = end
  }
  /** From inside a template to its end or to the next `${`. */
  const template = () => {
    const end = endOf(text, at, /`|\$\{/y)
    const opens = text.startsWith('${', end - 2)
    literal(text.slice(at, end - (opens ? 2 : 1)), end)
    if (opens) templates.push(0)
  }

  while (at < text.length) {
    const char = text[at] ?? ''
    const depth = templates.at(-1)
    if (text.startsWith('//', at)) blank(lineEnd(text, at))
    else if (text.startsWith('/*', at)) blank(text.indexOf('*/', at + 2) + 2 || text.length)
    else if (char === "'" || char === '"') {
      const end = endOf(text, at + 1, char === "'" ? /'/y : /"/y)
      literal(text.slice(at + 1, end - 1), end)
    } else if (char === '`') {
      at += 1
      template()
    } else if (char === '/' && operandExpected(out)) blank(endOfPattern(text, at))
    else if (char === '}' && depth === 0) {
      templates.pop()
      at += 1
      template()
    } else {
      if (depth !== undefined && char === '{') templates[templates.length - 1] = depth + 1
      if (depth !== undefined && char === '}') templates[templates.length - 1] = depth - 1
      out += char
      at += 1
    }
  }
  return { text: out, literals }
}

export function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

/** The position after the first match of `stop` that no backslash stands before. */
function endOf(text: string, from: number, stop: RegExp): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at += 1
    else {
      stop.lastIndex = at
      if (stop.test(text)) return stop.lastIndex
    }
  }
  return text.length
}

function endOfPattern(text: string, from: number): number {
  let inClass = false
  for (let at = from + 1; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at += 1
    else if (char === '\n') return from + 1
    else if (char === '[') inClass = true
    else if (char === ']') inClass = false
    else if (char === '/' && !inClass) return at + 1
  }
  return text.length
}

function operandExpected(before: string): boolean {
  const tail = before.trimEnd()
  return (
    tail === '' ||
    /[=(,:[!&|?{};+\-*%<>~^]$/.test(tail) ||
    /\b(?:return|typeof|case|in|of|do|else|void|delete|await|yield|throw)$/.test(tail)
  )
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

function namesIn(clause: string): readonly string[] {
  if (clause.includes('*')) return ['*']
  return [...clause.matchAll(/(?:\btype\s+)?([\w$]+)(?:\s+as\s+[\w$]+)?/g)]
    .map((match) => match[1] ?? '')
    .filter((name) => name !== 'type')
}

/** `src/plan/things/decide.ts` and `../model/step.ts` make `src/model/step.ts`. */
function joined(from: string, specifier: string): string {
  const parts = from.split('/').slice(0, -1)
  for (const part of specifier.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.') parts.push(part)
  }
  return parts.join('/')
}
