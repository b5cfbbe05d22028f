import { isFields } from '../manifest.ts'
import { wordOf } from './gitops.ts'

/** More patterns, or directories, than this are no set that somebody wrote for people. */
const MOST = 200
const MOST_PATTERNS = 50

/**
 * What a git generator with directories gives to its template, one map for each directory of the repository at hand.
 * A text: why not.
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

/** What such a template may ask for, in both of Argo CD's ways of writing it. */
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

/** As Go's path.Match, of which directories use `*` and `?`: neither crosses a slash. */
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
