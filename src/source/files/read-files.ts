import { createHash } from 'node:crypto'
import { defined } from '../../lib/defined.ts'
import { lazily } from '../../lib/lazily.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Problem } from '../../model/declaration.ts'
import { setAside, type UnreadPath } from '../../model/unread.ts'
import { assemble, type FileOutcome } from '../assemble.ts'
import { createBudget } from '../budget.ts'
import { compose, mayCompose } from '../compose/compose.ts'
import { withLate } from '../compose/late.ts'
import type { Ignored, Revision, SourceFile } from '../git/revision.ts'
import { type JudgedObject, judgeDocument, nothingOfOurs } from '../judge.ts'
import { type FilesInHand, isKustomization } from '../kustomize/build.ts'
import { type BuiltRoot, buildTree } from '../kustomize/tree.ts'
import { NeedsCage } from '../needs-cage.ts'
import { objectsAt } from '../objects-at.ts'
import { brokenOfOthers, namesOurs, otherPrograms } from '../yaml/broken-text.ts'
import { excerpt, printable } from '../yaml/excerpt.ts'
import { originOf } from '../yaml/problem-at.ts'
import { type TextFinding, textOf } from '../yaml/text-of.ts'
import { IGNORE_FILE, leftAlone } from './ignore-rules.ts'
import { blobHash, createParseCache, judgeText, type ParseCache } from './parse-cache.ts'
import type { PassedName } from './walk-files.ts'

export interface FileReading {
  readonly files: readonly SourceFile[]
  /** Files of the same repository above the top (`../base/net.yaml`): read only where a kustomization names them. */
  readonly above?: readonly SourceFile[]
  /** Files other than manifests that generators read, by path. */
  readonly siblings?: ReadonlyMap<string, Uint8Array>
  readonly links: readonly string[]
  /** Names that were skipped although the author may have meant them to be read. */
  readonly passed?: readonly PassedName[]
  /** The text of `.croftignore` at the top. */
  readonly ignore?: string
  /** Links to directories, submodules, templates by name. */
  readonly unread?: readonly UnreadPath[]
  readonly tooLarge?: string
  readonly commit?: string
  readonly cache?: ParseCache
  /** Throws NeedsCage in place of building a kustomization, or expanding or evaluating anything. */
  readonly evaluates?: false
  /** Told of each file before it is read, by its number; of all kustomizations together as -1. */
  begin?(index: number): void
}

