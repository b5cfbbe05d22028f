import { LIMITS } from '../lib/limits.ts'
import { readFullYaml, type YamlFinding } from './yaml/full-yaml.ts'
import { type Dialect, hasOldWords, isReadOtherwise } from './yaml/kubernetes-yaml.ts'
import { deeperQuotes } from './yaml/quoted-lines.ts'
import { NOT_SIMPLE, readSimpleYaml } from './yaml/simple-yaml.ts'

/** One document of a file: its text, and its first line. */
export interface SourceDocument {
  readonly text: string
  readonly line: number
}

/** A document after YAML: a plain tree with prototype-free maps, and what is wrong with the writing. */
export interface ReadDocument {
  readonly document: SourceDocument
  readonly value: unknown
  readonly findings: readonly YamlFinding[]
}

/** One object inside a document: the document itself, or an entry of a List. `base` is the path to it. */
export interface ManifestObject {
  readonly value: Readonly<Record<string, unknown>>
  readonly base: readonly (string | number)[]
}

/** Reads all non-empty documents of a YAML text. Never throws: an unreadable one has findings. */
export function readDocuments(text: string, dialect: Dialect = 'strict'): readonly ReadDocument[] {
  const documents = splitDocuments(text)
  if (documents.length > LIMITS.documentsPerFile) {
    const first = documents[0] ?? { text: '', line: 1 }
    return [unread(first, 'too-large', `more than ${LIMITS.documentsPerFile} documents in one file`)]
  }
  return documents.map((document) => readDocument(document, dialect))
}

/** Kinds of croft and of Crossplane's providers are read strictly wherever they stand. */
const STRICT_GROUPS = /(?:^|\.)(?:croft\.dev|crossplane\.io)\//

/** Documents on their way through kustomize: ours strictly, those of Kubernetes as kustomize reads them. */
export function readAsKustomize(text: string): readonly ReadDocument[] {
  return readDocuments(text).map((read) => {
    const { value, findings, document } = read
    const apiVersion = isFields(value) ? value.apiVersion : undefined
    const ours = typeof apiVersion === 'string' && STRICT_GROUPS.test(apiVersion)
    const plain = findings.length === 0 && !isReadOtherwise(document.text, 'kustomize')
    if (ours || plain || findings.some(isSyntax)) return read
    return readDocument(document, 'kustomize')
  })
}

const NOT_JSON = 'this is not JSON, which has no comments, no comma after the last value, and double quotes only'

/** Reads a JSON text as one document. JSON.parse hides duplicate keys, so ours are parsed again as YAML. */
export function readJson(text: string): readonly ReadDocument[] {
  const document = { text, line: 1 }
  // Such a file may be empty or a note: without a bracket it holds no object.
  if (!/[{[]/.test(text)) return [{ document, value: undefined, findings: [] }]
  try {
    const value: unknown = JSON.parse(text)
    // A manifest may have a typing error in one of the two.
    if (!isFields(value) || !('apiVersion' in value || 'kind' in value)) {
      return [{ document, value: undefined, findings: [] }]
    }
  } catch {
    // Settings of editors and compilers have comments; without these words the text cannot become a manifest.
    if (!/apiVersion|kind/.test(text)) return [{ document, value: undefined, findings: [] }]
    const read = readDocument(document)
    return read.findings.length > 0 ? [read] : [unread(document, 'json-syntax', NOT_JSON)]
  }
  return [readDocument(document)]
}

/** The objects of a document: a List is each of its items. */
export function objectsOf(value: unknown): readonly ManifestObject[] {
  if (!isFields(value)) return []
  const { kind, items } = value
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [{ value, base: [] }]
  // An item that is no object may be a misspelt one, so the list's content is not known.
  if (kind === 'List' && items.some((item) => item !== null && !isFields(item))) return [{ value, base: [] }]
  return items.flatMap((item: unknown, index) => (isFields(item) ? [{ value: item, base: ['items', index] }] : []))
}

export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function readDocument(document: SourceDocument, dialect: Dialect = 'strict'): ReadDocument {
  const { text } = document
  const own = dialect !== 'strict' && (isReadOtherwise(text, dialect) || (dialect === 'kubectl' && hasOldWords(text)))
  const simple = own ? NOT_SIMPLE : readSimpleYaml(document.text)
  if (simple !== NOT_SIMPLE) return { document, value: simple, findings: [] }
  if (document.text.length > LIMITS.yamlDocumentBytes) {
    return unread(
      document,
      'too-large',
      `the document has more than ${LIMITS.yamlDocumentBytes} characters or ${LIMITS.yamlNodes} values`,
    )
  }
  if (/^%/m.test(document.text.slice(0, document.text.search(/^(?!%|#|\s*$)/m)))) {
    return unread(document, 'directive', 'YAML directives (%) are not read')
  }
  const read = readFullYaml(document.text, dialect)
  const shallow = read.findings.some(isSyntax) ? readShallowQuotes(document.text, dialect) : undefined
  return { document, ...(shallow ?? read) }
}

/** Reads the text with its quoted lines indented. Only for foreign objects: croft's own must be valid YAML. */
function readShallowQuotes(text: string, dialect: Dialect): ReturnType<typeof readFullYaml> | undefined {
  const deeper = deeperQuotes(text)
  if (deeper === undefined) return undefined
  const { value, findings } = readFullYaml(deeper.text, dialect)
  if (findings.some(isSyntax) || (dialect === 'strict' && !isOfOthers(value))) return undefined
  return {
    value,
    findings: findings.map((finding) => ({ ...finding, offset: deeper.originalOffset(finding.offset) })),
  }
}

/** Reports whether the text cannot be read there. */
export function isSyntax({ weight }: YamlFinding): boolean {
  return weight === 'syntax'
}

function isOfOthers(value: unknown): boolean {
  return objectsOf(value).every(
    ({ value: { apiVersion } }) => typeof apiVersion === 'string' && !STRICT_GROUPS.test(apiVersion),
  )
}

/**
 * A line that begins with `---` always begins a document and one with `...` always ends one, even inside a string, so
 * that a file can be cut without being read: one broken document leaves the others whole.
 */
export function splitDocuments(text: string): readonly SourceDocument[] {
  const documents: SourceDocument[] = []
  let start = 0
  let line = 1
  const cut = (end: number, next: number) => {
    const part = text.slice(start, end)
    if (/^(?!---(?:\s|$))[^#\s]|^(?:---)?[ \t]+[^#\s]/m.test(part)) documents.push({ text: part, line })
    line += part.split('\n').length - 1
    if (next > end) line += text.slice(end, next).split('\n').length - 1
    start = next
  }
  const mark = /^(?:---|\.\.\.)(?=[ \t\n]|$)/gm
  for (let match = mark.exec(text); match !== null; match = mark.exec(text)) {
    if (match[0] === '---') cut(match.index, match.index)
    else {
      const end = text.indexOf('\n', match.index)
      cut(match.index, end < 0 ? text.length : end + 1)
    }
  }
  cut(text.length, text.length)
  return documents
}

function unread(document: SourceDocument, code: string, message: string): ReadDocument {
  return { document, value: undefined, findings: [{ code, offset: 0, message, weight: 'syntax' }] }
}
