import { createHash } from 'node:crypto'
import { annotatedPolicy } from '../kinds/fields/annotations.ts'
import { explain, SECRET_IN_MANIFEST, show, unknownField } from '../kinds/fields/explain.ts'
import { objectName } from '../kinds/fields/text.ts'
import type { FieldProblem, Kind, RawManifest } from '../kinds/kind.ts'
import { LIMITS } from '../lib/limits.ts'
import { type ComposedBy, type Policy, type ResourceKey, resourceKey } from '../model/declaration.ts'
import { IGNORE_FILE } from './files/ignore-rules.ts'
import { identify } from './identify.ts'
import { isFields, type ManifestObject, objectsOf, type ReadDocument, type SourceDocument } from './manifest.ts'
import { brokenOfOthers, namesOurGroup } from './yaml/broken-text.ts'
import type { YamlFinding } from './yaml/full-yaml.ts'
import { templateNote } from './yaml/template-text.ts'

/** The judgement of one object of a file. Depends on the text alone, so it is cached by the text's hash. */
export type JudgedObject = {
  readonly document: SourceDocument
  readonly base: readonly (string | number)[]
  readonly problems: readonly FieldProblem[]
  readonly findings: readonly YamlFinding[]
  readonly kind?: Kind
  /** Known as soon as kind and name are: for refused objects too, so that they do not count as removed. */
  readonly key?: ResourceKey
  readonly composedBy?: ComposedBy
} & (
  | {
      readonly outcome: 'declared'
      readonly kind: Kind
      readonly key: ResourceKey
      readonly apiVersion: string
      readonly metadata: RawManifest['metadata']
      readonly spec: unknown
      readonly policy: Policy
      readonly generation: string
    }
  | { readonly outcome: 'refused' }
  | {
      readonly outcome: 'ignored'
      readonly apiVersion: string
      readonly kindName: string
      readonly note?: string
      readonly standsForAnother?: true
    }
  /** The text cannot be read: objects missing from the file do not count as removed. */
  | { readonly outcome: 'unreadable' }
)

/** Judges every object of a document. */
export function judgeDocument(read: ReadDocument): readonly JudgedObject[] {
  const { document, findings } = read
  const broken = findings.some((finding) => finding.weight === 'syntax')
  const template = broken ? templateNote(document.text, findings) : undefined
  if (template !== undefined) return [nothingOfOurs(document, template)]
  if (broken && isList(document) && findings.every(isWriting) && !namesOurGroup(document.text))
    return [nothingOfOurs(document, brokenNote(document, findings))]
  if (broken) {
    const slips = findings.filter(({ weight }) => weight === 'syntax')
    const others = slips.every(isWriting) ? brokenOfOthers(document.text) : undefined
    if (others !== undefined) return [ofAnotherProgram(document, slips, others)]
    const first = perhapsNoManifest(document, firstOf(findings))
    return [{ outcome: 'unreadable', document, base: [], problems: [], findings: first }]
  }
  const objects = objectsOf(read.value)
  if (objects.length === 0)
    return [typeof read.value === 'string' ? standIn(document) : nothingOfOurs(document, 'not an object')]
  // Findings have a place in the text but no field; report them once, with the first object that is ours.
  let left = findings
  return objects.map((object) => {
    const judged = judgeObject(object, document, left)
    if (judged.outcome !== 'ignored') left = []
    return judged
  })
}

/** A text in the place of a file: a pointer of Git LFS, or a link that was checked out as text. It may declare anything. */
function standIn(document: SourceDocument): JudgedObject {
  const isPointer = document.text.startsWith('version https://git-lfs')
  const note = isPointer ? 'a pointer of Git LFS, whose content is elsewhere' : 'text, not an object'
  const message = `this is ${note}: what it declares is not read, and what was declared before and is not found is kept`
  const problem: FieldProblem = {
    code: 'not-read',
    path: [],
    message,
    hint: 'put the manifest itself here',
    severity: 'warning',
  }
  return { ...ignoredDocument(document, note), problems: [problem], standsForAnother: true }
}

/** Reports whether a finding is a typing error, not a text made to be costly. */
function isWriting({ code }: YamlFinding): boolean {
  return code === 'yaml-syntax' || code === 'json-syntax' || code === 'tab'
}