/** Files to declarations, wherever the files come from. */
export function readFiles(reading: FileReading): Revision {
  const { commit } = reading
  const at = commit === undefined ? {} : { commit }
  const tooLarge = (why: string): Revision => {
    const message = `the tree is too large: ${why}`
    const problem: Problem = {
      code: 'too-large',
      origin: { file: '.', line: 1, column: 1, ...at },
      message,
      severity: 'error',
    }
    return assemble(commit ?? 'too-large', [], commit, { problems: [problem], ignored: [], incomplete: true })
  }
  if (reading.tooLarge !== undefined) return tooLarge(reading.tooLarge)
  const cache = reading.cache ?? createParseCache()
  const used = new Set<string>()
  const identity = createHash('sha256')
  const outcomes: FileOutcome[] = []
  const all = [...reading.files, ...(reading.above ?? [])]
  const budget = createBudget()
  const alone = leftAlone(
    reading.files.map(({ path }) => path),
    reading.ignore,
  )
  const hand = lazily(() => inHand(all, reading.siblings))
  reading.begin?.(-1)
  if (reading.evaluates === false && reading.files.some(({ path }) => isKustomization(path))) throw new NeedsCage()
  const built = reading.files.some(({ path }) => isKustomization(path)) ? buildTree(hand(), budget, alone) : undefined
  const brings = linesBrought(built?.roots ?? [])
  const left: Ignored[] = (reading.passed ?? []).map(({ path, note }) => ({
    file: printable(path),
    line: 1,
    apiVersion: '',
    kind: '',
    note,
  }))
  const unread: UnreadPath[] = (reading.unread ?? []).map((one) => ({ ...one, path: printable(one.path) }))
  for (const { path, mark } of unread) identity.update(`${path}\0${mark}\n`)
  if (reading.ignore !== undefined) identity.update(`${IGNORE_FILE}\0${reading.ignore}\n`)
  for (const [index, file] of reading.files.entries()) {
    reading.begin?.(index)
    const path = printable(file.path)
    const note = built?.used.has(path) === true ? undefined : alone(file.path)
    if (note !== undefined) {
      left.push({ file: path, line: 1, apiVersion: '', kind: '', note })
      const text = 'bytes' in file ? new TextDecoder().decode(file.bytes) : undefined
      unread.push(text === undefined ? { path, why: note, mark: note } : setAside(path, note, text))
      continue
    }
    if ('refused' in file) {
      identity.update(`${file.path}\0${file.refused.code}\n`)
      outcomes.push(refusedFile(path, { line: 1, column: 1, ...file.refused }, commit))
      continue
    }
    const blob = file.blob ?? blobHash(file.bytes)
    identity.update(`${file.path}\0${blob}\n`)
    if (built?.governs(path) !== true) outcomes.push(judgeFile(path, file.bytes, blob, cache, used, commit))
    else {
      const text = textOf(file.bytes)
      if ('finding' in text) outcomes.push(notText(path, file.bytes, text.finding, commit))
      else if (built.idle.includes(path)) left.push(idleComponent(path))
      else if (!built.used.has(path))
        left.push(...unnamed(path, judgeText(text.text, isJson(path), blob, cache, file.bytes)))
      else if (isKustomization(path)) left.push(kustomizationFile(path, text.text))
      else left.push(...notBrought(path, judgeText(text.text, isJson(path), blob, cache, file.bytes), brings.get(path)))
      used.add(isJson(path) ? `${blob}.json` : blob)
    }
  }
  for (const file of reading.above ?? [])
    if ('bytes' in file && built?.used.has(printable(file.path)) === true)
      identity.update(`${file.path}\0${file.blob ?? blobHash(file.bytes)}\n`)
  for (const [path, bytes] of reading.siblings ?? []) identity.update(`${path}\0${blobHash(bytes)}\n`)
  const problems = reading.links.map((path) => linkWarning(printable(path), commit))
  problems.push(
    ...unread.filter(({ names }) => names === undefined).flatMap((one) => notReadWarning(one, reading, commit)),
  )
  // A base of two overlays is built twice: report its problems once, as errors if it is ours.
  const told = new Set<string>()
  const ours = lazily(() => mayDeclare(hand().texts, cache, used))
  const roots = (built?.roots ?? []).map((root) => ({ ...broughtBy(root, ours), findings: root.findings }))
  for (const { brought, foreign, findings } of roots.toSorted((a, b) => Number(a.foreign) - Number(b.foreign))) {
    outcomes.push(...brought)
    for (const { file, ...why } of findings) {
      const name = `${file} ${why.line} ${why.message}`
      if (told.has(name)) continue
      told.add(name)
      const text = hand().texts.get(file)
      const wrong = refusedFile(file, { column: 1, ...why }, commit, why.line === 1 ? undefined : text)
      if (foreign) problems.push({ ...wrong.problem, severity: 'warning' })
      else outcomes.push(wrong)
    }
  }
  cache.retain(used)
  if (reading.evaluates === false && mayCompose(outcomes)) throw new NeedsCage()
  const composed = compose(outcomes, commit)
  const documents = composed.outcomes.reduce((sum, one) => sum + ('judged' in one ? one.judged.length : 1), 0)
  if (documents > LIMITS.documents) return tooLarge(`${documents} objects; at most ${LIMITS.documents}`)
  const id = commit ?? `files-${identity.digest('hex').slice(0, 16)}`
  const revision = assemble(id, composed.outcomes, commit, {
    problems: [...problems, ...composed.problems],
    ignored: left,
    incomplete: composed.incomplete,
    unread,
  })
  // Cache by place: a repeated question costs nothing.
  const found = new Map<string, ReturnType<typeof objectsAt>>()
  const whole: Revision = {
    ...revision,
    files: new Set(outcomes.map(({ file }) => file)).size,
    ...(composed.apis.length === 0 ? {} : { apis: composed.apis }),
    ...(composed.expanded.length === 0 ? {} : { expanded: composed.expanded }),
    objectsAt(place) {
      const objects = found.get(place) ?? objectsAt(hand(), place, budget)
      found.set(place, objects)
      return objects
    },
  }
  return withLate(whole, composed.late)
}

