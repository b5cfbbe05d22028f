import path from 'node:path'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Problem } from '../../model/declaration.ts'
import { clean, cleanLines, type Style } from './text.ts'

/**
 * Everything wrong at once, in the order of the files. Warnings after errors of the same place. `below` is the directory
 * as it was named: with it in front, the place of an error is a file that an editor finds.
 */
export function renderProblems(problems: readonly Problem[], style: Style, below = '.'): string {
  const heaps = heaped(sortedProblems(problems))
  const shown = heaps.slice(0, LIMITS.problemsShown)
  const rest = problems.length - shown.flat().length
  const more = rest > 0 ? `\n… and ${rest} more. Fix these first.\n` : ''
  const text = shown.map(([first, ...others]) => {
    const like = others.length === 0 ? '' : `… and ${others.length} more like it, from the same place\n`
    return renderProblem(withoutEcho(first, problems), style, below) + like
  })
  return text.join('\n') + more
}

/** From this many machines with one wrong field on, the problem is shown once: there is one place to correct. */
const HEAP = 4

type Heap = [Problem, ...Problem[]]

function heaped(sorted: readonly Problem[]): readonly Heap[] {
  const heaps = new Map<string, Heap>()
  for (const problem of sorted) {
    const { severity, code, origin, field } = problem
    const place = [severity, code, origin.file, origin.line, origin.column, field].join('\0')
    const heap = heaps.get(place)
    if (heap === undefined) heaps.set(place, [problem])
    else heap.push(problem)
  }
  return [...heaps.values()].flatMap((heap) => (heap.length < HEAP ? heap.map((one): Heap => [one]) : [heap]))
}

/** A reference to a declared but wrong object is no separate mistake: report only the object. */
function withoutEcho(problem: Problem, all: readonly Problem[]): Problem {
  const [, kind, name, instance = ''] = /^there is no (\S+) (\S+)( \(for \S+\))?$/.exec(problem.message) ?? []
  if (problem.code !== 'unknown-reference' || kind === undefined) return problem
  const cause = all.find((other) => other.severity === 'error' && other.object === `${kind}/${name}`)
  if (cause === undefined) return problem
  const { file, line, column } = cause.origin
  return {
    ...problem,
    message: `${kind} ${name} is declared and is not valid${instance}`,
    hint: `correct ${file}:${line}:${column} first`,
  }
}

/** `Error[unknown-field]: …`, the place, the lines around it, and what to do. */
function renderProblem(problem: Problem, style: Style, below: string): string {
  const isError = problem.severity === 'error'
  const word = style.paint(isError ? ['red', 'bold'] : ['yellow', 'bold'], isError ? 'Error' : 'Warning')
  const { file, line, column } = problem.origin
  const about = [problem.object, problem.field].filter((part) => part !== undefined).join(' ')
  const place = `  --> ${clean(path.join(below, file))}:${line}:${column}${about === '' ? '' : `  (${clean(about)})`}`
  const lines = [`${word}[${clean(problem.code)}]: ${clean(problem.message)}`, style.paint('cyan', place)]
  if (problem.excerpt !== undefined && problem.excerpt !== '') lines.push(indented(cleanLines(problem.excerpt)))
  if (problem.hint !== undefined) lines.push(`${style.paint('bold', 'hint:')} ${clean(problem.hint)}`)
  return `${lines.join('\n')}\n`
}

/** Counts the keys without an error. */
export function countValid(keys: readonly string[], problems: readonly Problem[]): number {
  const wrong = new Set(problems.filter(({ severity }) => severity === 'error').map(({ object }) => object))
  return keys.filter((key) => !wrong.has(key)).length
}

/** `2 errors, 1 warning`. */
export function countProblems(problems: readonly Problem[]): string {
  const errors = problems.filter((problem) => problem.severity === 'error').length
  const warnings = problems.length - errors
  const parts = [errors > 0 ? many(errors, 'error') : '', warnings > 0 ? many(warnings, 'warning') : '']
  return parts.filter((part) => part !== '').join(', ') || 'no problems'
}

export function problemsJson(problems: readonly Problem[]): unknown {
  return sortedProblems(problems).map((problem) => ({
    severity: problem.severity,
    code: problem.code,
    file: problem.origin.file,
    line: problem.origin.line,
    column: problem.origin.column,
    ...defined({ commit: problem.origin.commit, object: problem.object, field: problem.field }),
    message: problem.message,
    ...defined({ hint: problem.hint, excerpt: problem.excerpt }),
  }))
}

export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some((problem) => problem.severity === 'error')
}

export function many(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

function sortedProblems(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted(
    (a, b) =>
      compare(a.origin.file, b.origin.file) ||
      a.origin.line - b.origin.line ||
      compare(a.severity, b.severity) ||
      a.origin.column - b.origin.column,
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`.trimEnd())
    .join('\n')
}
