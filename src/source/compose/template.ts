import type { FieldProblem } from '../../kinds/kind.ts'
import { evaluate } from '../../lib/cel.ts'
import { isFields } from '../manifest.ts'
import type { ProblemPath } from './shape.ts'

/** One `${…}` in a template. */
export interface TemplateExpression {
  readonly expression: string
  readonly path: ProblemPath
  /** The whole value is this expression: it may be of any type. Otherwise it is a part of a text. */
  readonly alone: boolean
}

type Piece = { readonly literal: string } | { readonly expression: string }

/** Splits a text at its `${…}`, skipping brackets and quotes inside an expression. Returns a text for an error. */
export function piecesOf(text: string): readonly Piece[] | string {
  const pieces: Piece[] = []
  let from = 0
  for (let start = text.indexOf('${'); start >= 0; start = text.indexOf('${', from)) {
    const end = endOf(text, start + 2)
    if (end === undefined) return 'an expression that begins with ${ has no end'
    if (start > from) pieces.push({ literal: text.slice(from, start) })
    pieces.push({ expression: text.slice(start + 2, end).trim() })
    from = end + 1
  }
  if (from < text.length) pieces.push({ literal: text.slice(from) })
  return pieces
}

function endOf(text: string, from: number): number | undefined {
  let depth = 0
  let quote: string | undefined
  for (let at = from; at < text.length; at++) {
    const sign = text[at] ?? ''
    if (quote !== undefined) {
      if (sign === '\\') at++
      else if (sign === quote) quote = undefined
    } else if (sign === '"' || sign === "'") quote = sign
    else if (sign === '{') depth++
    else if (sign === '}' && depth-- === 0) return at
  }
  return undefined
}

/** Every expression of a template, with its place; and texts that cannot be cut. */
export function expressionsIn(
  template: unknown,
  path: ProblemPath,
): { readonly found: readonly TemplateExpression[]; readonly problems: readonly FieldProblem[] } {
  const found: TemplateExpression[] = []
  const problems: FieldProblem[] = []
  const visit = (value: unknown, at: ProblemPath): void => {
    if (typeof value === 'string') {
      const pieces = piecesOf(value)
      if (typeof pieces === 'string') problems.push({ code: 'bad-expression', path: at, message: pieces })
      else
        for (const piece of pieces)
          if ('expression' in piece) found.push({ expression: piece.expression, path: at, alone: pieces.length === 1 })
    } else if (Array.isArray(value)) for (const [index, one] of value.entries()) visit(one, [...at, index])
    else if (isFields(value)) for (const [name, one] of Object.entries(value)) visit(one, [...at, name])
  }
  visit(template, path)
  return { found, problems }
}

/** Placeholder for a value that is not known yet. */
export const NOT_YET: unique symbol = Symbol('not yet')

/** Returns the value of a template's expression, or NOT_YET. Throws `TemplateMistake` if the expression is wrong. */
export type TemplateAnswers = (expression: string, path: ProblemPath) => unknown

/** Returns the template with its values. Leaves out unknown ones. Throws `TemplateMistake` for a wrong expression. */
export function filled(template: unknown, answers: TemplateAnswers, path: ProblemPath): unknown {
  if (typeof template === 'string') return filledText(template, answers, path)
  if (Array.isArray(template))
    return template.flatMap((one, index) => {
      const value = filled(one, answers, [...path, index])
      return isLeftOut(value) ? [] : [value]
    })
  if (!isFields(template)) return template
  const result: Record<string, unknown> = Object.create(null)
  for (const [name, one] of Object.entries(template)) {
    const value = filled(one, answers, [...path, name])
    if (!isLeftOut(value)) result[name] = value
  }
  return result
}

/** Reports whether the value is not known yet, or is an absent optional one. */
function isLeftOut(value: unknown): boolean {
  return value === NOT_YET || value === undefined
}

function filledText(text: string, answers: TemplateAnswers, path: ProblemPath): unknown {
  const pieces = piecesOf(text)
  if (typeof pieces === 'string') throw new TemplateMistake(path, pieces)
  const values = pieces.map((piece) => ('literal' in piece ? piece.literal : answers(piece.expression, path)))
  if (values.includes(NOT_YET)) return NOT_YET
  if (pieces.length === 1) return values[0]
  return values
    .map((value) => (isFields(value) || Array.isArray(value) ? JSON.stringify(value) : String(value)))
    .join('')
}

/** Returns answers from complete variables. */
export function answersFrom(names: Readonly<Record<string, unknown>>): TemplateAnswers {
  return (expression, path) => evaluatedAt(expression, names, path)
}

/** The value of one expression of a template. */
export function evaluatedAt(expression: string, names: Readonly<Record<string, unknown>>, path: ProblemPath): unknown {
  const answer = evaluate(expression, names)
  if ('problem' in answer) throw new TemplateMistake(path, `${expression}: ${answer.problem}`)
  return answer.value
}

/** An expression that could not be evaluated, with its place in the template. */
export class TemplateMistake extends Error {
  readonly path: ProblemPath
  constructor(path: ProblemPath, message: string) {
    super(message)
    this.path = path
  }
}
