import { LIMITS } from '../../lib/limits.ts'

/** The file at the top of a tree that excludes files, in the syntax of `.gitignore`. */
export const IGNORE_FILE = '.croftignore'

/** Says of a file why it is left alone; undefined: it is read. */
export type LeftAlone = (path: string) => string | undefined

/**
 * Returns which files are not manifests of this tree: those that `.croftignore` excludes, and templates of Helm charts,
 * which are no YAML before rendering. Judges paths only, never contents: a manifest with a typing error must stay a
 * manifest, or its machine would count as removed.
 */
export function leftAlone(paths: readonly string[], ignoreText: string | undefined): LeftAlone {
  const rules = ignoreText === undefined ? [] : ignoreRules(ignoreText)
  const charts = paths
    .filter((path) => /(?:^|\/)Chart\.ya?ml$/.test(path))
    .map((path) => path.slice(0, Math.max(0, path.lastIndexOf('/') + 1)))
  return (path) => {
    const chart = charts.find((top) => path.startsWith(`${top}templates/`) || path.startsWith(`${top}charts/`))
    if (chart !== undefined) return `part of the Helm chart ${chart === '' ? 'at the top' : `in ${chart.slice(0, -1)}`}`
    const line = ignoredBy(rules, path)
    return line === undefined ? undefined : `${IGNORE_FILE} names it (${line})`
  }
}

/** The line that a file is ignored by: its own, or that of a directory above it, below which nothing is taken back. */
export function ignoredBy(rules: readonly IgnoreRule[], path: string): string | undefined {
  const parts = path.split('/')
  for (let length = 1; length <= parts.length; length++) {
    const directory = length < parts.length
    const last = rules.findLast(({ fits }) => fits(parts.slice(0, length), directory))
    if (last !== undefined && !last.negated) return last.line
  }
  return undefined
}

interface IgnoreRule {
  readonly line: string
  readonly negated: boolean
  readonly fits: (path: readonly string[], directory: boolean) => boolean
}

/** The rules of a file, the last that fits wins. A pattern with a slash counts from the top, one without at any depth. */
export function ignoreRules(text: string): readonly IgnoreRule[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#') && line.length <= LIMITS.patternLength)
    .slice(0, LIMITS.ignoreRules)
    .map((line) => {
      const negated = line.startsWith('!')
      const pattern = line.replace(/^!/, '').replace(/\/+$/, '')
      const anchored = pattern.replace(/^\//, '').includes('/') || pattern.startsWith('/')
      const wanted = pattern.replace(/^\//, '').split('/')
      const onlyDirectories = line.endsWith('/')
      return {
        line,
        negated,
        fits: (path, directory) => (directory || !onlyDirectories) && fitsPath(path, wanted, anchored),
      }
    })
}

function fitsPath(path: readonly string[], wanted: readonly string[], anchored: boolean): boolean {
  return fitsFrom(path, anchored ? 0 : path.length - 1, wanted, 0)
}

function fitsFrom(path: readonly string[], at: number, wanted: readonly string[], next: number): boolean {
  const part = wanted[next]
  if (part === undefined) return at === path.length
  if (part === '**') {
    if (next === wanted.length - 1) return at < path.length
    for (let skip = at; skip <= path.length; skip++) if (fitsFrom(path, skip, wanted, next + 1)) return true
    return false
  }
  const segment = path[at]
  return segment !== undefined && fitsSegment(segment, part) && fitsFrom(path, at + 1, wanted, next + 1)
}

/** `*` and `?` within one name, without a regular expression that others wrote. Goes back only to the last star. */
function fitsSegment(text: string, pattern: string): boolean {
  let [at, next, star, mark] = [0, 0, -1, 0]
  while (at < text.length) {
    if (next < pattern.length && pattern[next] === '*') {
      star = next++
      mark = at
    } else if (next < pattern.length && (pattern[next] === '?' || pattern[next] === text[at])) {
      at++
      next++
    } else if (star >= 0) {
      next = star + 1
      at = ++mark
    } else return false
  }
  while (pattern[next] === '*') next++
  return next === pattern.length
}