/** Loads the files: readable ones as text, and all as bytes for generators. */
function inHand(files: readonly SourceFile[], siblings: FileReading['siblings']): FilesInHand {
  const found = new Map<string, string>()
  const bytes = new Map(siblings)
  for (const file of files) {
    if (!('bytes' in file)) continue
    bytes.set(printable(file.path), file.bytes)
    const text = textOf(file.bytes)
    if ('text' in text) found.set(printable(file.path), text.text)
  }
  return { texts: found, bytes }
}

/**
 * Returns the documents that a kustomization brings. One in a subdirectory without any of our kinds is foreign (an
 * application, for Flux): what croft cannot build of it is a warning. A part that could not be built may hold our
 * kinds; without its error, its objects would count as removed.
 */
function broughtBy({ file, documents, findings, spans }: BuiltRoot, mayDeclare: () => readonly string[]) {
  const brought = documents.map((one) => ({ file: one.file, through: file, judged: judgeDocument(one.read) }))
  const ours = brought.some(({ judged }) => judged.some(({ outcome }) => outcome !== 'ignored'))
  // An incomplete build does not show whether its objects are ours.
  const whole = !findings.some(({ code }) => code === 'too-large')
  const foreign = file.includes('/') && whole && !ours && (findings.length === 0 || !mayDeclare().some(spans))
  return { brought, foreign }
}

/** Files with a declaration in them, or with what a user's own API may make one of. */
function mayDeclare(texts: FilesInHand['texts'], cache: ParseCache, used: Set<string>): readonly string[] {
  const ownApis = [...texts.values()].some((text) =>
    /kind:\s*(?:ResourceGraph|CompositeResource)Definition\b/.test(text),
  )
  return [...texts].flatMap(([path, text]) => {
    if (isKustomization(path)) return []
    if (ownApis && otherPrograms(text) === undefined) return [path]
    const bytes = Buffer.from(text)
    const blob = blobHash(bytes)
    used.add(isJson(path) ? `${blob}.json` : blob)
    const judged = judgeText(text, isJson(path), blob, cache, bytes)
    const ours = ({ outcome }: JudgedObject) => (outcome === 'unreadable' ? namesOurs(text) : outcome !== 'ignored')
    return judged.some(ours) ? [path] : []
  })
}

/** Returns the documents below a kustomization that it does not name: they are ignored and listed. */
function unnamed(file: string, judged: readonly JudgedObject[]): readonly Ignored[] {
  return judged.map((one) => ({
    file,
    line: originOf(one, { file }).line,
    ...typeOf(one),
    note: 'no kustomization names it',
  }))
}

/** The lines at which the documents begin that kustomizations bring, by file. */
function linesBrought(roots: readonly BuiltRoot[]): ReadonlyMap<string, ReadonlySet<number>> {
  const lines = new Map<string, Set<number>>()
  for (const { file, read } of roots.flatMap(({ documents }) => documents))
    lines.set(file, (lines.get(file) ?? new Set()).add(read.document.line))
  return lines
}

