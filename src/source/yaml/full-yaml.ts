import type { Document, Node, Pair, Scalar } from 'yaml'
import { lazily } from '../../lib/lazily.ts'
import { LIMITS } from '../../lib/limits.ts'
import { yamlLibrary } from '../../lib/yaml-library.ts'
import { blockOfKubernetes, type Dialect, plainScalar } from './kubernetes-yaml.ts'
import { slipOfPasting } from './pasted-text.ts'

/** Something wrong at an offset of the text. */
export interface YamlFinding {
  readonly code: string
  readonly offset: number
  readonly message: string
  readonly hint?: string
  /** syntax: unreadable. strict: other readers might read it, perhaps differently. */
  readonly weight: 'syntax' | 'strict'
}

export interface FullYaml {
  readonly value: unknown
  readonly findings: readonly YamlFinding[]
}

/**
 * Reads one document with the full reader: strictly, so that nothing that two readers could read differently gets
 * through, or as a tool of Kubernetes reads it.
 */
export function readFullYaml(text: string, dialect: Dialect = 'strict'): FullYaml {
  const document = parseOne(text)
  if ('code' in document) return { value: undefined, findings: [document] }
  const findings: YamlFinding[] = []
  const conflict = document.errors.length === 0 ? -1 : text.search(/^(?:<{7}|={7}|>{7})(?: |$)/m)
  if (conflict !== -1) return { value: undefined, findings: [mergeConflict(conflict)] }
  const pasted = document.errors.length === 0 ? undefined : slipOfPasting(text)
  if (pasted !== undefined)
    return { value: undefined, findings: [{ code: 'yaml-syntax', weight: 'syntax', ...pasted }] }
  const template = lazily(() => /\{\{|\{%|\$\{/.test(text))
  for (const [index, error] of document.errors.entries()) {
    // A second error for the same place.
    if (error.code === 'MULTILINE_IMPLICIT_KEY' && document.errors[index - 1]?.pos[0] === error.pos[0]) continue
    if (/call stack/i.test(error.message)) return { value: undefined, findings: [tooDeep(error.pos[0])] }
    findings.push(findingOf(error, text, template))
  }
  if (findings.some((finding) => finding.weight === 'syntax')) return { value: undefined, findings }
  for (const warning of document.warnings) {
    findings.push({ code: 'tag', offset: warning.pos[0], message: firstLine(warning.message), weight: 'strict' })
  }
  const walk = new Walk(document, findings, dialect, text.endsWith('\n') ? undefined : text.length)
  const value = document.contents === null ? null : walk.value(document.contents, 0)
  return { value, findings }
}

/** Reports the conflict once. Git writes both sides into the file, and each of its lines would be a separate error. */
function mergeConflict(offset: number): YamlFinding {
  return {
    code: 'merge-conflict',
    offset,
    message: 'a merge conflict of Git is not resolved here',
    hint: 'keep the lines that are meant, remove the lines with <<<<<<<, ======= and >>>>>>>, and commit',
    weight: 'syntax',
  }
}

type YamlError = Document['errors'][number]

function findingOf(error: YamlError, text: string, template: () => boolean): YamlFinding {
  const offset = error.pos[0]
  if (error.code === 'DUPLICATE_KEY') {
    const [key = ''] = /^[\w.-]{1,60}/.exec(text.slice(offset, offset + 60)) ?? []
    const message = key === '' ? 'the same key is in one map twice' : `the key ${key} is in one map twice`
    return { code: 'duplicate-key', offset, message, hint: 'remove one of them', weight: 'strict' }
  }
  if (error.code === 'TAB_AS_INDENT')
    return { code: 'tab', offset, message: firstLine(error.message), hint: 'indent with spaces', weight: 'syntax' }
  const deeper = error.code === 'BLOCK_AS_IMPLICIT_KEY' ? deeperLine(text, offset) : undefined
  if (deeper !== undefined)
    return {
      code: 'yaml-syntax',
      offset: deeper,
      message: 'this line is indented deeper than the one above it, which has its value already',
      hint: 'give it the same indentation as the fields that it stands beside',
      weight: 'syntax',
    }
  return {
    code: 'yaml-syntax',
    offset,
    message: firstLine(error.message),
    weight: 'syntax',
    ...(template() ? { hint: 'if this is a template and no manifest, name it in .croftignore' } : {}),
  }
}

/**
 * Returns the start of a deeper line below a value. YAML reads `host: a` with a deeper `memory: 4Gi` under it as one
 * long value with a colon in it, and the library's message, for the line above, does not explain that.
 */
function deeperLine(text: string, offset: number): number | undefined {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const end = text.indexOf('\n', offset)
  const own = /^( *)(?:- +)?[^\s#:]+: +\S/.exec(text.slice(start, end === -1 ? text.length : end))
  const next = end === -1 ? null : /^( *)[^\s#:]+:(?:\s|$)/.exec(text.slice(end + 1))
  if (own === null || next === null) return undefined
  const deeper = (next[1] ?? '').length
  return deeper > (own[1] ?? '').length ? end + 1 + deeper : undefined
}

/** Returns the tree of one document, to look up positions. Undefined if it cannot be parsed. */
export function documentTree(text: string): Document | undefined {
  const document = parseOne(text)
  return 'code' in document ? undefined : document
}

const OPTIONS = {
  version: '1.2',
  schema: 'core',
  uniqueKeys: true,
  merge: false,
  prettyErrors: false,
  logLevel: 'silent',
} as const

function parseOne(text: string): Document | YamlFinding {
  try {
    const parsed = yamlLibrary().parseAllDocuments(text, OPTIONS)
    const document = 'empty' in parsed ? undefined : parsed[0]
    if (document !== undefined && parsed.length === 1) return document
    return { code: 'yaml-syntax', offset: 0, message: 'this is not one YAML document', weight: 'syntax' }
  } catch (error) {
    // The reader works by recursion: thousands of levels end its stack.
    if (error instanceof RangeError) return tooDeep(0)
    throw error
  }
}

function tooDeep(offset: number): YamlFinding {
  return { code: 'too-deep', offset, message: `more than ${LIMITS.yamlDepth} levels deep`, weight: 'syntax' }
}

const REFUSED_KEYS = new Set(['__proto__', 'constructor', 'prototype'])
const KNOWN_TAGS = /^tag:yaml\.org,2002:(?:map|seq|str|int|float|bool|null)$/

/** Goes through the tree once: makes plain values without prototypes and notes what is refused. */
class Walk {
  readonly #document: Document
  readonly #findings: YamlFinding[]
  readonly #dialect: Dialect
  /** End of the text, if it has no final line break. */
  readonly #unended: number | undefined
  #nodes = 0
  #aliases = 0
  #full = false

  constructor(document: Document, findings: YamlFinding[], dialect: Dialect, unended: number | undefined) {
    this.#document = document
    this.#findings = findings
    this.#dialect = dialect
    this.#unended = unended
  }

  value(node: unknown, depth: number): unknown {
    const { isAlias, isMap, isScalar, isSeq } = yamlLibrary()
    if (this.#full || node === null || node === undefined) return null
    if (!isScalar(node) && !isMap(node) && !isSeq(node) && !isAlias(node)) return null
    if (depth > LIMITS.yamlDepth) return this.#stop(tooDeep(offsetOf(node)))
    if (++this.#nodes > LIMITS.yamlNodes) {
      return this.#stop(refused('too-large', node, `more than ${LIMITS.yamlNodes} values in one document`, 'syntax'))
    }
    if (isAlias(node)) {
      if (++this.#aliases > LIMITS.yamlAliases) {
        return this.#stop(refused('aliases', node, `more than ${LIMITS.yamlAliases} aliases in one document`, 'syntax'))
      }
      const target = node.resolve(this.#document)
      if (target === undefined) {
        this.#findings.push(refused('unknown-alias', node, `no anchor is called ${node.source}`, 'strict'))
      }
      return this.value(target, depth + 1)
    }
    if (node.tag !== undefined && !KNOWN_TAGS.test(node.tag)) {
      this.#findings.push(refused('tag', node, `the tag ${node.tag} is not read`, 'strict'))
      return null
    }
    if (isScalar(node)) return this.#scalar(node)
    if (isSeq(node)) return node.items.map((item) => this.value(item, depth + 1))
    const map: Record<string, unknown> = Object.create(null)
    for (const pair of node.items) {
      if (node.flow === true && this.#dialect === 'kustomize') this.#unsaid(pair)
      this.#pair(pair, map, depth)
    }
    return map
  }

  /** Refuses `{labels: }`, which is null to one tool of Kubernetes and an empty text to another. */
  #unsaid({ key, value }: Pair): void {
    if (!yamlLibrary().isScalar(value) || value.type !== 'PLAIN' || value.source !== '' || value.tag !== undefined)
      return
    const message = 'a value in braces is left out, which kustomize makes an empty text of'
    this.#findings.push(refused('unsaid-value', key as Node, message, 'syntax', 'write null or ""'))
  }

  #pair(pair: Pair, map: Record<string, unknown>, depth: number): void {
    const at = pair.key as Node
    const named = this.#dialect !== 'strict' && yamlLibrary().isAlias(at) ? at.resolve(this.#document) : at
    const key = yamlLibrary().isScalar(named) ? this.#key(named) : undefined
    if (key === undefined && this.#dialect !== 'strict') {
      // Nearly always the braces of a template, which no tool of Kubernetes reads as they stand.
      this.#findings.push(refused('bad-key', at, 'a key must be text, and a map or a list is none', 'syntax'))
    } else if (typeof key !== 'string') {
      // Text that looks like a number or a boolean is a key to one reader and an error to the next.
      this.#findings.push(refused('bad-key', at, 'a key must be text', 'strict', 'write it in quotes'))
      map[String(key)] = this.value(pair.value, depth + 1)
    } else if (REFUSED_KEYS.has(key)) {
      this.#findings.push(refused('bad-key', at, `${key} cannot be the name of a field`, 'strict'))
    } else if (key === '<<' && this.#dialect !== 'strict') {
      this.#mergeInto(map, this.value(pair.value, depth + 1), at)
    } else if (key === '<<') {
      this.#findings.push(refused('merge-key', at, 'merge keys (<<) are not read', 'strict', 'write the fields out'))
    } else {
      map[key] = this.value(pair.value, depth + 1)
    }
  }

  /** Tools of Kubernetes make text of every key; croft wants it written as text. */
  #key(node: Scalar): unknown {
    if (this.#dialect === 'strict' || node.source === undefined || node.type !== 'PLAIN') return node.value
    const value = plainScalar(node.source, this.#dialect)
    if (typeof value === 'string') return value
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : node.value
  }

  /** Fields of the map itself win over those that are merged into it, wherever they stand. */
  #mergeInto(map: Record<string, unknown>, value: unknown, at: Node): void {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one === null || typeof one !== 'object' || Array.isArray(one))
        this.#findings.push(refused('merge-key', at, 'only a map can be merged (<<)', 'syntax'))
      else for (const [name, inner] of Object.entries(one)) if (!Object.hasOwn(map, name)) map[name] = inner
    }
  }

  #scalar(node: Scalar): unknown {
    const { value, source } = node
    if (this.#dialect !== 'strict' && node.type === 'PLAIN' && node.tag === undefined) {
      const plain = plainScalar(source ?? '', this.#dialect)
      if (plain === undefined)
        this.#findings.push(
          refused(
            'ambiguous-number',
            node,
            `${(source ?? '').slice(0, 40)} cannot be kept exactly`,
            'syntax',
            'write it in quotes',
          ),
        )
      return plain
    }
    if (this.#dialect !== 'strict' && typeof value === 'string' && node.type?.startsWith('BLOCK_') === true) {
      const spread = this.#dialect === 'kustomize' && node.type === 'BLOCK_FOLDED'
      return blockOfKubernetes(value, spread, node.range?.[1] === this.#unended)
    }
    if (typeof value === 'bigint') return Number(value)
    if (typeof value !== 'number') return value
    // 1.10 would become 1.1, 1e3 1000, 010 8 or 10: refuse numbers that do not read back as written.
    if (source !== undefined && source !== String(value)) {
      this.#findings.push(
        refused(
          'ambiguous-number',
          node,
          `${source.slice(0, 40)} would be read as the number ${value}`,
          'strict',
          `write "${source.slice(0, 40)}" in quotes if it is text${numberHint(source, value)}`,
        ),
      )
    }
    return value
  }

  #stop(finding: YamlFinding): null {
    this.#full = true
    this.#findings.push(finding)
    return null
  }
}

/** A file mode is octal to Kubernetes and decimal to YAML of today. */
function numberHint(source: string, value: number): string {
  if (/^0[0-7]+$/.test(source)) return `, ${Number.parseInt(source, 8)} if it is an octal number such as a file mode`
  return Number.isFinite(value) ? `, ${value} if it is a number` : ''
}

function refused(code: string, node: Node, message: string, weight: YamlFinding['weight'], hint?: string): YamlFinding {
  return { code, offset: offsetOf(node), message, weight, ...(hint === undefined ? {} : { hint }) }
}

function offsetOf(node: Node | null | undefined): number {
  return node?.range?.[0] ?? 0
}

function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').slice(0, 200)
}
