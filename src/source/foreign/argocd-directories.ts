import { isFields } from '../manifest.ts'
import { documentsIn } from './documents.ts'
import { wordOf } from './gitops.ts'
import type { ForeignFile } from './reading.ts'

/** More patterns or directories than this are not read: people write fewer. */
const MOST = 200
const MOST_PATTERNS = 50

/**
 * Returns the elements of a git generator with directories: one map per matching directory of the repository. A text
 * says why there are none.
 */
export function directoryElements(
  generator: Readonly<Record<string, unknown>>,
  directories: readonly string[],
): readonly Readonly<Record<string, string>>[] | string {
  if (generator.pathParamPrefix !== undefined)
    return 'pathParamPrefix renames the path; write an Addon for each directory'
  const rules = Array.isArray(generator.directories) ? generator.directories.filter(isFields) : []
  if (rules.length === 0) return 'its generator git reads files of a repository; write an Addon for each application'
  if (rules.length > MOST_PATTERNS) return `it has more than ${MOST_PATTERNS} patterns of directories`
  const patterns = (excluded: boolean) =>
    rules.filter(({ exclude }) => (exclude === true) === excluded).map(({ path }) => trimmed(wordOf(path) ?? ''))
  const [wanted, unwanted] = [patterns(false), patterns(true)]
  const found = directories.filter(
    (directory) =>
      wanted.some((pattern) => matches(pattern, directory)) && !unwanted.some((pattern) => matches(pattern, directory)),
  )
  if (found.length === 0)
    return 'no directory of these files fits its patterns; import the whole repository that its generator git names'
  if (found.length > MOST) return `more than ${MOST} directories fit its patterns`
  return found.map(elementOf)
}

/** Returns the elements of a git generator with files: each one's fields, without lists, and its place. */
export function fileElements(
  generator: Readonly<Record<string, unknown>>,
  files: readonly ForeignFile[],
): readonly Readonly<Record<string, string>>[] | string {
  if (generator.pathParamPrefix !== undefined) return 'pathParamPrefix renames the path; write an Addon for each file'
  const rules = Array.isArray(generator.files) ? generator.files.filter(isFields) : []
  if (rules.length > MOST_PATTERNS) return `it has more than ${MOST_PATTERNS} patterns of files`
  const patterns = (excluded: boolean) =>
    rules.filter(({ exclude }) => (exclude === true) === excluded).map(({ path }) => trimmed(wordOf(path) ?? ''))
  const [wanted, unwanted] = [patterns(false), patterns(true)]
  if ([...wanted, ...unwanted].some((pattern) => pattern.includes('**')))
    return 'its patterns of files have **, which is not followed; write an Addon for each application'
  const fitting = files.filter(
    ({ path }) =>
      wanted.some((pattern) => matches(pattern, path)) && !unwanted.some((pattern) => matches(pattern, path)),
  )
  if (fitting.length === 0)
    return 'no file of these fits its patterns; import the whole repository that its generator git names'
  if (fitting.length > MOST) return `more than ${MOST} files fit its patterns`
  const values = isFields(generator.values) ? { values: generator.values } : {}
  const elements: Readonly<Record<string, string>>[] = []
  for (const { path, text } of fitting) {
    const documents = documentsIn(text)
    if (documents === undefined) return `${path}, which its generator reads, is not YAML or JSON`
    const directory = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
    const place = { ...elementOf(directory), 'path.filename': path.slice(directory === '' ? 0 : directory.length + 1) }
    // Without goTemplate the parameter is `path`, with it `path.path`. It is the directory of the file.
    for (const document of documents.flat())
      elements.push({ ...flattened({ ...values, ...asFields(document) }), ...place })
  }
  return elements
}

function asFields(value: unknown): Readonly<Record<string, unknown>> {
  return isFields(value) ? value : {}
}

/** `{a: {b: 1}}` as Argo CD names it in a template: `a.b`. */
function flattened(value: Readonly<Record<string, unknown>>, prefix = ''): Record<string, string> {
  const found: Record<string, string> = Object.create(null)
  for (const [key, inner] of Object.entries(value)) {
    if (isFields(inner)) Object.assign(found, flattened(inner, `${prefix}${key}.`))
    else if (typeof inner === 'string' || typeof inner === 'number' || typeof inner === 'boolean')
      found[`${prefix}${key}`] = String(inner)
  }
  return found
}

/** Returns the parameters of a directory, in both syntaxes of Argo CD. */
function elementOf(path: string): Readonly<Record<string, string>> {
  const segments = path.split('/')
  const basename = segments.at(-1) ?? ''
  const normalized = basename
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
  return {
    path,
    'path.path': path,
    'path.basename': basename,
    'path.basenameNormalized': normalized,
    ...Object.fromEntries(segments.map((segment, index) => [`path[${index}]`, segment])),
  }
}

function trimmed(path: string): string {
  return path.replace(/^(?:\.?\/)+|\/+$/g, '')
}

/** Matches as Go's path.Match does. Directories use only `*` and `?` of it, and neither crosses a slash. */
function matches(pattern: string, directory: string): boolean {
  const [wanted, given] = [pattern.split('/'), directory.split('/')]
  return wanted.length === given.length && wanted.every((part, index) => fits(part, given[index] ?? ''))
}

/** Goes back to the last `*` alone, so that no pattern costs more than its length times the name's. */
function fits(pattern: string, name: string): boolean {
  let [at, of, star, from] = [0, 0, -1, 0]
  while (at < name.length) {
    if (pattern[of] === '*') {
      star = of++
      from = at
    } else if (of < pattern.length && (pattern[of] === '?' || pattern[of] === name[at])) {
      at++
      of++
    } else if (star >= 0) {
      of = star + 1
      at = ++from
    } else return false
  }
  while (pattern[of] === '*') of++
  return of === pattern.length
}