/** Returns patches and documents that a kustomization drops: they are ignored and listed. */
function notBrought(
  file: string,
  judged: readonly JudgedObject[],
  brought: ReadonlySet<number> | undefined,
): readonly Ignored[] {
  if (brought === undefined)
    return [...new Set(judged.map((one) => originOf(one, { file }).line))].map((line) => ({
      file,
      line,
      apiVersion: '',
      kind: '',
      note: 'part of a kustomization',
    }))
  return judged
    .filter(({ document }) => !brought.has(document.line))
    .map((one) => ({ file, line: originOf(one, { file }).line, ...typeOf(one), note: 'taken out by a kustomization' }))
}

function typeOf(one: JudgedObject): Pick<Ignored, 'apiVersion' | 'kind'> {
  if (one.outcome === 'ignored') return { apiVersion: one.apiVersion, kind: one.kindName }
  return one.outcome === 'declared' ? { apiVersion: one.apiVersion, kind: one.kind.kind } : { apiVersion: '', kind: '' }
}

function kustomizationFile(file: string, text: string): Ignored {
  const component = /^kind:\s*Component\b/m.test(text)
  const apiVersion = `kustomize.config.k8s.io/${component ? 'v1alpha1' : 'v1beta1'}`
  return { file, line: 1, apiVersion, kind: component ? 'Component' : 'Kustomization', note: 'built' }
}

function idleComponent(file: string): Ignored {
  return {
    file,
    line: 1,
    apiVersion: 'kustomize.config.k8s.io/v1alpha1',
    kind: 'Component',
    note: 'no kustomization names this component',
  }
}

function isJson(path: string): boolean {
  return /\.json$/i.test(path)
}

function judgeFile(
  path: string,
  bytes: Uint8Array,
  blob: string,
  cache: ParseCache,
  used: Set<string>,
  commit: string | undefined,
): FileOutcome {
  const json = isJson(path)
  const key = json ? `${blob}.json` : blob
  used.add(key)
  const known = cache.get(key, bytes)
  if (known !== undefined) return { file: path, judged: known }
  const text = textOf(bytes)
  if ('finding' in text) return notText(path, bytes, text.finding, commit)
  return { file: path, judged: judgeText(text.text, json, blob, cache, bytes) }
}

/** A file that is no proper text: refused, unless no declaration can be in it, as in the dashboard of another program. */
function notText(file: string, bytes: Uint8Array, finding: TextFinding, commit: string | undefined): FileOutcome {
  const text = new TextDecoder().decode(bytes)
  // JSON may be a dashboard or the settings of another program.
  const others = isJson(file) ? otherPrograms(text) : brokenOfOthers(text)
  if (others === undefined) return refusedFile(file, finding, commit, text)
  return { file, judged: [nothingOfOurs({ text, line: 1 }, `not plain text, and ${others}`)] }
}

function refusedFile(
  file: string,
  why: {
    readonly code: string
    readonly line: number
    readonly column: number
    readonly message: string
    readonly hint?: string
  },
  commit: string | undefined,
  text?: string,
): { readonly file: string; readonly problem: Problem } {
  return {
    file,
    problem: {
      code: why.code,
      origin: { file, line: why.line, column: why.column, ...defined({ commit }) },
      message: why.message,
      ...defined({ hint: why.hint }),
      ...(text === undefined ? {} : { excerpt: excerpt(text, why.line, why.column) }),
      severity: 'error',
    },
  }
}

function notReadWarning(
  { path, why }: UnreadPath,
  { links }: FileReading,
  commit: string | undefined,
): readonly Problem[] {
  if (links.includes(path)) return []
  const message = `${why}: what it declares is not read, and what was declared before and is not found is kept`
  const origin = { file: path, line: 1, column: 1, ...defined({ commit }) }
  return [{ code: 'not-read', origin, message, hint: 'put the files themselves here', severity: 'warning' }]
}

function linkWarning(file: string, commit: string | undefined): Problem {
  return {
    code: 'symbolic-link',
    origin: { file, line: 1, column: 1, ...defined({ commit }) },
    message: 'symbolic links are not followed',
    hint: 'put the file itself here',
    severity: 'warning',
  }
}
