import { type CelInput, isCelError, parse, run } from '@bufbuild/cel'
import { cleanText } from './clean-text.ts'

/** Does a CEL expression hold for an object, which it calls `object`? A text says why nobody can tell. */
export function holds(expression: string, object: Readonly<Record<string, unknown>>): boolean | string {
  const answer = run(expression, { object: celInput(object) })
  if (isCelError(answer)) return cleanText(answer.message, 200)
  return typeof answer === 'boolean' ? answer : 'the expression answers neither true nor false'
}

/** What is wrong with the text of an expression; undefined when it can be asked. */
export function celProblem(expression: string): string | undefined {
  try {
    parse(expression)
    return undefined
  } catch (error) {
    return cleanText(error instanceof Error ? error.message : String(error), 200)
  }
}

/** Whole numbers are integers for CEL, as they are for Kubernetes. */
function celInput(value: unknown): CelInput {
  if (Array.isArray(value)) return value.map(celInput)
  if (typeof value === 'object' && value !== null)
    return new Map(Object.entries(value).map(([name, inner]) => [name, celInput(inner)] as const))
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value
  return (value ?? null) as CelInput
}