/** Reports whether the text is a top-level list, such as a playbook's tasks: no correction makes it a manifest. */
function isList({ text }: SourceDocument): boolean {
  return /^(?:[ \t]*(?:#.*)?\n|---[ \t]*\n)*- /.test(text)
}

/** Describes the first error in a foreign file, so that its author learns why it is not read. */
function brokenNote({ text, line }: SourceDocument, findings: readonly YamlFinding[]): string {
  const finding = findings.find(({ weight }) => weight === 'syntax')
  const at = line + text.slice(0, finding?.offset ?? 0).split('\n').length - 1
  return `a list, no manifest, and not readable (line ${at}: ${finding?.message ?? 'unknown'})`
}

/** Judges a broken file that cannot hold a declaration: one warning, because its own program cannot read it either. */
function ofAnotherProgram(document: SourceDocument, findings: readonly YamlFinding[], why: string): JudgedObject {
  const told = findings.slice(0, 1).map((finding) => ({
    ...finding,
    message: `${finding.message}; the file is left alone, because ${why}`,
    hint: hintWithIgnore(finding.hint),
  }))
  return { ...nothingOfOurs(document, `not readable, and ${why}`), findings: told }
}

function hintWithIgnore(hint = 'correct it'): string {
  return hint.includes(IGNORE_FILE) ? hint : `${hint}, or name the file in ${IGNORE_FILE}`
}

/** Returns the first findings: after one typing error, every further line can be an error. */
function firstOf(findings: readonly YamlFinding[]): readonly YamlFinding[] {
  return findings.slice(0, LIMITS.findingsPerDocument)
}

/**
 * Adds a hint to an unreadable document that names none of our groups: it may belong to another program, and the hint
 * says how to exclude it.
 */
function perhapsNoManifest({ text }: SourceDocument, findings: readonly YamlFinding[]): readonly YamlFinding[] {
  if (/(?:croft\.dev|crossplane\.io)\//.test(text)) return findings
  return findings.map((finding) => {
    const { weight, hint = 'correct it' } = finding
    if (weight !== 'syntax' || hint.includes(IGNORE_FILE)) return finding
    return { ...finding, hint: `${hint}; if this file is not a manifest, name it in ${IGNORE_FILE}` }
  })
}

/** Returns an ignored document with the reason. */
export function nothingOfOurs(document: SourceDocument, note: string): JudgedObject {
  return ignoredDocument(document, note)
}

function ignoredDocument(document: SourceDocument, note: string) {
  return {
    outcome: 'ignored',
    document,
    base: [],
    problems: [],
    findings: [],
    apiVersion: '',
    kindName: '',
    note,
  } as const
}

function judgeObject(object: ManifestObject, document: SourceDocument, findings: readonly YamlFinding[]): JudgedObject {
  const common = { document, base: object.base }
  const identity = identify(object.value)
  if (identity.is === 'foreign' || identity.is === 'unkept') {
    return {
      outcome: 'ignored',
      ...common,
      findings: [],
      problems: identity.is === 'unkept' ? [identity.problem] : openSecret(object.value),
      apiVersion: identity.apiVersion,
      kindName: identity.kind,
      ...(identity.is === 'foreign' && identity.note !== undefined ? { note: identity.note } : {}),
    }
  }
  if (identity.is === 'wrong') return { outcome: 'refused', ...common, findings, problems: [identity.problem] }
  const { kind, apiVersion } = identity
  const { manifest, problems } = envelopeOf(object.value, apiVersion, kind)
  const key =
    manifest === undefined ? undefined : resourceKey(kind.kind, manifest.metadata.name, manifest.metadata.namespace)
  const found: FieldProblem[] = [...problems]
  const parsed = kind.schema.safeParse(object.value.spec ?? Object.create(null))
  if (!parsed.success)
    found.push(
      ...explain(kind.schema, parsed.error, object.value.spec, ['spec'], kind.aliases).map((problem) =>
        withFields(problem, kind),
      ),
    )
  else if (manifest !== undefined) found.push(...(kind.check?.(parsed.data, manifest) ?? []))
  const failed = findings.length > 0 || found.some((problem) => problem.severity !== 'warning')
  if (failed || !parsed.success || manifest === undefined || key === undefined) {
    const reported = manifest !== undefined && annotatedPolicy(manifest).paused ? found.map(ofPaused) : found
    return { outcome: 'refused', ...common, kind, ...(key === undefined ? {} : { key }), findings, problems: reported }
  }
  const policy = kind.policy(parsed.data, manifest)
  // Exclude the drift policy: changing it must not make a drift look like a new declaration.
  const { drift: _, ...declared } = policy
  const generation = hashOf({ apiVersion, kind: kind.kind, spec: parsed.data, policy: declared })
  return {
    outcome: 'declared',
    ...common,
    kind,
    key,
    apiVersion,
    metadata: manifest.metadata,
    spec: parsed.data,
    policy,
    generation,
    findings,
    problems: found,
  }
}

/** Adds the command that lists the fields, if there are too many for the hint. */
function withFields(problem: FieldProblem, { kind }: Kind): FieldProblem {
  if (problem.code !== 'unknown-field' || problem.hint !== undefined) return problem
  const block = problem.path.slice(0, -1).filter((step) => typeof step === 'string')
  return { ...problem, hint: `run croft explain ${[kind.toLowerCase(), ...block].join('.')} to see its fields` }
}

/**
 * Warns of a Secret with plain-text values. croft leaves it alone, but Git keeps what was committed, so everyone who
 * can clone the repository has it. A placeholder that another tool fills in (`${NAME}`) is allowed.
 */
function openSecret({ apiVersion, kind, metadata, sops, ...rest }: ManifestObject['value']): readonly FieldProblem[] {
  if (apiVersion !== 'v1' || kind !== 'Secret' || sops !== undefined) return []
  for (const block of ['stringData', 'data']) {
    const values = rest[block]
    const open = isFields(values)
      ? Object.keys(values).find((key) => typeof values[key] === 'string' && !/^(?:\$\{.*\})?$/.test(values[key]))
      : undefined
    if (open === undefined) continue
    const name = isFields(metadata) && typeof metadata.name === 'string' ? metadata.name.slice(0, 60) : 'without a name'
    return [
      {
        code: SECRET_IN_MANIFEST,
        path: [block, open],
        severity: 'warning',
        message: `Secret ${show(name)} is not encrypted: everybody who can read the repository can read its values`,
        hint: 'encrypt the file with sops (docs/secrets.md); if it was pushed, make new values',
      },
    ]
  }
  return []
}

/** Turns errors of a paused object into warnings: croft writes nothing for it. It still does not count as removed. */
function ofPaused(problem: FieldProblem): FieldProblem {
  if (problem.severity === 'warning') return problem
  return {
    ...problem,
    severity: 'warning',
    message: `${problem.message}; the object is paused and left out until then`,
  }
}

const TOP = ['apiVersion', 'kind', 'metadata', 'spec', 'status']
/** Kubernetes writes these itself; they are read over. */
const METADATA = ['name', 'namespace', 'labels', 'annotations']
const METADATA_OTHER = new Set(
  'uid generation resourceVersion creationTimestamp deletionTimestamp deletionGracePeriodSeconds managedFields selfLink ownerReferences finalizers'.split(
    ' ',
  ),
)

export function envelopeOf(value: ManifestObject['value'], apiVersion: string, kind: Kind) {
  const problems: FieldProblem[] = []
  for (const field of Object.keys(value)) {
    if (!TOP.includes(field)) problems.push(unknownField([field], field, TOP))
  }
  if (value.spec === undefined || value.spec === null) {
    problems.push({ code: 'missing-field', path: ['spec'], message: 'spec is missing' })
  }
  const metadata = value.metadata
  if (!isFields(metadata)) {
    problems.push({ code: 'missing-field', path: ['metadata'], message: 'metadata with a name is missing' })
    return { problems }
  }
  for (const field of Object.keys(metadata)) {
    if (METADATA.includes(field) || METADATA_OTHER.has(field)) continue
    problems.push(
      field === 'generateName'
        ? {
            code: 'unknown-field',
            path: ['metadata', field],
            message: 'generateName is not read: what Git declares has a name',
            hint: 'use name',
          }
        : unknownField(['metadata', field], field, METADATA),
    )
  }
  const labels = textMap(metadata.labels, ['metadata', 'labels'], problems)
  const annotations = textMap(metadata.annotations, ['metadata', 'annotations'], problems)
  const name = nameField(metadata.name, 'name', problems)
  const namespace = metadata.namespace === undefined ? undefined : nameField(metadata.namespace, 'namespace', problems)
  if (name === undefined) return { problems }
  // Crossplane's cluster-wide kinds and our own facts have no namespace; one that is written changes nothing there.
  const counts = kind.namespaced === undefined || kind.namespaced(apiVersion)
  const manifest: RawManifest = {
    apiVersion,
    kind: kind.kind,
    metadata: { name, ...(namespace === undefined || !counts ? {} : { namespace }), labels, annotations },
    spec: value.spec,
  }
  return { manifest, problems }
}

function nameField(value: unknown, field: string, problems: FieldProblem[]): string | undefined {
  const parsed = objectName.safeParse(value)
  if (parsed.success) return parsed.data
  problems.push(...explain(objectName, parsed.error, value, ['metadata', field]))
  return undefined
}

function textMap(value: unknown, path: readonly string[], problems: FieldProblem[]): Readonly<Record<string, string>> {
  const map: Record<string, string> = Object.create(null)
  if (value === undefined || value === null) return map
  if (!isFields(value)) {
    problems.push({ code: 'wrong-type', path, message: `${path.join('.')} must be a block of fields` })
    return map
  }
  for (const [name, entry] of Object.entries(value)) {
    if (typeof entry === 'string' && entry.length <= 10_000) map[name] = entry
    else {
      problems.push({
        code: 'wrong-type',
        path: [...path, name],
        message: `${name} must be text`,
        ...(typeof entry === 'number' || typeof entry === 'boolean' ? { hint: `write it in quotes: "${entry}"` } : {}),
      })
    }
  }
  return map
}

/**
 * A hash of the meaning. Schemas give their fields back in their own order, so the order in the file does not show.
 */
function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
}
